/**
 * How far a client plays behind what was sent to it, known from the marks that it echoes. Echoes come late for more than one reason: the
 * client has audio in store, the way there and back takes its time, and some clients echo whenever they find the time. Only the first
 * keeps words from being heard. The share of the others shows where nothing is left to play: an honest client echoes such a mark at once.
 */
import { flag, list, maybe, number, record, text, time } from '../../../shared/base/codec.ts';
import type { Millis } from '../../../shared/base/units.ts';

/** What is known of the client's playout, over the whole call. */
export interface ClientPlayout {
  /** The client has echoed a mark, so a missing echo means something. */
  echoesMarks: boolean;
  /** From sending the last frame before a mark to its echo; and the same of the newest few, for some come late. */
  delayMs: Millis;
  readonly delays: Millis[];
  /** The newest mark of the call: its echo tells the delay even when it comes after the end of its response. */
  newestMark: { readonly id: string; readonly sentAt: Millis } | undefined;
  /** A mark behind which nothing was left to play, and the least that the echo of such a mark took. */
  probe: { readonly id: string; sentAt: Millis | undefined } | undefined;
  lagMs: Millis | undefined;
  /** How many of them were asked for. */
  probes: number;
}

/** A store that grows is believed after so many echoes. */
const newestDelays = 4;
/** Whose echoes come sooner is asked nothing: the difference would be less than a word. */
const probeAboveMs = 250;
/** More than one, because the echo of one may be late by chance. */
const mostProbes = 4;

export const newClientPlayout = (): ClientPlayout => ({
  echoesMarks: false,
  delayMs: 0,
  delays: [],
  newestMark: undefined,
  probe: undefined,
  lagMs: undefined,
  probes: 0,
});

/** An echo came so long after the frame before its mark. */
export function noteDelay(client: ClientPlayout, delayMs: Millis): void {
  client.delayMs = delayMs;
  client.delays.push(delayMs);
  if (client.delays.length > newestDelays) client.delays.shift();
}

const least = ({ delays }: ClientPlayout): Millis => (delays.length === 0 ? 0 : Math.min(...delays));

/** How much audio the client has in store while it is sent more. */
export const storedMs = (client: ClientPlayout): Millis => Math.max(0, least(client) - (client.lagMs ?? 0));

/** For so long after it was played a mark may be without its echo. */
export const echoSlackMs = (client: ClientPlayout): Millis =>
  (client.lagMs ?? 0) + (client.delays.length === 0 ? 0 : Math.max(...client.delays) - least(client));

/** Whether it is worth asking what echoes take where nothing is left to play. */
export const wantsProbe = (client: ClientPlayout): boolean =>
  client.probes < mostProbes && client.delays.length > 0 && least(client) > probeAboveMs;

export function beginProbe(client: ClientPlayout, id: string): void {
  client.probe = { id, sentAt: undefined };
  client.probes += 1;
}

/** Takes an echo. False when it is none of such a mark. */
export function noteProbed(client: ClientPlayout, id: string, now: Millis): boolean {
  const { probe } = client;
  if (probe?.id !== id) return false;
  client.probe = undefined;
  if (probe.sentAt !== undefined) client.lagMs = Math.min(client.lagMs ?? Infinity, now - probe.sentAt);
  return true;
}

export const clientPlayoutCodec = record<ClientPlayout>({
  echoesMarks: flag,
  delayMs: number,
  delays: list(number),
  newestMark: maybe(record<NonNullable<ClientPlayout['newestMark']>>({ id: text(), sentAt: time })),
  probe: maybe(record<NonNullable<ClientPlayout['probe']>>({ id: text(), sentAt: maybe(time) })),
  lagMs: maybe(number),
  probes: number,
});
