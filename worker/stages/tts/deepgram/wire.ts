/**
 * The wire of `tts_cloud_c` (Deepgram Aura): one text stream per socket and no context ids, so an utterance lasts from
 * its first `Speak` to the answer of its `Flush`, and a `Clear` is answered before the next one begins. Pure: no
 * sockets.
 */
import { PcmBytes } from '../../pcm-bytes.ts';
import { brokenRule, readObject, type Wire, type WireEvent } from '../wire.ts';

const MAX_SPEAK_CHARS = 2_000;
/** The vendor takes 20 in a minute and ignores more. */
const FLUSHES_PER_WINDOW = 18;
const WINDOW_MS = 60_000;

const FLUSH = JSON.stringify({ type: 'Flush' });
const CLEAR = JSON.stringify({ type: 'Clear' });

export class DeepgramAuraWire implements Wire {
  #state: 'idle' | 'speaking' | 'clearing' = 'idle';
  #pcm = new PcmBytes();
  #flushesMs: number[] = [];

  get canBegin(): boolean {
    return this.#state !== 'clearing';
  }

  get isWorn(): boolean {
    return this.#flushesMs.length >= FLUSHES_PER_WINDOW;
  }

  say(text: string): string[] {
    if (this.#state === 'idle') this.#pcm = new PcmBytes();
    this.#state = 'speaking';
    const parts = text.match(new RegExp(`[^]{1,${MAX_SPEAK_CHARS}}`, 'gu')) ?? [];
    return parts.map((part) => JSON.stringify({ type: 'Speak', text: part }));
  }

  end(_rest: string, nowMs: number): string[] {
    this.#flushesMs = [...this.#flushesMs.filter((at) => nowMs - at < WINDOW_MS), nowMs];
    return [FLUSH];
  }

  cancel(): string[] {
    if (this.#state !== 'speaking') return [];
    this.#state = 'clearing';
    return [CLEAR];
  }

  keepAlive(): string[] {
    return [];
  }

  receive(data: string | Buffer): WireEvent[] {
    if (typeof data !== 'string') {
      return this.#state === 'speaking' ? [{ type: 'audio', pcm: this.#pcm.take(data) }] : [];
    }
    const message = readObject(data);
    if (message === undefined) return brokenRule('a text message is a JSON object');
    const { type } = message;
    if (type === 'Flushed' && this.#state === 'speaking') {
      this.#state = 'idle';
      return [{ type: 'ended' }];
    }
    if (type === 'Cleared' && this.#state === 'clearing') {
      this.#state = 'idle';
      return [{ type: 'free' }];
    }
    if (type !== 'Error') return [];
    const status = Number(message['code'] ?? message['err_code']);
    const error =
      status >= 400 && status < 600
        ? ({ kind: 'rejected', status } as const)
        : ({ kind: 'protocol', rule: 'the server refused a message' } as const);
    return [{ type: 'failed', error }];
  }
}
