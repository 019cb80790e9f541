/**
 * What the adapters of streaming voices have in common: the shape of a vendor's protocol.
 *
 * Invariant: a wire speaks one utterance at a time; what arrives for any other is dropped inside it. Pure: no sockets
 * and no time.
 */
import { explained } from '../failure.ts';
import type { StageError } from '../stage.ts';

export interface TimedWord {
  readonly text: string;
  /** Milliseconds after the moment that the event's `base` names. */
  readonly startMs: number;
  readonly endMs: number;
}

/** What a message of the server means for the utterance that is being spoken. */
export type WireEvent =
  | { readonly type: 'audio'; readonly pcm: Int16Array }
  /** `utterance`: times count from its first sample. `next`: from the first sample that is yet to come. */
  | { readonly type: 'words'; readonly base: 'utterance' | 'next'; readonly words: readonly TimedWord[] }
  /** Everything that was said so far may be complete. */
  | { readonly type: 'settled' }
  /** No audio of the utterance follows. */
  | { readonly type: 'ended' }
  /** A new utterance may have become possible. */
  | { readonly type: 'free' }
  | { readonly type: 'failed'; readonly error: StageError };

/** One connection's side of a vendor's protocol; methods return the messages to send. */
export interface Wire {
  /** False while an earlier utterance is still in the way of a new one. */
  readonly canBegin: boolean;
  /** The connection has been used up and should be replaced between utterances. */
  readonly isWorn: boolean;
  /** Adds text to the utterance, or begins one with it. */
  say(text: string, nowMs: number): string[];
  /** No more text. `rest` holds what was left over: no letter and no digit. */
  end(rest: string, nowMs: number): string[];
  /** Forgets the utterance; what still comes for it is dropped. */
  cancel(): string[];
  receive(data: string | Buffer): WireEvent[];
  keepAlive(): string[];
}

export interface Vendor {
  readonly provider: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly sampleRate: number;
  readonly maxMessageBytes: number;
  /** The server speaks before it is told that the text ended, so that its silence means something. */
  readonly speaksUnflushed: boolean;
  /** After such a pause in a complete text the server forgets the utterance; a new one goes on with the context. */
  readonly maxGapMs: number | undefined;
  readonly keepAliveMs: number | undefined;
  /** Longest wait for a cancelled utterance to make room. */
  readonly roomTimeoutMs: number;
  /** Last messages of a session; the server closes after them. */
  readonly goodbye: readonly string[];
  newWire(): Wire;
  /** What a close code means. */
  closeError(code: number, reason: string): StageError;
}

/** What a close frame means, with the server's words for it. */
export function closeErrorOf(
  { closeError }: Pick<Vendor, 'closeError'>,
  code: number,
  reason: string,
): StageError {
  return explained(closeError(code, reason), { code: String(code), text: reason });
}

/** A message as an object, or nothing when it is none. */
export function readObject(data: string): Readonly<Record<string, unknown>> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    // The caller reports it as a broken rule.
    return undefined;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.fromEntries(Object.entries(value));
}

export function brokenRule(rule: string): WireEvent[] {
  return [{ type: 'failed', error: { kind: 'protocol', rule } }];
}

export function stringsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}

export function numbersOf(value: unknown): number[] {
  return Array.isArray(value) ? value.filter((item): item is number => Number.isFinite(item)) : [];
}

/** The language without region or script (docs/providers.md, Languages). */
export function primarySubtag(language: string): string {
  return (language.split('-', 1)[0] ?? '').toLowerCase();
}

/** Whether a text holds anything that is spoken. */
export function isSpeakable(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}
