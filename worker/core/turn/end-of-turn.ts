/**
 * When a pause is the end of the turn: one pure decision over everything that is known of the pause. The answer is a
 * silence, counted from the last voice; the caller of `endOfTurn` turns it into a deadline and asks again when more is known.
 */
import { maybe, number, record, time } from '../../../shared/base/codec.ts';
import type { Millis } from '../../../shared/base/units.ts';
import { completeness } from './completeness.ts';
import { numberSaid } from './numbers-said.ts';
import { beginsCorrection, endsInShortQuestion, endsSentence, hesitationAt } from './phrases.ts';
import { asksForTime } from './time-asked.ts';
import { bare, spokenWords } from '../../../shared/languages/spelling.ts';
import type { TurnSettings } from '../settings.ts';
import type { Vocabulary } from '../../../shared/languages/vocabulary.ts';

export interface PauseEvidence {
  /** The words of the languages that the caller may speak. */
  readonly vocabulary: Vocabulary;
  /** Words of the turn so far, as STT writes them. */
  readonly text: string;
  /** What the agent said before the turn. */
  readonly asked: string;
  /** The newest of them are a guess that may still change. */
  readonly guessed: boolean;
  /** STT says that the utterance is over. */
  readonly speechFinal: boolean;
  /** The turn model's answer; undefined while there is none. */
  readonly probability: number | undefined;
  /** What was added for a caller who pauses a lot. */
  readonly patienceMs: Millis;
}

/** A word of hesitation at the end makes the pause that much longer; one that may as well end a sentence by less. */
const hesitantFactor = 1.8;
const doubtfulFactor = 1.3;
/** Words that have surely only begun make it longer by this factor, words that may as well be whole by none. */
const begunFactor = 2.8;
const perhapsWhole = 0.5;
const surelyBegun = 0.1;
/** So few words may be all there is, where the first calls for a stop or asks. */
const fewWords = 3;
/** Of words that are rather whole than begun, this share of the way from stopMs to silenceEndMs is waited. */
const wholeShare = 0.6;
/** Behind a word of hesitation no words are taken for more whole than this. */
const wholeIfHesitant = 0.05;
/** Melody counts so much beside words, and from this probability on both together are an end. */
const melodyWeight = 0.15;
const endsAt = 0.78;
/** From this probability on the melody outweighs a word that may as well end a sentence. */
const surelyComplete = 0.8;
/** Pauses between the groups of a number that is read out: one that is known to be too short, and one that may be whole. */
const begunNumberMs = 2_000;
const openNumberMs = 1_200;
/** A number that is as long as it was to be needs no melody. */
const wholeNumberMs = 400;
/** A caller who takes something back may take back more: this is waited at least. */
const correctedMs = 900;
/** Where the model and STT agree on the end, this share of the way from stopMs to silenceEndMs is still waited. */
const finishedShare = 0.4;

/** Silence after which the turn is over, between `stopMs` and `maxSilenceMs`. */
export function endOfTurn(evidence: PauseEvidence, settings: TurnSettings): Millis {
  const { stopMs, maxSilenceMs } = settings;
  return Math.min(Math.max(unbounded(evidence, settings), stopMs), maxSilenceMs);
}

function unbounded(evidence: PauseEvidence, settings: TurnSettings): Millis {
  const { silenceEndMs, maxSilenceMs } = settings;
  const { text, asked, vocabulary, patienceMs } = evidence;
  if (asksForTime(text, vocabulary)) return maxSilenceMs;
  const number = numberSaid(asked, text, vocabulary.numbers);
  // Each group of a number sounds finished, and is none of the caller's sentences.
  if (number === 'whole') return wholeNumberMs;
  if (number === 'begun') return begunNumberMs + patienceMs;
  if (number === 'open') return Math.max(openNumberMs, silenceEndMs) + patienceMs;
  // Its last word begins a question as often, and looks like a beginning.
  if (!endsSentence(text) && endsInShortQuestion(text, vocabulary)) return silenceEndMs + patienceMs;
  const waitMs = ofSentence(evidence, settings);
  return beginsCorrection(text, vocabulary) ? Math.max(waitMs, correctedMs) : waitMs;
}

