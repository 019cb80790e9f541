/**
 * Two simulated voices that put the number of each word into its samples, of which the first is killed at a random instant,
 * and a judge that listens. Where voices tell the times of words: every word once, in order, whole but for the one in which the
 * voice died. Where they do not: every word whole, and no piece twice that was heard whole. Words run into one another, take
 * longer or shorter than their letters, and are followed by a pause where there is punctuation, mostly.
 */
import { newPrng } from '../../../shared/base/prng.ts';
import { newFailoverTts } from '../../../worker/stages/failover/tts.ts';
import type { TtsEvent, TtsSession, TtsStage } from '../../../worker/stages/stage.ts';
import { newStageContext } from '../../support/core/stage-context.ts';
import { Fate, mostExtraMs, newFailoverWorld, planDeath, runUntil, type Death } from './failover-world.ts';

const sampleRate = 8_000;
const perMs = sampleRate / 1_000;
const chunkMs = 60;
/** Samples are who says what: the number of the word, and so much more for each voice; all of them can be heard. */
const voiceStep = 256;

/** Where in the audio of a piece a word lies. */
interface SpokenWord {
  readonly chars: number;
  readonly number: number;
  readonly fromMs: number;
  readonly toMs: number;
}

interface Manner {
  /** 0 or 1. */
  readonly voice: number;
  readonly connectMs: number;
  readonly firstMs: number;
  readonly msPerChar: number;
  /** How much faster than real time audio is made. */
  readonly speed: number;
  readonly tellsWords: boolean;
}

interface SimContext {
  readonly id: number;
  pieces: string[];
  flushed: boolean;
  chars: number;
  ms: number;
}

class SimVoice implements TtsSession {
  readonly sampleRate = sampleRate;
  private readonly fate: Fate;
  private readonly manner: Manner;
  private readonly sink: (event: TtsEvent) => void;
  private contexts: SimContext[] = [];
  private isClosed = false;
  private isBusy = true;

  constructor(fate: Fate, manner: Manner, sink: (event: TtsEvent) => void) {
    this.fate = fate;
    this.manner = manner;
    this.sink = sink;
    fate.watch((error) => {
      if (this.isClosed) return;
      this.isClosed = true;
      sink({ type: 'error', error });
    });
    fate.clock.after(manner.connectMs, () => {
      this.isBusy = false;
      this.work();
    });
  }

  speak(id: number, text: string): void {
    this.open(id).pieces.push(text);
    this.work();
  }

  flush(id: number): void {
    this.open(id).flushed = true;
    this.work();
  }

  cancel(id: number): void {
    this.contexts = this.contexts.filter((context) => context.id !== id);
    this.later(0, () => this.tell({ type: 'cancelled', context: id }));
  }

  pause(): void {
    this.isBusy = true;
  }

  resume(): void {
    this.isBusy = false;
    this.work();
  }

  close(): void {
    this.isClosed = true;
  }

  private open(id: number): SimContext {
    const known = this.contexts.find((context) => context.id === id);
    if (known !== undefined) return known;
    const context = { id, pieces: [], flushed: false, chars: 0, ms: 0 };
    this.contexts.push(context);
    return context;
  }

  private later(ms: number, action: () => void): void {
    this.fate.clock.after(ms, () => {
      if (!this.isClosed && !this.fate.isDead) action();
    });
  }

  private tell(event: TtsEvent): void {
    if (!this.isClosed && !this.fate.isDead) this.sink(event);
  }

  private work(): void {
    const [context] = this.contexts;
    if (this.isBusy || context === undefined) return;
    const piece = context.pieces.shift();
    if (piece !== undefined) {
      this.isBusy = true;
      this.later(this.manner.firstMs, () => this.say(context, piece));
    } else if (context.flushed) {
      this.isBusy = true;
      this.later(0, () => {
        this.contexts.shift();
        this.isBusy = false;
        this.tell({ type: 'flushed', context: context.id });
        this.work();
      });
    }
  }

