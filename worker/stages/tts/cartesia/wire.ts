/**
 * The wire of `tts_cloud_a` (Cartesia): one vendor context per utterance on a shared socket, base64 audio and word
 * times in JSON. The vendor stops nothing that it has begun to speak, so what comes for any other context is dropped.
 * Pure: no sockets, no time.
 */
import { PcmBytes } from '../../pcm-bytes.ts';
import type { TimedWord, Wire, WireEvent } from '../wire.ts';
import { brokenRule, numbersOf, readObject, stringsOf } from '../wire.ts';

/** Fields that every message of a context repeats unchanged. */
export type ContextFields = Readonly<Record<string, unknown>>;

export class CartesiaWire implements Wire {
  readonly canBegin = true;
  readonly isWorn = false;
  readonly #fields: ContextFields;
  readonly #newId: () => string;
  #live: { readonly id: string; readonly pcm: PcmBytes } | undefined;

  constructor(fields: ContextFields, newId: () => string) {
    this.#fields = fields;
    this.#newId = newId;
  }

  say(text: string): string[] {
    this.#live ??= { id: this.#newId(), pcm: new PcmBytes() };
    return [this.#request(this.#live.id, { transcript: text, continue: true })];
  }

  end(rest: string): string[] {
    if (this.#live === undefined) return [];
    return [this.#request(this.#live.id, { transcript: rest, continue: false })];
  }

  cancel(): string[] {
    const id = this.#live?.id;
    this.#live = undefined;
    return id === undefined ? [] : [JSON.stringify({ context_id: id, cancel: true })];
  }

  keepAlive(): string[] {
    return [];
  }

  receive(data: string | Buffer): WireEvent[] {
    const message = typeof data === 'string' ? readObject(data) : undefined;
    if (message === undefined) return brokenRule('a message is a JSON object');
    const { type, context_id: id } = message;
    if (type === 'error' && typeof id !== 'string') return [failure(message)];
    const live = this.#live;
    if (live === undefined || id !== live.id) return [];
    if (type === 'chunk') {
      const { data: audio } = message;
      if (audio === undefined || audio === null) return [];
      if (typeof audio !== 'string') return brokenRule('a chunk holds audio');
      return [{ type: 'audio', pcm: live.pcm.take(Buffer.from(audio, 'base64')) }];
    }
    if (type === 'timestamps') {
      return [{ type: 'words', base: 'utterance', words: wordsOf(message['word_timestamps']) }];
    }
    if (type === 'flush_done') return [{ type: 'settled' }];
    if (type === 'done') {
      this.#live = undefined;
      return [{ type: 'ended' }];
    }
    return type === 'error' ? [failure(message)] : [];
  }

  #request(id: string, parts: object): string {
    return JSON.stringify({ ...this.#fields, ...parts, context_id: id });
  }
}

function failure(message: Readonly<Record<string, unknown>>): WireEvent {
  const status = message['status_code'];
  if (typeof status === 'number' && status >= 400 && status < 600) {
    return { type: 'failed', error: { kind: 'rejected', status } };
  }
  return { type: 'failed', error: { kind: 'protocol', rule: 'an error has a status' } };
}

/** Times are in seconds. */
function wordsOf(value: unknown): TimedWord[] {
  if (typeof value !== 'object' || value === null) return [];
  const lists = Object.fromEntries(Object.entries(value));
  const starts = numbersOf(lists['start']);
  const ends = numbersOf(lists['end']);
  return stringsOf(lists['words']).flatMap((text, at) => {
    const start = starts[at];
    // Tags of the vendor's markup are not words of the text.
    if (start === undefined || text.startsWith('<')) return [];
    return [{ text, startMs: start * 1000, endMs: (ends[at] ?? start) * 1000 }];
  });
}
