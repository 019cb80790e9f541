/**
 * Joins two voices within a phrase: the second says again, from a word that the first has surely said, what the first said, nobody
 * hears it, and where both are at the same word the second goes on aloud.
 *
 * Invariant: what the second voice says is kept in order, and as much of it as finding the place needs. The work is done in parts,
 * of which its owner asks for one at a time. Pure; milliseconds of `said` count from where it begins, those of the second voice
 * from its first sample.
 */
import type { SaidEvent } from './held-speech.ts';
import { KeptSpeech } from './kept-speech.ts';
import type { AgainPlace } from './spoken-place.ts';
import { frameAt, WordMatching } from './same-words.ts';
import type { Matched, Stretches } from './same-words.ts';
import { frameMs, leastLiveliness, SpeechBands, soundOf } from './speech-sound.ts';
import type { SpeechSound } from './speech-sound.ts';

/** Behind what was heard, so much of the first voice helps to find the place. */
const aheadMs = 600;
/** How far behind what was heard the place may lie: as quiet a moment as there is. */
const choiceMs = 400;
/** The last matches of a stretch are less sure than those before. */
const unsureMs = 80;
/** The second voice is waited for until it has said this much beyond the place, to be sure that it is not further on. */
const beyondShare = 0.1;
const beyondMs = 250;
/** It is looked at first when it has said so much of what the first has, and again after so much more. */
const knownBegin = { share: 1.1, moreMs: 400 };
/** Where the begin is not known, all of it may be short, and two places in a row have to be the same but for so much. */
const unknownBegin = { share: 0.8, moreMs: 120 };
const sameMs = 60;
/** A place so much before the estimate may only be as far as a slow voice has come, and is looked for again. */
const earlyShare = 0.85;
/** More of the second voice than this is not waited for. */
const mostMs = 7_500;
/** Frames that are read in one part of the work. */
const framesInPart = 12;
/** A word that begins this near is begun with. */
const nearMs = 120;
/** A place is not believed that is further than this from the estimate, which takes voices for alike. */
const soonest = { share: 0.4, ms: -600 };
const latest = { share: 2, ms: 1_000 };

/** Times of the context's audio, from where `said` begins, and of the second voice's. */
export interface JoiningPlace {
  readonly cutMs: number;
  readonly skipMs: number;
}

export interface JoiningOptions {
  readonly context: number;
  readonly sampleRate: number;
  /** What the first voice said from the sure place on. */
  readonly said: KeptSpeech;
  /** Where in that the word lies with which the second voice begins. */
  readonly begin: AgainPlace;
  /** The word of which little was heard when so much was heard, by an estimate. */
  readonly guess: (heardMs: number) => Guess;
}

/** A word, as characters of what the second voice was asked for, and when it would begin with it. */
export interface Guess {
  readonly chars: number;
  readonly ms: number;
}

/** The place; or it waits for more of the second voice, or for the next part of the work. */
export type Look = JoiningPlace | 'listening' | 'working';

export class Joining {
  readonly context: number;
  private readonly options: JoiningOptions;
  private readonly again: KeptSpeech;
  private readonly first: SpeechBands;
  private readonly second: SpeechBands;
  private readonly events: SaidEvent[] = [];
  private matching: { readonly words: WordMatching; readonly stretches: Stretches } | undefined;
  /** A whole piece of the second voice is there. */
  private isWhole = false;
  private neededMs = 0;
  /** Where the end of the first was found last time. */
  private lastMs: number | undefined;

  constructor(options: JoiningOptions) {
    this.context = options.context;
    this.options = options;
    this.again = new KeptSpeech(options.sampleRate);
    this.first = new SpeechBands(options.said.rate);
    this.second = new SpeechBands(this.again.rate);
  }

  /** Takes what the second voice says. */
  add(event: SaidEvent): void {
    if (event.type !== 'audio') {
      this.events.push(event);
      this.isWhole ||= event.type !== 'word';
      return;
    }
    // Who said it may use the samples for something else when this returns.
    this.events.push({ ...event, pcm: event.pcm.slice() });
    this.again.push(event.pcm);
  }

  /** Does a part of the work; `heardMs` of the first voice cannot be taken back. */
  look(heardMs: number): Look {
    const { said, begin } = this.options;
    const { again, first, second, matching } = this;
    if (matching !== undefined) return matching.words.work() ? this.conclude(matching, heardMs) : 'working';
    const endMs = Math.min(said.lengthMs, heardMs + aheadMs);
    if (!first.read(said.between(begin.fromMs, endMs), framesInPart)) return 'working';
    if (!second.read(again.between(0, again.lengthMs), framesInPart)) return 'working';
    const leastMs = (endMs - begin.toMs) * this.patience.share + beyondMs;
    if (!this.isAll && again.lengthMs < Math.max(this.neededMs, leastMs)) return 'listening';
    const stretches = {
      first: soundOf(first),
      second: soundOf(second),
      from: 0,
      to: Math.round((begin.toMs - begin.fromMs) / frameMs),
      likely: Math.round((begin.likelyMs - begin.fromMs) / frameMs),
    };
    this.matching = { words: new WordMatching(stretches), stretches };
    return 'working';
  }

