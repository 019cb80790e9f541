/**
 * The wire of the local streaming recogniser and what its messages mean. Two server flavours: one marks finals and answers
 * `Done` with `Done!`; the other only counts segments and answers `Done` by closing.
 *
 * Invariant: text of a segment is cumulative, so each message replaces the one before. Audio of the next utterance waits until
 * the server has closed the one before, because a server may die of samples for a finished stream. Pure: no sockets, no time.
 */
import type { SttLocalWsOptions } from './declaration.ts';
import type { StageError, SttEvent, Transcript } from '../../stage.ts';
import { breach, final, finalized, partial, ready, send } from '../wire.ts';
import type { Outgoing, SttWire, WireEvent } from '../wire.ts';

/** The only text that may be sent: one flavour feeds any other into its samples and dies. */
export const DONE = 'Done';

export type ServerMessage =
  | { readonly type: 'done' }
  | {
      readonly type: 'result';
      /** Absent: nothing new is known of it. */
      readonly text: string | undefined;
      /** Absent where the server does not count. */
      readonly segment: number | undefined;
      /** Absent in the flavour that never says so. */
      readonly isFinal: boolean | undefined;
      readonly isEof: boolean;
    };

/** Reads one text message; nothing when it is neither a result nor the end marker. */
export function parseServerMessage(message: string): ServerMessage | undefined {
  if (message.trim() === 'Done!') return { type: 'done' };
  let value: unknown;
  try {
    value = JSON.parse(message);
  } catch {
    // One flavour prints its JSON by hand and lets `nan` through; the fields that matter can still be read.
    return salvage(message);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  // A result without a text has no news.
  const said = 'text' in value ? (value.text ?? undefined) : undefined;
  if (said !== undefined && typeof said !== 'string') return undefined;
  const text = said?.trim();
  const isFinal = 'is_final' in value && typeof value.is_final === 'boolean' ? value.is_final : undefined;
  const segment = 'segment' in value && typeof value.segment === 'number' ? value.segment : undefined;
  const isEof = 'is_eof' in value && value.is_eof === true;
  return { type: 'result', text, segment, isFinal, isEof };
}

function salvage(message: string): ServerMessage | undefined {
  const literal = /"text"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(message)?.[1];
  const isFinal = /"is_final"\s*:\s*(true|false)/.exec(message)?.[1];
  if (literal === undefined || isFinal === undefined) return undefined;
  const text = unquote(literal);
  if (text === undefined) return undefined;
  const number = /"segment"\s*:\s*(\d{1,9})/.exec(message)?.[1];
  const segment = number === undefined ? undefined : Number(number);
  const isEof = /"is_eof"\s*:\s*true/.test(message);
  return { type: 'result', text: text.trim(), segment, isFinal: isFinal === 'true', isEof };
}

function unquote(literal: string): string | undefined {
  try {
    const value: unknown = JSON.parse(literal);
    return typeof value === 'string' ? value : undefined;
  } catch {
    // The caller reports the whole message as unreadable.
    return undefined;
  }
}

/** Turns the results of one connection or stream into transcripts. */
export class Transcripts {
  #text = '';
  #segment = 0;
  /** The newest segment that was final: what still comes of it is a repeat. */
  #ended: number | undefined;

  /** Forgets the stream: the next result belongs to a new one, whose segments start over. */
  reset(): void {
    this.#text = '';
    this.#segment = 0;
    this.#ended = undefined;
  }

  /** @param finalizing `Done` was sent: partials are kept for the end instead of being reported. */
  result(message: Extract<ServerMessage, { type: 'result' }>, finalizing: boolean): Transcript[] {
    const out: Transcript[] = [];
    const { segment = 0 } = message;
    if (message.segment !== undefined && message.segment === this.#ended) return out;
    if (message.isFinal === undefined && segment > this.#segment) out.push(...this.take(finalizing));
    this.#segment = segment;
    const { text = this.#text } = message;
    const changed = text !== this.#text;
    this.#text = text;
    if (message.isFinal === true) {
      // A segment without words need not be counted by the server.
      if (text !== '') this.#ended = message.segment;
      out.push(...this.take(finalizing));
    } else if (changed && text !== '' && !finalizing) out.push(partial(text));
    return out;
  }

  /** The utterance ends here with what was heard so far; nothing when that is no text. */
  take(fromFinalize: boolean): Transcript[] {
    const text = this.#text;
    this.#text = '';
    if (text === '') return [];
    return [final(text, { speechFinal: true, fromFinalize })];
  }
}

/** One connection: what the session is told of its results, ends and closes. */
export class LocalWsWire implements SttWire {
  readonly #paddingSamples: number;
  readonly #transcripts = new Transcripts();
  /** `settling`: the utterance is complete and only the server's own marker is missing. */
  #phase: 'hearing' | 'finalizing' | 'settling' = 'hearing';

  constructor({ sampleRate, finalizePaddingMs }: SttLocalWsOptions) {
    this.#paddingSamples = Math.floor((sampleRate * finalizePaddingMs) / 1000);
  }

  opened(): readonly WireEvent[] {
    return [ready];
  }

  audio(pcm: Int16Array): readonly Outgoing[] {
    return [floatBytes(pcm)];
  }

  finalize(): readonly WireEvent[] {
    this.#phase = 'finalizing';
    const padding = this.#paddingSamples;
    return [...(padding > 0 ? [send(floatBytes(new Int16Array(padding)))] : []), send(DONE)];
  }

  read(): readonly WireEvent[] {
    return [];
  }

  readText(text: string): readonly WireEvent[] {
    const message = parseServerMessage(text);
    if (message === undefined) return [breach('a message is a result or the end marker')];
    if (message.type === 'done') return this.#done();
    if (this.#phase === 'settling') return [];
    const isFinalizing = this.#phase === 'finalizing';
    const heard = this.#transcripts.result(message, isFinalizing);
    if (!isFinalizing || !message.isEof) return heard;
    this.#phase = 'settling';
    return [...heard, ...this.#transcripts.take(true), { type: 'finalized', isSettling: true }];
  }

  answeredByClose(code: number): readonly SttEvent[] | undefined {
    if (code !== 1000 || this.#phase === 'hearing') return undefined;
    return this.#phase === 'settling' ? [] : [...this.#transcripts.take(true), { type: 'finalized' }];
  }

  expired(): readonly Transcript[] {
    return this.#transcripts.take(true);
  }

  closed(): StageError {
    return { kind: 'disconnected' };
  }

  #done(): readonly WireEvent[] {
    if (this.#phase === 'hearing') return [];
    const last = this.#phase === 'settling' ? [ready] : [...this.#transcripts.take(true), finalized];
    this.#phase = 'hearing';
    this.#transcripts.reset();
    return last;
  }
}

/** The samples as the wire has them: mono float32, little-endian, in [-1, 1). */
export function floatBytes(pcm: Int16Array): Buffer {
  const samples = new Float32Array(pcm.length);
  for (let i = 0; i < pcm.length; i += 1) samples[i] = (pcm[i] ?? 0) / 32_768;
  return Buffer.from(samples.buffer);
}
