/**
 * The streams of a recogniser process: audio in, results out, all streams that can go on decoded together.
 *
 * Invariant: the audio of a stream is given to the model only when the model has used up what it had, and only then is it
 * reported as taken, so that a server that counts the rest bounds the memory. A stream that was finished gives exactly
 * one `finished` and begins anew with the next audio. It knows neither sockets nor processes.
 */
import type { FromRecognizer, Recognition, ToRecognizer } from './messages.ts';
import { recognizerRate, type OnlineRecognizer, type OnlineStream } from './sherpa.ts';

/** Silence behind the last words, so that the model's view ahead is filled. */
const tailSamples = Math.round(0.8 * recognizerRate);
const tail = new Float32Array(tailSamples);

interface Stream {
  readonly waiting: Float32Array[];
  model: OnlineStream | undefined;
  phase: 'open' | 'finishing' | 'ending';
  said: string;
}

export interface RecognizingOptions {
  readonly tell: (message: FromRecognizer) => void;
  /** The model knows no small letters: people and language models would read shouting. */
  readonly capitalsOnly: boolean;
}

type Work = Exclude<ToRecognizer, { readonly type: 'setup' | 'ping' }>;

export class Recognizing {
  readonly #recognizer: OnlineRecognizer;
  readonly #tell: (message: FromRecognizer) => void;
  readonly #shown: (text: string) => string;
  readonly #streams = new Map<number, Stream>();

  constructor(recognizer: OnlineRecognizer, options: RecognizingOptions) {
    this.#recognizer = recognizer;
    this.#tell = options.tell;
    this.#shown = options.capitalsOnly ? (text) => text.toLowerCase() : (text) => text;
  }

  take(work: Work): void {
    if (work.type === 'drop') {
      this.#streams.delete(work.stream);
      return;
    }
    const stream = this.#streams.get(work.stream) ?? {
      waiting: [],
      model: undefined,
      phase: 'open',
      said: '',
    };
    this.#streams.set(work.stream, stream);
    if (work.type === 'audio') stream.waiting.push(work.samples);
    else stream.phase = 'finishing';
  }

  /** One step of every stream that can go on. False when none could. */
  advance(): boolean {
    let moved = false;
    const ready: [number, Stream, OnlineStream][] = [];
    for (const [id, stream] of this.#streams) {
      const fed = this.#feed(id, stream);
      moved ||= fed;
      if (stream.model !== undefined && this.#recognizer.isReady(stream.model))
        ready.push([id, stream, stream.model]);
    }
    if (ready.length === 0) return moved;
    this.#recognizer.decodeStreams(ready.map(([, , model]) => model));
    for (const [id, stream, model] of ready) this.#report(id, stream, model);
    return true;
  }

  /** Gives the model more to hear when it has used up what it had. True when something happened. */
  #feed(id: number, stream: Stream): boolean {
    const { model } = stream;
    if (model !== undefined && this.#recognizer.isReady(model)) return false;
    const samples = stream.waiting.shift();
    if (samples !== undefined) {
      stream.model ??= this.#recognizer.createStream();
      if (samples.length > 0) stream.model.acceptWaveform({ samples, sampleRate: recognizerRate });
      this.#tell({ type: 'taken', stream: id, samples: samples.length });
      return true;
    }
    if (stream.phase === 'open') return false;
    if (stream.phase === 'finishing' && model !== undefined) {
      stream.phase = 'ending';
      model.acceptWaveform({ samples: tail, sampleRate: recognizerRate });
      model.inputFinished();
      return true;
    }
    if (model !== undefined) {
      const last = this.#result(model, { isFinal: true, isEof: true });
      if (last !== undefined) this.#tell({ type: 'heard', stream: id, result: last });
    }
    this.#streams.delete(id);
    this.#tell({ type: 'finished', stream: id });
    return true;
  }

  #report(id: number, stream: Stream, model: OnlineStream): void {
    if (stream.phase === 'ending') return;
    const isFinal = this.#recognizer.isEndpoint(model);
    const result = this.#result(model, { isFinal, isEof: false });
    if (isFinal) this.#recognizer.reset(model);
    const isNews = result !== undefined && (isFinal || result.text !== stream.said);
    stream.said = isFinal ? '' : (result?.text ?? stream.said);
    if (isNews) this.#tell({ type: 'heard', stream: id, result });
  }

  /** Nothing when the engine gives something that is no result, as it does when a model's output is no number. */
  #result(model: OnlineStream, at: { isFinal: boolean; isEof: boolean }): Recognition | undefined {
    try {
      return readResult(this.#recognizer.getResult(model), { ...at, shown: this.#shown });
    } catch (error) {
      if (error instanceof SyntaxError) return undefined;
      throw error;
    }
  }
}

const numbers = (value: unknown): number[] =>
  Array.isArray(value) ? value.filter((item): item is number => typeof item === 'number') : [];
const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];

function readResult(
  value: unknown,
  { isFinal, isEof, shown }: { isFinal: boolean; isEof: boolean; shown: (text: string) => string },
): Recognition | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const field = (name: string): unknown => Reflect.get(value, name);
  const [text, segment, start] = [field('text'), field('segment'), field('start_time')];
  if (typeof text !== 'string') return undefined;
  return {
    text: shown(text),
    tokens: texts(field('tokens')).map(shown),
    timestamps: numbers(field('timestamps')),
    segment: typeof segment === 'number' ? segment : 0,
    startTimeS: typeof start === 'number' ? start : 0,
    isFinal,
    isEof,
  };
}

/** Whether the table of a model's tokens has no small letters; names in angle brackets are no words. */
export function hasCapitalsOnly(tokensTable: string): boolean {
  const tokens = tokensTable.split('\n').map((line) => line.replace(/\s+\S+\s*$/, ''));
  return !tokens.some((token) => !/^<.*>$/.test(token) && token !== token.toUpperCase());
}