  private say(context: SimContext, piece: string): void {
    const { manner } = this;
    const { words, lengthMs } = layOut(piece, manner);
    const pcm = new Int16Array(Math.round(lengthMs * perMs));
    for (const { number, fromMs, toMs } of words)
      pcm.fill((manner.voice + 1) * voiceStep + number, Math.round(fromMs * perMs), Math.round(toMs * perMs));
    const told = words.map(({ chars, fromMs }) => ({
      chars: context.chars + chars,
      startMs: context.ms + fromMs,
    }));
    this.emit(context, { pcm, words: manner.tellsWords ? told : [], at: 0, piece });
  }

  private emit(
    context: SimContext,
    part: { pcm: Int16Array; words: { chars: number; startMs: number }[]; at: number; piece: string },
  ): void {
    const { pcm, words, at, piece } = part;
    if (!this.contexts.includes(context)) {
      this.isBusy = false;
      this.work();
      return;
    }
    const to = Math.min(pcm.length, at + chunkMs * perMs);
    const untilMs = context.ms + to / perMs;
    for (let word = words[0]; word !== undefined && word.startMs < untilMs; word = words[0]) {
      words.shift();
      this.tell({ type: 'word', context: context.id, ...word });
    }
    if (to > at) this.tell({ type: 'audio', context: context.id, pcm: pcm.subarray(at, to) });
    if (to < pcm.length) {
      this.later((to - at) / perMs / this.manner.speed, () => this.emit(context, { ...part, at: to }));
      return;
    }
    context.ms += pcm.length / perMs;
    context.chars += piece.length;
    this.isBusy = false;
    this.tell({ type: 'spoken', context: context.id, chars: context.chars });
    this.work();
  }
}

const letters = 'abcdefghij';
const inLetters = (number: number): string =>
  String(number).replace(/\d/g, (digit) => letters[Number(digit)] ?? '');
const numberOf = (word: string): number => {
  const name = /^w([a-j]+)/.exec(word)?.[1] ?? '';
  return Number(name.replace(/[a-j]/g, (letter) => String(letters.indexOf(letter))));
};

/** The same words always take the same time, so that the judge knows how long they are. */
function layOut(piece: string, manner: Manner): { words: SpokenWord[]; lengthMs: number } {
  const words: SpokenWord[] = [];
  let atMs = 0;
  for (const match of piece.matchAll(/\S+/g)) {
    const number = numberOf(match[0]);
    const chance = newPrng(number * 7 + manner.voice * 10_000);
    const fromMs = atMs;
    atMs += wordMs(match[0], manner);
    words.push({ chars: match.index, number, fromMs, toMs: atMs });
    const isRest = match[0].endsWith('.');
    if (isRest || (match[0].endsWith(',') && chance.chance(0.8)))
      atMs += (isRest ? 200 : 110) + chance.below(200);
  }
  return { words, lengthMs: atMs };
}

/** Up to an eighth longer or shorter than its letters. */
function wordMs(word: string, { msPerChar, voice }: Manner): number {
  const off = newPrng(numberOf(word) * 13 + voice * 10_000).next() / 4 - 1 / 8;
  return (word.replace(/[.,]/, '').length + 1) * msPerChar * (1 + off);
}

/** What came out: words in order, with how much of each was heard. */
interface Run {
  readonly label: number;
  readonly word: number;
  readonly voice: number;
  /** Characters of its context of which all had been said when it began. */
  readonly spokenChars: number;
  samples: number;
}

interface Outcome {
  readonly runs: readonly Run[];
  readonly flushedMs: number[];
  readonly errors: number;
  readonly failovers: number;
  readonly firstMs: number | undefined;
  readonly lastSpoken: ReadonlyMap<number, number>;
}

interface Script {
  readonly texts: readonly (readonly string[])[];
  readonly manners: readonly Manner[];
  readonly hedgeAfterMs: number | undefined;
}

