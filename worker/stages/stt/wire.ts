/**
 * What a streaming recogniser's protocol is to the session that drives it: the pure half of an adapter. One wire lives
 * as long as one connection; it keeps no text longer than the utterance needs it. Pure.
 *
 * Invariant: a wire has no socket and no time. Between `finalize()` and its own `finalized` it is given no audio.
 */
import { causeIn, explained, withCause } from '../failure.ts';
import type { StageError, SttEvent, Transcript } from '../stage.ts';

/** A text message, or a binary one. */
export type Outgoing = string | Uint8Array;

/** `endMs`: where in the audio of the connection what was said ends, for a final of a provider that tells. */
export type TimedTranscript = Transcript & { readonly endMs?: number | undefined };

export type WireEvent =
  /** The server takes audio from here on. */
  | { readonly type: 'ready' }
  | { readonly type: 'send'; readonly message: Outgoing }
  | TimedTranscript
  /**
   * The utterance that was asked for with `finalize()` is complete. `isSettling`: the server takes audio of the next one only
   * when the wire is `ready` again.
   */
  | { readonly type: 'finalized'; readonly isSettling?: true }
  | { readonly type: 'error'; readonly error: StageError };

/** A JSON object as it came. */
export type JsonObject = Readonly<Record<string, unknown>>;

export interface SttWire {
  /** The socket is open. */
  opened?(): readonly WireEvent[];
  /** @param pcm one frame at the vendor's rate, never empty; handed over for good. */
  audio(pcm: Int16Array): readonly Outgoing[];
  /** The utterance ends here. */
  finalize(): readonly WireEvent[];
  read(message: JsonObject): readonly WireEvent[];
  /** Reads a message in place of {@link read}, for a server whose messages need not be JSON objects. */
  readText?(text: string): readonly WireEvent[];
  /** The last events of an utterance whose end the server tells by closing; nothing where the close tells no such thing. */
  answeredByClose?(code: number): readonly SttEvent[] | undefined;
  /** For a server that need not end what it has ended by itself: there were words, and all that it has shown is told. */
  isTold?(): boolean;
  /** `finalize()` was not answered in time: what was heard so far, as the end of the utterance. The connection ends, unless all was told. */
  expired(): readonly Transcript[];
  /** What a close of the server means. */
  closed(code: number, reason: string): StageError;
  /** What keeps a connection alive on which nothing was sent for a while. */
  keepAlive?(): readonly Outgoing[];
  /** What ends the session on the server; the socket is closed when it answers, or soon after. */
  goodbye?(): readonly Outgoing[];
}

export const ready: WireEvent = { type: 'ready' };
export const finalized: WireEvent = { type: 'finalized' };

export function send(message: Outgoing): WireEvent {
  return { type: 'send', message };
}

export function sendJson(message: JsonObject): WireEvent {
  return { type: 'send', message: JSON.stringify(message) };
}

export function failure(error: StageError): WireEvent {
  return { type: 'error', error };
}

export function breach(rule: string): WireEvent {
  return { type: 'error', error: { kind: 'protocol', rule } };
}

export function partial(text: string, { isOthers = false } = {}): Transcript {
  const transcript = {
    type: 'transcript',
    text,
    isFinal: false,
    speechFinal: false,
    fromFinalize: false,
  } as const;
  return isOthers ? { ...transcript, isOthers } : transcript;
}

export function final(
  text: string,
  {
    speechFinal,
    fromFinalize,
    endMs,
    isOthers = false,
  }: Pick<TimedTranscript, 'speechFinal' | 'fromFinalize' | 'endMs'> & { readonly isOthers?: boolean },
): TimedTranscript {
  const transcript = { type: 'transcript', text, isFinal: true, speechFinal, fromFinalize } as const;
  return { ...transcript, ...(endMs !== undefined && { endMs }), ...(isOthers && { isOthers }) };
}

/** What a server has told for good, by its names: a repeat of it, or what comes late of it, is no news. */
export class Told {
  readonly #names = new Set<string>();

  has(name: string | undefined): boolean {
    return name !== undefined && this.#names.has(name);
  }

  /** Nothing is repeated after so many others. */
  add(name: string | undefined): void {
    if (name === undefined) return;
    this.#names.add(name);
    const [oldest] = this.#names;
    if (this.#names.size > MOST_TOLD && oldest !== undefined) this.#names.delete(oldest);
  }
}

const MOST_TOLD = 64;

/** What keeps a connection alive, in the way of proxies. */
const saysNothing = /^\s*(?:null|""|"?(?:ping|pong|ok|heart-?beat|keep-?alive)"?)?\s*$/i;

/** What a message means, with the server's words for an error. */
export function readText(wire: SttWire, text: string): readonly WireEvent[] {
  if (wire.readText !== undefined) return wire.readText(text);
  if (saysNothing.test(text)) return [];
  const message = parseObject(text);
  if (message === undefined) return [breach('a message is a JSON object')];
  return withCause(wire.read(message), () => causeIn(message));
}

/** What the end of a connection means, with the server's words for it where it gave any. */
export function closeErrorOf(
  wire: SttWire,
  { code, reason, error }: { readonly code: number; readonly reason: string; readonly error: StageError },
): StageError {
  if (error.kind !== 'disconnected' || code === 1006) return error;
  return explained(wire.closed(code, reason), { code: String(code), text: reason });
}

/** A JSON object, or nothing when the text is none. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return asObject(value);
  } catch {
    // The caller reports the message as unreadable.
    return undefined;
  }
}

export function asObject(value: unknown): JsonObject | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return { ...value };
}

/** The samples as bytes of the wire, without a copy. Every machine that Node runs on here is little-endian. */
export function pcmBytes(pcm: Int16Array): Buffer {
  return Buffer.from(pcm.buffer, pcm.byteOffset, pcm.byteLength);
}

/** The tag without its region and script: `tr` of `tr-TR` (docs/providers.md, Languages). */
export function primarySubtag(language: string): string {
  return language.split(/[-_]/, 1)[0]?.toLowerCase() ?? '';
}

export function stringAt(object: JsonObject, key: string): string | undefined {
  const value = object[key];
  return typeof value === 'string' ? value : undefined;
}

/** A name, which some servers give as a number. */
export function nameAt(object: JsonObject, key: string): string | undefined {
  return stringAt(object, key) ?? numberAt(object, key)?.toString();
}

export function numberAt(object: JsonObject, key: string): number | undefined {
  const value = object[key];
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** The object under the key; an empty one when there is none. */
export function objectAt(object: JsonObject, key: string): JsonObject {
  return asObject(object[key]) ?? {};
}

/** The status that an error inside the stream stands for, where its number is one. */
export function statusIn(object: JsonObject, keys: readonly string[]): number | undefined {
  for (const key of keys) {
    const value = Number(object[key] ?? Number.NaN);
    if (Number.isInteger(value) && value >= 400 && value <= 599) return value;
  }
  return undefined;
}
