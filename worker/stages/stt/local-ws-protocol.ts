/**
 * The wire of the local streaming recogniser and what its messages mean (spec 03, `stt_local_ws`). Two server flavours:
 * one marks finals and answers `Done` with `Done!`; the other only counts segments and answers `Done` by closing.
 *
 * Invariant: text of a segment is cumulative, so each message replaces the one before. Pure: no sockets, no time.
 */
import type { Transcript } from '../stage.ts';

/** The only text that may be sent: one flavour feeds any other into its samples and dies. */
export const DONE = 'Done';

export type ServerMessage =
  | { readonly type: 'done' }
  | {
      readonly type: 'result';
      readonly text: string;
      readonly segment: number;
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
  if (typeof value !== 'object' || value === null || !('text' in value) || typeof value.text !== 'string') {
    return undefined;
  }
  const isFinal = 'is_final' in value && typeof value.is_final === 'boolean' ? value.is_final : undefined;
  const segment = 'segment' in value && typeof value.segment === 'number' ? value.segment : 0;
  const isEof = 'is_eof' in value && value.is_eof === true;
  return { type: 'result', text: value.text.trim(), segment, isFinal, isEof };
}

function salvage(message: string): ServerMessage | undefined {
  const literal = /"text"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(message)?.[1];
  const isFinal = /"is_final"\s*:\s*(true|false)/.exec(message)?.[1];
  if (literal === undefined || isFinal === undefined) return undefined;
  const text = unquote(literal);
  if (text === undefined) return undefined;
  const segment = Number(/"segment"\s*:\s*(\d{1,9})/.exec(message)?.[1] ?? 0);
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
  private text = '';
  private segment = 0;

  /** Forgets the stream: the next result belongs to a new one, whose segments start over. */
  reset(): void {
    this.text = '';
    this.segment = 0;
  }

  /** @param finalizing `Done` was sent: partials are kept for the end instead of being reported. */
  result(message: Extract<ServerMessage, { type: 'result' }>, finalizing: boolean): Transcript[] {
    const out: Transcript[] = [];
    if (message.isFinal === undefined && message.segment > this.segment) {
      out.push(...this.take(finalizing));
    }
    this.segment = message.segment;
    const changed = message.text !== this.text;
    this.text = message.text;
    if (message.isFinal === true) out.push(...this.take(finalizing));
    else if (changed && message.text !== '' && !finalizing) out.push(partial(message.text));
    return out;
  }

  /** The utterance ends here with what was heard so far; nothing when that is no text. */
  take(fromFinalize: boolean): Transcript[] {
    const text = this.text;
    this.text = '';
    if (text === '') return [];
    return [{ type: 'transcript', text, isFinal: true, speechFinal: true, fromFinalize }];
  }
}

function partial(text: string): Transcript {
  return { type: 'transcript', text, isFinal: false, speechFinal: false, fromFinalize: false };
}

/**
 * Collects 16-bit samples into frames of the wire: mono float32, little-endian, in [-1, 1).
 * A frame is handed over for good, so that it can wait in a queue or in a socket without a copy.
 */
export class FloatFrames {
  private readonly samplesPerFrame: number;
  private readonly emit: (frame: Float32Array) => void;
  private frame: Float32Array;
  private filled = 0;

  constructor(samplesPerFrame: number, emit: (frame: Float32Array) => void) {
    this.samplesPerFrame = samplesPerFrame;
    this.emit = emit;
    this.frame = new Float32Array(samplesPerFrame);
  }

  push(pcm: Int16Array): void {
    let at = 0;
    while (at < pcm.length) {
      const taken = Math.min(pcm.length - at, this.samplesPerFrame - this.filled);
      for (let i = 0; i < taken; i += 1) this.frame[this.filled + i] = (pcm[at + i] ?? 0) / 32_768;
      at += taken;
      this.filled += taken;
      if (this.filled === this.samplesPerFrame) this.flush();
    }
  }

  /** Hands over what has been collected, if anything. */
  flush(): void {
    if (this.filled === 0) return;
    const whole = this.filled === this.samplesPerFrame;
    this.emit(whole ? this.frame : this.frame.subarray(0, this.filled));
    this.frame = new Float32Array(this.samplesPerFrame);
    this.filled = 0;
  }
}
