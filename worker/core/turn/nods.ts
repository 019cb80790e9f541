/**
 * Nods that no list of phrases holds: "oh that's good to know". Lists cannot end, so a few words are judged by what they are made of. Every
 * word must be one that nods are made of, and one of them must say something; a name, a number, a wish or a refusal is none of these. Shapes
 * have a place for words of which nothing is known: "what a lovely tie".
 */
import { bare } from '../../../shared/languages/spelling.ts';
import {
  anyWord,
  stemOf,
  type Nods,
  type Phrase,
  type Shape,
  type Vocabulary,
} from '../../../shared/languages/vocabulary.ts';
import { isSoundOfListening, listeningAt, type Listening } from './backchannels.ts';

/** More words than this have something to say. */
const longestNod = 7;

export interface NodEvidence {
  /** What the caller says, without the agent's echo. */
  readonly words: readonly string[];
  /** STT writes it as a question. */
  readonly isQuestion: boolean;
  /** The agent asks something, which any word may answer. */
  readonly isAsked: boolean;
  /** More words are on their way, and the last one may be cut short. */
  readonly unfinished: boolean;
  /** The agent stands still, so that a question word may turn out to exclaim: "how" to begin "how nice". */
  readonly patient: boolean;
}

/** The caller says no more than that the agent may go on. */
export function listensOn(
  evidence: NodEvidence,
  { nods, numbers: { values } }: Vocabulary,
  listening: Listening,
): boolean {
  const { words, isAsked } = evidence;
  if (words.length === 0 || words.length > longestNod || isAsked) return false;
  return nods.some((one) => isNod(evidence, one, { listening, values }));
}

/** What was asked so shortly before is still being answered. */
const askedWithinChars = 60;

/** The agent asks something in the sentence that goes on at the place `at` of its text, or has just asked it. */
export function asksAt(text: string, at: number): boolean {
  const [rest = ''] = /^[^.?!。！？।]*[.?!。！？।]?/u.exec(text.slice(at)) ?? [];
  return /[?？]/u.test(text.slice(Math.max(0, at - askedWithinChars), at) + rest);
}

export const isQuestion = (text: string): boolean => /[?？]\s*$/u.test(text);

/** How many words from `at` on belong to a nod, and whether they say something. */
interface Part {
  readonly length: number;
  readonly says: boolean;
}

/** What else of the call's words is known. */
interface Known {
  readonly listening: Listening;
  /** Words of numbers. */
  readonly values: ReadonlyMap<string, number>;
}

function isNod(evidence: NodEvidence, nods: Nods, known: Known): boolean {
  const { listening } = known;
  const { words, unfinished } = evidence;
  let says = false;
  // Behind a "yes" a sentence begins as it does without it: "yes, is it good".
  let begins = 0;
  for (let at = 0; at < words.length;) {
    const part: Part | undefined =
      phraseAt(evidence, at, { nods, known, begins, mayShape: says || at === begins }) ??
      (evidence.isQuestion ? undefined : wordAt(evidence, at, { nods, begins }));
    if (part === undefined) return false;
    says ||= part.says;
    if (begins === at && listeningAt(words, at, listening) === part.length) begins += part.length;
    at += part.length;
  }
  return says || unfinished;
}

function phraseAt(
  evidence: NodEvidence,
  at: number,
  {
    nods,
    known,
    begins,
    mayShape,
  }: { readonly nods: Nods; readonly known: Known; readonly begins: number; readonly mayShape: boolean },
): Part | undefined {
  const { words, isQuestion: asks, unfinished, patient } = evidence;
  const { listening } = known;
  const first = words[at] ?? '';
  const mayBegin = unfinished && (patient || !listening.urgent.has(bare(first)));
  const fits = (phrase: Phrase): boolean =>
    phrase.every((word, index) => word === words[at + index]) ||
    (mayBegin && words.slice(at).every((word, index) => word === phrase[index]));
  // "Nicht wahr" wonders, and "das ist nicht wahr" objects.
  const wonders = at === begins || !listening.urgent.has(bare(first));
  const phrases = [wonders ? nods.wondering : [], asks ? [] : nods.phrases];
  const found = phrases.map((some) => some.find(fits)?.length ?? 0);
  const shape = asks || !mayShape ? 0 : shapeAt(evidence, at, { nods, known });
  const length = Math.max(listeningAt(words, at, listening), shape, ...found);
  if (length > 0) return { length: Math.min(length, words.length - at), says: true };
  return isSoundOfListening(first) ? { length: 1, says: false } : undefined;
}

/** How many words from `at` on are a nod by its shape, whatever stands in its open places: "what a shame". */
function shapeAt(
  { words, unfinished, patient }: NodEvidence,
  at: number,
  { nods, known: { listening, values } }: { readonly nods: Nods; readonly known: Known },
): number {
  const { urgent } = listening;
  const said = words.slice(at);
  const mayBegin = unfinished && (patient || !urgent.has(bare(said[0] ?? '')));
  const asks = (word: string): boolean =>
    /\d/u.test(word) || values.has(word.replaceAll('-', '')) || urgent.has(bare(word));
  const fits = (shape: Shape): boolean =>
    (said.length >= shape.length || mayBegin) &&
    // "How bad is it" asks, whatever "how bad" does.
    !nods.inverting.has(said[shape.length] ?? '') &&
    shape.every((part, index) => {
      const word = said[index];
      if (word === undefined || part === word) return true;
      if (typeof part === 'string' || !part.test(word) || asks(word)) return false;
      return part === anyWord || !nods.telling.test(word);
    });
  return Math.min(nods.shapes.find(fits)?.length ?? 0, said.length);
}

/** The word is of the core, in any of its endings. */
const saysIn = (word: string, { core, stems, inflection }: Nods): boolean =>
  core.has(word) || stems.has(stemOf(word, inflection) ?? '');

function wordAt(
  { words, unfinished, patient }: NodEvidence,
  at: number,
  { nods, begins }: { readonly nods: Nods; readonly begins: number },
): Part | undefined {
  const word = words[at] ?? '';
  const after = words.slice(at + 1);
  const isLast = unfinished && after.length === 0;
  const isCore = saysIn(word, nods);
  const mayInvert = at === 0 || (at === begins && !isCore);
  if (mayInvert && nods.inverting.has(word) && !isLast) return undefined;
  if (isCore) return { length: 1, says: true };
  // "How nice of you" exclaims; "how is it" asks.
  const mayExclaim =
    unfinished && patient && after.every((one) => nods.exclaiming.has(one) || nods.light.has(one));
  const exclaims = mayExclaim || after.some((one) => saysIn(one, nods));
  const isExclaiming = nods.exclaiming.has(word) && !nods.inverting.has(after[0] ?? '') && exclaims;
  if (nods.light.has(word) || isExclaiming) return { length: 1, says: false };
  const mayBecome = (whole: string): boolean => whole.startsWith(word);
  return isLast && word.length > 2 && [...nods.core].some(mayBecome) ? { length: 1, says: false } : undefined;
}
