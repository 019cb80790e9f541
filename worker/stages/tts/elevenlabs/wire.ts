/**
 * The wire of `tts_cloud_b` (ElevenLabs): vendor contexts on one socket, base64 audio with the times of its characters.
 * A context that was closed counts until the vendor's own final marker, and five are the most. Pure: no sockets, no
 * time.
 */
import { PcmBytes } from '../../pcm-bytes.ts';
import type { TimedWord, Wire, WireEvent } from '../wire.ts';
import { brokenRule, isSpeakable, numbersOf, readObject, stringsOf } from '../wire.ts';

const OPEN_CONTEXTS = 5;

export type VoiceSettings = Readonly<Record<string, number | boolean>>;

interface Utterance {
  readonly id: string;
  readonly pcm: PcmBytes;
  /** The start of a word whose end has not come. */
  word: TimedWord | undefined;
  /** Its start has been told. */
  told: boolean;
}

export class ElevenLabsWire implements Wire {
  readonly isWorn = false;
  readonly #settings: VoiceSettings;
  readonly #newId: () => string;
  readonly #open = new Set<string>();
  #live: Utterance | undefined;

  constructor(settings: VoiceSettings, newId: () => string) {
    this.#settings = settings;
    this.#newId = newId;
  }

  get canBegin(): boolean {
    return this.#open.size < OPEN_CONTEXTS;
  }

  say(text: string): string[] {
    const messages: string[] = [];
    if (this.#live === undefined) {
      this.#live = { id: this.#newId(), pcm: new PcmBytes(), word: undefined, told: false };
      this.#open.add(this.#live.id);
      messages.push(this.#message(this.#live.id, { text: ' ', voice_settings: this.#settings }));
    }
    // The vendor wants a space at the end of a text.
    messages.push(this.#message(this.#live.id, { text: /\s$/.test(text) ? text : `${text} `, flush: true }));
    return messages;
  }

  end(rest: string): string[] {
    if (this.#live === undefined) return [];
    const { id } = this.#live;
    const marks = rest.trim() === '' ? [] : [this.#message(id, { text: `${rest.trim()} `, flush: true })];
    return [...marks, this.#message(id, { close_context: true })];
  }

  cancel(): string[] {
    const id = this.#live?.id;
    this.#live = undefined;
    return id === undefined ? [] : [this.#message(id, { close_context: true })];
  }

  /** Names a context only after its first message, which alone may hold settings. */
  keepAlive(): string[] {
    return [
      this.#live === undefined ? JSON.stringify({ text: '' }) : this.#message(this.#live.id, { text: '' }),
    ];
  }

  receive(data: string | Buffer): WireEvent[] {
    const message = typeof data === 'string' ? readObject(data) : undefined;
    if (message === undefined) return brokenRule('a message is a JSON object');
    if (message['error'] !== undefined && message['error'] !== null) return [failure(message)];
    const id = message['contextId'] ?? message['context_id'];
    const isFinal = message['isFinal'] === true || message['is_final'] === true;
    const live = this.#live;
    if (isFinal && typeof id === 'string') this.#open.delete(id);
    if (live === undefined || id !== live.id) return isFinal ? [{ type: 'free' }] : [];
    const events: WireEvent[] = [];
    const words = wordsOf(message['alignment'] ?? message['normalizedAlignment'], live);
    if (words.length > 0) events.push({ type: 'words', base: 'next', words });
    const audio = message['audio'];
    if (typeof audio === 'string') {
      events.push({ type: 'audio', pcm: live.pcm.take(Buffer.from(audio, 'base64')) });
      if (live.word === undefined) events.push({ type: 'settled' });
    } else if (audio !== undefined && audio !== null) return brokenRule('audio is text');
    if (isFinal) {
      this.#live = undefined;
      events.push({ type: 'ended' });
    }
    return events;
  }

  #message(id: string, parts: object): string {
    return JSON.stringify({ ...parts, context_id: id });
  }
}

/** Words from the times of characters, which count from the start of their chunk. A word may span chunks. */
function wordsOf(value: unknown, live: Utterance): TimedWord[] {
  if (typeof value !== 'object' || value === null) return [];
  const lists = Object.fromEntries(Object.entries(value));
  const starts = numbersOf(lists['charStartTimesMs'] ?? lists['charsStartTimesMs']);
  const words: TimedWord[] = [];
  for (const [at, char] of stringsOf(lists['chars']).entries()) {
    const startMs = starts[at] ?? 0;
    const { word } = live;
    if (/^\s*$/.test(char)) {
      if (word !== undefined && !live.told) words.push(word);
      live.word = undefined;
      live.told = false;
    } else
      live.word =
        word === undefined ? { text: char, startMs, endMs: startMs } : { ...word, text: word.text + char };
  }
  // The start of a word that the next chunk goes on with is known now; its other letters do not matter.
  if (live.word !== undefined && !live.told && isSpeakable(live.word.text)) {
    words.push(live.word);
    live.told = true;
  }
  return words;
}

function failure(message: Readonly<Record<string, unknown>>): WireEvent {
  const text = `${String(message['error'])} ${String(message['message'])}`;
  return { type: 'failed', error: errorOf(text) };
}

/** The vendor names nearly everything with one close code; its words tell what can be tried again. */
export function errorOf(text: string): { kind: 'rejected'; status: number } | { kind: 'disconnected' } {
  if (/too_many|concurren/i.test(text)) return { kind: 'rejected', status: 429 };
  if (/max_active|timeout/i.test(text)) return { kind: 'disconnected' };
  if (/quota|unauthorized|invalid/i.test(text)) return { kind: 'rejected', status: 403 };
  return { kind: 'disconnected' };
}
