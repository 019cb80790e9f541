/** The listeners of this build, in the order in which they are bound. */
import type { ServerSettings } from '../../shared/config/server/server.ts';
import { twilioListener } from '../telephony/twilio/listener.ts';
import { callbackListener } from '../telephony/callback/listener.ts';
import { telnyxListener } from '../telephony/telnyx/listener.ts';
import { healthListener } from './health-listener.ts';
import type { CallEntrance } from './entrance.ts';
import type { Listener } from './listener.ts';
import { pageListener } from './page-listener.ts';
import { rtviListener } from '../rtvi/listener.ts';
import { iceTcpListener } from '../webrtc/ice-tcp/listener.ts';
import { webrtcListener } from '../webrtc/listener.ts';
import { websocketListener } from './websocket-listener.ts';

const listeners: readonly Listener[] = [
  websocketListener,
  healthListener,
  pageListener,
  twilioListener,
  telnyxListener,
  callbackListener,
  rtviListener,
  webrtcListener,
  iceTcpListener,
];

/** Those that the settings ask for. */
export const wantedListeners = (settings: ServerSettings): readonly Listener[] =>
  listeners.filter(({ isWanted }) => isWanted(settings));

/** How calls come in, by name of the listener. */
export function callEntrances(settings: ServerSettings): ReadonlyMap<string, CallEntrance> {
  const entrances = new Map<string, CallEntrance>();
  for (const { name, entrance, others } of wantedListeners(settings)) {
    if (entrance !== undefined) entrances.set(name, entrance(settings));
    for (const [other, one] of others?.(settings) ?? []) entrances.set(other, one);
  }
  return entrances;
}