function speakAll(seed: number, { texts, manners, hedgeAfterMs }: Script, death: Death | undefined): Outcome {
  const world = newFailoverWorld(seed);
  const { clock } = world;
  const stage = (fate: Fate, manner: Manner): TtsStage => ({
    provider: 'sim',
    open: (_context, sink) => new SimVoice(fate, manner, sink),
    close: () => Promise.resolve(),
  });
  const decorated = newFailoverTts({
    ...world.scope<TtsStage>('tts', {
      primary: stage(new Fate(clock, death), manners[0]!),
      secondary: stage(new Fate(clock, undefined), manners[1]!),
    }),
    ...(hedgeAfterMs !== undefined && { hedgeAfterMs }),
  });
  const runs: Run[] = [];
  const flushedMs: number[] = [];
  const lastSpoken = new Map<number, number>();
  let errors = 0;
  let firstMs: number | undefined;
  let last: Run | undefined;
  const hear = (pcm: Int16Array, spokenChars: number): void => {
    for (const label of pcm) {
      if (label === 0) continue;
      if (last?.label !== label) {
        const [word, voice] = [label % voiceStep, Math.floor(label / voiceStep) - 1];
        last = { label, word, voice, spokenChars, samples: 0 };
        runs.push(last);
      }
      last.samples += 1;
    }
  };
  const session = decorated.open(newStageContext(clock), (event) => {
    if (event.type === 'audio') {
      firstMs ??= clock.now();
      hear(event.pcm, lastSpoken.get(event.context) ?? 0);
    } else if (event.type === 'flushed') flushedMs.push(clock.now());
    else if (event.type === 'spoken') {
      lastSpoken.set(event.context, event.chars);
    } else if (event.type === 'error') errors += 1;
  });
  texts.forEach((pieces, index) => {
    for (const piece of pieces) {
      session.speak(index + 1, piece);
      clock.advance(30);
    }
    session.flush(index + 1);
    runUntil(clock, () => flushedMs.length > index || errors > 0, 60_000);
  });
  session.close();
  return { runs, flushedMs, errors, failovers: world.reasons.length, firstMs, lastSpoken };
}

export interface TtsRun {
  readonly violations: readonly string[];
  readonly failovers: number;
}

function planScript(seed: number): {
  script: Script;
  death: (wholeMs: number) => Death;
  tellsWords: boolean;
} {
  const { prng } = newFailoverWorld(seed);
  const tellsWords = prng.chance(0.6);
  const manner = (voice: number): Manner => ({
    voice,
    connectMs: 5 + prng.below(150),
    firstMs: 30 + prng.below(400),
    msPerChar: 45 + prng.below(40),
    speed: 1 + prng.below(8),
    tellsWords,
  });
  let word = 0;
  const pieces = (): string[] =>
    Array.from({ length: 1 + prng.below(4) }, () =>
      Array.from({ length: 2 + prng.below(9) }, () => {
        word += 1;
        const mark = prng.chance(0.15) ? ',' : prng.chance(0.05) ? '.' : '';
        return `w${inLetters(word)}${'x'.repeat(prng.below(7))}${mark} `;
      })
        .join('')
        .replace(/[.,]? $/, '. '),
    );
  const texts = [pieces(), pieces(), pieces()];
  const manners = [manner(0), manner(1)];
  const hedgeAfterMs = prng.chance(0.4) ? 150 + prng.below(600) : undefined;
  return {
    script: { texts, manners, hedgeAfterMs },
    death: (wholeMs) => planDeath(prng, wholeMs),
    tellsWords,
  };
}

