/** The agent's response on its way to the caller, and what is known of that way: the voice, the client, the echo. */
import { flag, maybe, number, record, text, time } from '../../../shared/base/codec.ts';
import type { Millis } from '../../../shared/base/units.ts';
import { clientPlayoutCodec, newClientPlayout, type ClientPlayout } from './client-playout.ts';
import { defaultMsPerChar } from './heard.ts';
import { responseCodec, type Response } from '../answer/response.ts';

export interface Delivery {
  /** At most one exists at a time. */
  response: Response | undefined;
  /** What nobody heard of the response that the caller cut; spoken on when the interruption was none. */
  cutOff: string;
  /** What the agent said last, for telling its echo. */
  lastSaid: { readonly text: string; readonly endedAt: Millis };
  /** The agent's voice comes back: from now on only words interrupt. */
  echoes: boolean;
  readonly client: ClientPlayout;
  /** How fast TTS speaks, by the newest of its audio that was long enough to tell. */
  msPerChar: Millis;
  /** TTS reports pieces of a response, so that a missing report means something. */
  ttsReports: boolean;
}

export const newDelivery = (): Delivery => ({
  response: undefined,
  cutOff: '',
  lastSaid: { text: '', endedAt: 0 },
  echoes: false,
  client: newClientPlayout(),
  msPerChar: defaultMsPerChar,
  ttsReports: false,
});

export const deliveryCodec = record<Delivery>({
  response: maybe(responseCodec),
  cutOff: text(),
  lastSaid: record<Delivery['lastSaid']>({ text: text(), endedAt: time }),
  echoes: flag,
  client: clientPlayoutCodec,
  msPerChar: number,
  ttsReports: flag,
});