  /** What the second voice said behind the place. */
  rest(skipMs: number): SaidEvent[] {
    let skip = Math.round((skipMs * this.options.sampleRate) / 1000);
    return this.events.flatMap((event): SaidEvent[] => {
      if (event.type === 'word') return event.startMs < skipMs ? [] : [event];
      if (event.type !== 'audio') return [event];
      const pcm = event.pcm.subarray(skip);
      skip = Math.max(0, skip - event.pcm.length);
      return pcm.length === 0 ? [] : [{ ...event, pcm }];
    });
  }

  private get isAll(): boolean {
    return this.isWhole || this.again.lengthMs >= mostMs;
  }

  private conclude(matching: NonNullable<Joining['matching']>, heardMs: number): Look {
    const { words, stretches } = matching;
    const { begin, guess } = this.options;
    const { first, second } = stretches;
    this.matching = undefined;
    const { matched } = words;
    const behindMs = heardMs - begin.fromMs;
    if (this.isBeginKnown && isSilent(first, behindMs)) return { cutMs: heardMs, skipMs: 0 };
    const last = matched?.at(-1) ?? 0;
    const surplusMs = (this.said(first) - begin.toMs) * beyondShare + beyondMs;
    const hasSurplus = (second.count - last) * frameMs >= surplusMs;
    const lastMs = hasSurplus ? last * frameMs : undefined;
    const before = this.lastMs;
    this.lastMs = lastMs;
    const isSame = before !== undefined && lastMs !== undefined && Math.abs(lastMs - before) <= sameMs;
    const found = matched && quietest(matched, { first, second, heardMs: behindMs });
    const isEarly = found !== undefined && skippedMs(found, behindMs) < guess(heardMs).ms * earlyShare;
    const isSure = this.isBeginKnown ? hasSurplus && (isSame || !isEarly) : isSame;
    if (!this.isAll && !isSure) {
      this.neededMs = this.again.lengthMs + this.patience.moreMs;
      return 'listening';
    }
    if (found === undefined || !this.isLikely(found, behindMs, second))
      return { cutMs: heardMs, skipMs: this.guessed(guess(heardMs)) };
    return { cutMs: found.cutMs + begin.fromMs, skipMs: this.atWord(found.skipMs) };
  }

  /** Sounds that are no speech match anything, and so does speech now and then. */
  private isLikely(found: JoiningPlace, heardMs: number, { liveliness = 1 }: SpeechSound): boolean {
    const { ms } = this.options.guess(heardMs + this.options.begin.fromMs);
    const laterMs = skippedMs(found, heardMs);
    if (liveliness < leastLiveliness) return false;
    return laterMs > ms * soonest.share + soonest.ms && laterMs < ms * latest.share + latest.ms;
  }

  /** Where the second voice tells its words, it is heard from the start of one if one is near. */
  private atWord(ms: number): number {
    const near = this.words
      .map(({ startMs }) => startMs)
      .filter((startMs) => Math.abs(startMs - ms) <= nearMs);
    return near.reduce((best, one) => (Math.abs(one - ms) < Math.abs(best - ms) ? one : best), near[0] ?? ms);
  }

  private guessed({ chars, ms }: Guess): number {
    const told = this.words.find((word) => word.chars >= chars);
    return Math.min(told?.startMs ?? ms, this.again.lengthMs);
  }

  private get words(): Extract<SaidEvent, { readonly type: 'word' }>[] {
    return this.events.filter((event) => event.type === 'word');
  }

  private get patience(): { readonly share: number; readonly moreMs: number } {
    return this.isBeginKnown ? knownBegin : unknownBegin;
  }

  private get isBeginKnown(): boolean {
    return this.options.begin.toMs === 0;
  }

  private said({ count }: SpeechSound): number {
    return this.options.begin.fromMs + count * frameMs;
  }
}

/** How much the second voice said of what was heard of the first. */
const skippedMs = ({ cutMs, skipMs }: JoiningPlace, heardMs: number): number => skipMs - (cutMs - heardMs);

function isSilent(first: SpeechSound, heardMs: number): boolean {
  return first.quiet.subarray(0, frameAt(first, heardMs) + 1).every((isQuiet) => isQuiet === 1);
}

/** The quietest moment that can still be chosen: there the change is heard least. */
function quietest(
  frames: Matched,
  sounds: { readonly first: SpeechSound; readonly second: SpeechSound; readonly heardMs: number },
): JoiningPlace {
  const { first, second, heardMs } = sounds;
  const from = frameAt(first, heardMs);
  const surely = frames.length - 1 - Math.round(unsureMs / frameMs);
  const to = Math.max(from, Math.min(surely, from + Math.round(choiceMs / frameMs)));
  const loudnessAt = (at: number): number =>
    (first.loudness[at] ?? 0) + (second.loudness[frames[at] ?? 0] ?? 0);
  let best = from;
  for (let at = from + 1; at <= to; at += 1) if (loudnessAt(at) < loudnessAt(best)) best = at;
  const bestMs = best * frameMs + first.centreMs;
  const cutMs = Math.max(heardMs, bestMs);
  const skipMs = (frames[best] ?? 0) * frameMs + second.centreMs + cutMs - bestMs;
  return { cutMs, skipMs: Math.max(0, skipMs) };
}
