/** The transports on sockets of this build, by the name that a listener gives them (see shared/protocol/ipc.ts). */
import type { TransportKind } from '../../shared/protocol/ipc.ts';
import type { OpenSocketCall } from './socket/options.ts';
import { telnyxDialect } from '../telephony/telnyx/dialect.ts';
import { twilioDialect } from '../telephony/twilio/dialect.ts';
import { newCallerAudio } from '../rtvi/caller-audio.ts';
import { rtviDialect } from '../rtvi/dialect.ts';
import { openSocketCalls } from './socket/socket-call.ts';
import { websocketDialect } from './websocket/dialect.ts';

export const transports: Readonly<Record<Exclude<TransportKind, 'webrtc'>, OpenSocketCall>> = {
  websocket: openSocketCalls(websocketDialect),
  carrier_a: openSocketCalls(twilioDialect),
  carrier_b: openSocketCalls(telnyxDialect),
  rtvi: openSocketCalls(rtviDialect(newCallerAudio)),
};
