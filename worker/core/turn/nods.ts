/**
 * Nods that no list of phrases holds: "oh that's good to know". Lists cannot end, so a few words are judged by what they are made of. Every
 * word must be one that nods are made of, and one of them must say something; a name, a number, a wish or a refusal is none of these.
 */
import { bare } from '../../../shared/languages/spelling.ts';
import type { Nods, Phrase, Vocabulary } from '../../../shared/languages/vocabulary.ts';
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
export function listensOn(evidence: NodEvidence, { nods }: Vocabulary, listening: Listening): boolean {
  const { words, isAsked } = evidence;
  if (words.length === 0 || words.length > longestNod || isAsked) return false;
  return nods.some((one) => isNod(evidence, one, listening));
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

function isNod(evidence: NodEvidence, nods: Nods, listening: Listening): boolean {
  const { words, unfinished } = evidence;
  let says = false;
  // Behind a "yes" a sentence begins as it does without it: "yes, is it good".
  let begins = 0;
  for (let at = 0; at < words.length;) {
    const part =
      phraseAt(evidence, at, { nods, listening, begins }) ??
      (evidence.isQuestion ? undefined : wordAt(evidence, at, { nods, begins }));
    if (part === undefined) return false;
    says ||= part.says;
    if (begins === at && listeningAt(words, at, listening) === part.length) begins += part.length;
    at += part.length;
  }
  return says || unfinished;
}

function phraseAt(
  { words, isQuestion: asks, unfinished }: NodEvidence,
  at: number,
  {
    nods,
    listening,
    begins,
  }: { readonly nods: Nods; readonly listening: Listening; readonly begins: number },
): Part | undefined {
  const first = words[at] ?? '';
  const mayBegin = unfinished && !listening.urgent.has(bare(first));
  const fits = (phrase: Phrase): boolean =>
    phrase.every((word, index) => word === words[at + index]) ||
    (mayBegin && words.slice(at).every((word, index) => word === phrase[index]));
  // "Nicht wahr" wonders, and "das ist nicht wahr" objects.
  const wonders = at === begins || !listening.urgent.has(bare(first));
  const phrases = [wonders ? nods.wondering : [], asks ? [] : nods.phrases];
  const found = phrases.map((some) => some.find(fits)?.length ?? 0);
  const length = Math.max(listeningAt(words, at, listening), ...found);
  if (length > 0) return { length: Math.min(length, words.length - at), says: true };
  return isSoundOfListening(first) ? { length: 1, says: false } : undefined;
}

function wordAt(
  { words, unfinished, patient }: NodEvidence,
  at: number,
  { nods, begins }: { readonly nods: Nods; readonly begins: number },
): Part | undefined {
  const word = words[at] ?? '';
  const after = words.slice(at + 1);
  const isLast = unfinished && after.length === 0;
  const mayInvert = at === 0 || (at === begins && !nods.core.has(word));
  if (mayInvert && nods.inverting.has(word) && !isLast) return undefined;
  if (nods.core.has(word)) return { length: 1, says: true };
  // "How nice of you" exclaims; "how is it" asks.
  const mayExclaim =
    unfinished && patient && after.every((one) => nods.exclaiming.has(one) || nods.light.has(one));
  const exclaims = mayExclaim || after.some((one) => nods.core.has(one));
  const isExclaiming = nods.exclaiming.has(word) && !nods.inverting.has(after[0] ?? '') && exclaims;
  if (nods.light.has(word) || isExclaiming) return { length: 1, says: false };
  const mayBecome = (whole: string): boolean => whole.startsWith(word);
  return isLast && word.length > 2 && [...nods.core].some(mayBecome) ? { length: 1, says: false } : undefined;
}
