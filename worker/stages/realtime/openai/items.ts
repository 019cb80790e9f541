/**
 * What a server has told of the items of an answer: sound, words, calls. Repeats of them are not told.
 *
 * Invariant: bounded; the oldest is forgotten first. Pure.
 */
import { laws, type Law } from '../../../../shared/audio/law.ts';
import { PcmBytes } from '../../pcm-bytes.ts';
import { parseJson, recordsOf, textOf, type JsonRecord } from '../../json.ts';
import type { RealtimeEvent } from '../contract.ts';
import type { Dialect } from './declaration.ts';

const mostItems = 64;
const mostCalls = 512;

interface Item {
  readonly answer: number;
  readonly bytes: PcmBytes;
  samples: number;
  hasWords: boolean;
  /** Text that came where sound was asked for: it is said only if no sound of it comes. */
  written: string;
  isOver: boolean;
}

/** Forgets the oldest beyond so many. */
export function keepNewest(of: Map<string, unknown> | Set<string>, most: number): void {
  const [oldest] = of.keys();
  if (of.size > most && oldest !== undefined) of.delete(oldest);
}

interface Call {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** The call in an item or a message, once it is complete. */
function callIn(fields: JsonRecord): Call | undefined {
  const [id, name, given] = ['call_id', 'name', 'arguments'].map((key) => textOf(fields[key]));
  return id && name && given !== undefined ? { id, name, arguments: given } : undefined;
}

function linear(bytes: Buffer, law: Law): Int16Array {
  const pcm = new Int16Array(bytes.length);
  laws[law].decode(bytes, pcm);
  return pcm;
}

const isWhole = ({ arguments: given }: Call): boolean => parseJson(given) !== undefined;

export class Items {
  readonly #dialect: Pick<Dialect, 'outputRate' | 'outputLaw'>;
  readonly #items = new Map<string, Item>();
  /** Calls of the answer that is being made. */
  #calls = new Map<string, Call>();
  readonly #told = new Set<string>();

  constructor(dialect: Pick<Dialect, 'outputRate' | 'outputLaw'>) {
    this.#dialect = dialect;
  }

  /** The model made this call in this session. */
  isKnownCall(id: string): boolean {
    return this.#told.has(id);
  }

  /** How much sound of the item has come, in milliseconds; absent where it is not known. */
  receivedMs(item: string): number | undefined {
    const known = this.#items.get(item);
    return known && Math.floor((known.samples * 1000) / this.#dialect.outputRate);
  }

  sound(answer: number, item: string, base64: string): RealtimeEvent[] {
    const known = this.#of(answer, item);
    const bytes = Buffer.from(base64, 'base64');
    const { outputLaw: law } = this.#dialect;
    const pcm = law === undefined ? known.bytes.take(bytes) : linear(bytes, law);
    known.samples += pcm.length;
    if (pcm.length === 0) return [];
    const transcript = known.hasWords ? [] : this.words(answer, item, known.written);
    known.written = '';
    return [...transcript, { type: 'audio', answer, item, pcm }];
  }

  words(answer: number, item: string, text: string): RealtimeEvent[] {
    if (text === '') return [];
    this.#of(answer, item).hasWords = true;
    return [{ type: 'text', answer, item, text }];
  }

  /** Text where sound was asked for; `isWhole`: all of it, which says nothing new where pieces came. */
  written(answer: number, item: string, text: string, { isWhole = false } = {}): RealtimeEvent[] {
    const known = this.#of(answer, item);
    if (isWhole && (known.written !== '' || known.hasWords)) return [];
    if (known.samples > 0) return this.words(answer, item, text);
    known.written += text;
    return [];
  }

  /** No sound of it comes any more. */
  #writtenIn(item: string, known: Item): RealtimeEvent[] {
    const { answer, written: text } = known;
    if (text === '') return [];
    known.hasWords = true;
    known.written = '';
    return [{ type: 'text', answer, item, text, isWritten: true }];
  }

  /** All the words of an item, for servers that tell them without pieces. */
  allWords(answer: number, item: string, text: string): RealtimeEvent[] {
    return this.#of(answer, item).hasWords ? [] : this.words(answer, item, text);
  }

  /** A complete item: what of it was not told yet, and its end. Calls wait for the end of the answer. */
  complete(answer: number, fields: JsonRecord): RealtimeEvent[] {
    const item = textOf(fields['id']);
    if (fields['type'] === 'function_call') {
      this.call(fields);
      return [];
    }
    if (fields['type'] !== 'message' || item === '') return [];
    const known = this.#of(answer, item);
    if (known.isOver) return [];
    const words = recordsOf(fields['content']).map(
      (part) => textOf(part['transcript']) || textOf(part['text']),
    );
    const events = [...this.#writtenIn(item, known), ...this.allWords(answer, item, words.join(''))];
    known.isOver = true;
    return [...events, { type: 'item-done', answer, item }];
  }

  call(fields: JsonRecord): void {
    const call = callIn(fields);
    const known = this.#calls.get(call?.id ?? '');
    // A server that says a call twice may have said it before it was whole.
    if (call !== undefined && (known === undefined || !isWhole(known))) this.#calls.set(call.id, call);
  }

  /** The answer is over: ends of items that nobody told, and its calls where they are to be run. */
  end(answer: number, { runs }: { readonly runs: boolean }): RealtimeEvent[] {
    const open = [...this.#items].filter(([, known]) => known.answer === answer && !known.isOver);
    for (const [, known] of open) known.isOver = true;
    const calls = runs ? [...this.#calls.values()].filter(({ id }) => !this.#told.has(id)) : [];
    this.#calls = new Map();
    for (const { id } of calls) {
      this.#told.add(id);
      keepNewest(this.#told, mostCalls);
    }
    return [
      ...open.flatMap(([item, known]) => [
        ...this.#writtenIn(item, known),
        { type: 'item-done', answer, item } as const,
      ]),
      ...calls.map((call) => ({ type: 'tool-call', answer, ...call }) as const),
    ];
  }

  #of(answer: number, item: string): Item {
    const known = this.#items.get(item);
    if (known !== undefined) return known;
    const fresh: Item = {
      answer,
      bytes: new PcmBytes(),
      samples: 0,
      hasWords: false,
      written: '',
      isOver: false,
    };
    this.#items.set(item, fresh);
    keepNewest(this.#items, mostItems);
    return fresh;
  }
}