function ofSentence(evidence: PauseEvidence, settings: TurnSettings): Millis {
  const { stopMs, silenceEndMs, maxSilenceMs, completeAt } = settings;
  const { asked, vocabulary, probability, patienceMs } = evidence;
  const text = withoutFalseStop(evidence);
  const hesitation = hesitationAt(text, vocabulary);
  const isSentence = endsSentence(text) && hesitation !== 'surely';
  const finished = evidence.speechFinal && !evidence.guessed && isSentence;
  const waitMs = silenceEndMs + patienceMs;
  if (probability === undefined && finished && patienceMs === 0)
    return stopMs + (silenceEndMs - stopMs) * finishedShare;
  // Where STT has put the full stop, it knows the sentence better.
  const isJudged = vocabulary.isLearned && !isSentence;
  const whole = isJudged ? completeness(text, { answers: endsInQuestion(asked) }) : undefined;
  if (whole !== undefined) {
    const atMost = hesitation === 'surely' ? wholeIfHesitant : 1;
    const judgedMs = byWords(Math.min(whole, atMost), evidence, settings);
    // Of "stop" and "who is that" the model knows no more than that sentences are longer.
    const words = spokenWords(text);
    const isCall = words.length <= fewWords && vocabulary.urgent.has(bare(words[0] ?? ''));
    if (!isCall || hesitation !== undefined || probability !== undefined) return judgedMs;
    return Math.min(judgedMs, waitMs * (words.length === 1 ? 1 : doubtfulFactor));
  }
  const outweighs = probability !== undefined && probability >= Math.max(completeAt, surelyComplete);
  const hesitant = hesitation === 'surely' || (hesitation === 'perhaps' && !outweighs);
  if (probability === undefined) {
    if (!hesitant) return waitMs;
    return waitMs * (hesitation === 'surely' ? hesitantFactor : doubtfulFactor);
  }
  // The model hears melody, STT knows words: a finished melody does not finish a sentence that ends in "and".
  if (probability >= completeAt) return hesitant ? waitMs : stopMs;
  if (finished) return waitMs;
  const doubt = 1 - probability / completeAt;
  return waitMs + (maxSilenceMs - waitMs) * (hesitant ? 1 : Math.max(0.3, doubt));
}

/**
 * The words without the full stop that STT puts behind anything: "I'm calling because." It is believed unless the last word leads on and,
 * where the model of sentences knows the language, the words have surely only begun.
 */
function withoutFalseStop({ text, asked, vocabulary }: PauseEvidence): string {
  const words = text.replace(/(?<!\.)\.\s*$/u, '');
  // Two words are an answer to many a question: "in der".
  if (words === text || spokenWords(words).length <= 2 || hesitationAt(words, vocabulary) !== 'surely')
    return text;
  if (!vocabulary.isLearned) return words;
  const whole = completeness(words, { answers: endsInQuestion(asked) });
  return whole !== undefined && whole < surelyBegun ? words : text;
}

const endsInQuestion = (asked: string): boolean => /[?？]\s*$/u.test(asked);

/** Words of which is known how likely they are whole, alone or with the melody. */
function byWords(
  whole: number,
  { probability: melody, patienceMs }: PauseEvidence,
  { stopMs, silenceEndMs, maxSilenceMs, completeAt }: TurnSettings,
): Millis {
  if (melody === undefined) {
    if (whole >= perhapsWhole && patienceMs === 0) return stopMs + (silenceEndMs - stopMs) * wholeShare;
    const begun = Math.max(0, 1 - whole / perhapsWhole) ** 2;
    return (silenceEndMs + patienceMs) * (1 + (begunFactor - 1) * begun);
  }
  const odds = oddsOf(whole) * (oddsOf(melody) / oddsOf(completeAt)) ** melodyWeight;
  const both = odds / (1 + odds);
  if (both >= endsAt) return stopMs;
  return stopMs + (maxSilenceMs - stopMs) * (1 - both / endsAt) + patienceMs;
}

/** Neither words nor melody are ever surer than this. */
const surest = 0.98;
const oddsOf = (probability: number): number => {
  const within = Math.min(Math.max(probability, 1 - surest), surest);
  return within / (1 - within);
};

/** A caller who went on this soon after a decision had not finished. */
const falseEndMs = 1_500;
const patienceStepMs = 250;
const maxPatienceMs = 1_000;
/** Turns in a row that were rightly ended before the patience goes down by a step. */
const calmTurns = 3;

/** What the call has learned of its caller's pauses. */
export interface Patience {
  extraMs: Millis;
  calm: number;
  /** When the newest turn was decided; undefined once what followed it has been judged. */
  decidedAt: Millis | undefined;
}

export const newPatience = (): Patience => ({ extraMs: 0, calm: 0, decidedAt: undefined });

export function noteDecision(patience: Patience, now: Millis): void {
  patience.decidedAt = now;
}

/** The caller speaks again, and nothing of an answer was audible yet. */
export function noteSpeechAfterDecision(patience: Patience, now: Millis): void {
  const { decidedAt } = patience;
  patience.decidedAt = undefined;
  if (decidedAt === undefined || now - decidedAt > falseEndMs) return;
  patience.calm = 0;
  patience.extraMs = Math.min(maxPatienceMs, patience.extraMs + patienceStepMs);
}

/** The answer is audible and the caller had not gone on: the end was an end. */
export function noteRightEnd(patience: Patience): void {
  if (patience.decidedAt === undefined) return;
  patience.decidedAt = undefined;
  patience.calm += 1;
  if (patience.calm < calmTurns) return;
  patience.calm = 0;
  patience.extraMs = Math.max(0, patience.extraMs - patienceStepMs);
}

export const patienceCodec = record<Patience>({ extraMs: number, calm: number, decidedAt: maybe(time) });