export function runTts(seed: number): TtsRun {
  const { script, death: deathWithin, tellsWords } = planScript(seed);
  const usual = speakAll(seed, script, undefined);
  const death = deathWithin(usual.flushedMs.at(-1) ?? 1_000);
  const outcome = speakAll(seed, script, death);
  const all = script.texts.flatMap((pieces) => pieces.join('').trim().split(' '));
  const violations: string[] = [];
  if (outcome.errors > 0) violations.push('the session failed');
  if (outcome.flushedMs.length !== script.texts.length) violations.push('a context was not finished');
  script.texts.forEach((pieces, index) => {
    const length = pieces.join('').length;
    if (outcome.lastSpoken.get(index + 1) !== length)
      violations.push(`context ${index + 1}: not all was spoken`);
  });
  violations.push(...(tellsWords ? judgeWords(all, outcome, script) : judgePieces(outcome, script)));
  const slower = script.manners[1]!;
  const silentMs = death.how === 'silence' || death.after === 'silence' ? death.timeoutMs : 0;
  const startMs = slower.connectMs + slower.firstMs;
  if (
    outcome.firstMs === undefined ||
    outcome.firstMs > (usual.firstMs ?? 0) + silentMs + startMs + mostExtraMs
  )
    violations.push(`the first sound came at ${outcome.firstMs ?? -1}`);
  return { violations, failovers: outcome.failovers };
}

/** A word of which less is missing, or heard again, was said once. */
const within = 0.35;
/** Of a word of which less is heard at a time, nobody hears that it is one. */
const leastHeardMs = 32;

function judgeWords(all: readonly string[], { runs }: Outcome, { manners }: Script): string[] {
  const shares = all.map(() => 0);
  for (const { word, voice, samples } of runs)
    shares[word - 1]! += samples / (wordMs(all[word - 1]!, manners[voice]!) * perMs);
  const order = runs.map(({ word }) => word);
  const where = (is: (share: number) => boolean): number[] =>
    shares.flatMap((share, at) => (is(share) ? [at + 1] : []));
  const heard = runs.filter(({ samples }) => samples >= leastHeardMs * perMs).map(({ word }) => word);
  const violations: string[] = [];
  const twice = where((share) => share > 2 - within);
  const lost = where((share) => share < within);
  // A word may be begun by one voice and ended by the other.
  const clipped = where((share) => share < 1 - within || share > 1 + within);
  if (heard.some((word, at) => at > 0 && word < heard[at - 1]!))
    violations.push(`out of order: ${order.join(' ')}`);
  if (twice.length > 0) violations.push(`twice: ${twice.join(' ')} of ${order.join(' ')}`);
  // The word in which the voice died is all that may be missing, and its beginning was heard.
  const unheard = lost.filter((word) => !order.includes(word));
  if (lost.length > 1 || unheard.length > 0) violations.push(`lost: ${lost.join(' ')} of ${all.length}`);
  if (clipped.length > Math.max(1, lost.length))
    violations.push(`clipped: ${clipped.join(' ')} of ${order.join(' ')}`);
  return violations;
}

/** Where a piece of a context begins, and its first word. */
interface PieceStart {
  readonly chars: number;
  readonly word: number;
}

function judgePieces({ runs, failovers }: Outcome, { texts, manners }: Script): string[] {
  const all = texts.flatMap((pieces) => pieces.join('').trim().split(' '));
  const starts: PieceStart[] = [];
  let word = 1;
  for (const pieces of texts) {
    let chars = 0;
    for (const piece of pieces) {
      starts.push({ chars, word });
      chars += piece.length;
      word += piece.trim().split(' ').length;
    }
  }
  const violations: string[] = [];
  const order = runs.map((run) => run.word).join(' ');
  const whole = all.map((text, at) =>
    runs.some(
      (run) => run.word === at + 1 && run.samples > wordMs(text, manners[run.voice]!) * perMs * (1 - within),
    ),
  );
  const unheard = whole.flatMap((isWhole, at) => (isWhole ? [] : [at + 1]));
  if (unheard.length > 0) violations.push(`not whole: ${unheard.join(' ')} of ${order}`);
  const back = runs.filter((run, at) => at > 0 && run.word <= runs[at - 1]!.word);
  if (back.length > failovers) violations.push(`again and again: ${order}`);
  for (const run of back) {
    const start = starts.find((one) => one.word === run.word);
    if (start === undefined || start.chars !== run.spokenChars)
      violations.push(`word ${run.word} again, where no piece was broken off: ${order}`);
  }
  return violations;
}
