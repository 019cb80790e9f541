/**
 * Reads the caller's answer to a question that asks for a yes. Only a clear yes is one, and the whole answer decides: what is hedged,
 * asked back, changed, told meanwhile or said beside the point is unclear, because the call that waits for it changes the world
 * (docs/tools.md, Read-only tools and side effects). Pure; the words for yes and no come from the agent file or the language.
 */
import { answeredWords } from '../../shared/languages/spelling.ts';
import type { Answers } from '../../shared/languages/vocabulary.ts';
import { parseJson } from '../../shared/base/exact-json.ts';

export interface ConfirmationWords {
  /** In lower case; the first one may be followed by a few more words. */
  readonly yes: readonly string[];
  /** In lower case. */
  readonly no: readonly string[];
}

type Words = readonly string[];

/** Words of the order that may follow a firm yes. */
const mostAfterYes = 4;

const startsWith = (words: Words, phrase: Words): boolean =>
  phrase.length > 0 && phrase.every((word, index) => words[index] === word);

/** The longest phrase at the start of the words. */
function leading(words: Words, phrases: readonly Words[]): Words | undefined {
  let found: Words | undefined;
  for (const phrase of phrases)
    if (startsWith(words, phrase) && phrase.length > (found?.length ?? 0)) found = phrase;
  return found;
}

const lengthAt = (words: Words, at: number, phrases: readonly Words[]): number =>
  leading(words.slice(at), phrases)?.length ?? 0;

const holds = (words: Words, phrases: readonly Words[]): boolean =>
  words.some((_, index) => leading(words.slice(index), phrases) !== undefined);

function without(words: Words, phrases: readonly Words[]): string[] {
  const left: string[] = [];
  for (let index = 0; index < words.length;) {
    const phrase = leading(words.slice(index), phrases);
    const word = words[index];
    if (phrase === undefined && word !== undefined) left.push(word);
    index += phrase?.length ?? 1;
  }
  return left;
}

/** A call that waits for the caller's word; `arguments` is JSON text. */
export interface AskedCall {
  readonly name: string;
  readonly arguments: string;
}

type Reading = 'yes' | 'no' | 'unclear';

/** An answer in words, and which of them agree and refuse. */
interface Said {
  readonly answer: string;
  readonly all: Words;
  readonly agreed: readonly Words[];
  readonly agreeing: readonly Words[];
  readonly refused: readonly Words[];
}

/** What the answer means; `unclear` is never a yes. `asked` are the calls that a yes would run. */
export function readConfirmation(
  answer: string,
  { yes, no }: ConfirmationWords,
  known: Answers,
  asked: readonly AskedCall[] = [],
): Reading {
  const phrases = (list: Words): Words[] => list.map((phrase) => answeredWords(phrase, known.language));
  const agreed = phrases(yes);
  const said: Said = {
    answer,
    all: without(answeredWords(answer, known.language), known.noRefusal),
    agreed,
    agreeing: [...agreed, ...known.accepts, ...known.wishes],
    refused: phrases(no),
  };
  return readUndoing(said, known, asked) ?? readPlain(said, known);
}

function readPlain({ answer, all, agreed, agreeing, refused }: Said, known: Answers): Reading {
  const { wishes, courtesies: polite, light } = known;
  const own = fromLead(all, { agreeing, polite, light });
  if (holds(all, refused)) {
    const [assent, refusal] = [leading(own, agreed)?.length ?? 0, leading(own, refused)?.length ?? 0];
    // "Please do not": the refusal takes a word of the assent.
    const isCut = own.slice(0, assent).some((_, at) => at + lengthAt(own, at, refused) > assent);
    if (isCut) return 'no';
    return assent === 0 || refusal > assent ? 'no' : 'unclear';
  }
  if (leading(own, agreeing) === undefined || isAsking(answer, known)) return 'unclear';
  const rest = without(own, [...agreeing, ...polite]);
  if (isDoubted(rest, known)) return 'unclear';
  if (rest.every((word) => light.has(word))) return 'yes';
  if (holds(own, wishes)) return 'unclear';
  const isAgreed = (phrase: Words): boolean => isAmong(phrase, agreed);
  const firm = known.firm.find(({ words }) => leading(own, words.filter(isAgreed)) !== undefined);
  const isOwn = leading(own, agreed.slice(0, 1)) !== undefined;
  return (firm !== undefined || isOwn) && isOrder(rest, firm?.order, known) ? 'yes' : 'unclear';
}

const isAmong = (phrase: Words, phrases: readonly Words[]): boolean =>
  phrases.some((one) => one.join(' ') === phrase.join(' '));

/** The answer asks something. "Why not?" asks nothing. */
const isAsking = (answer: string, { noRefusal, language }: Answers): boolean =>
  answer
    .split(/[?？؟]/u)
    .slice(0, -1)
    .map((part) => answeredWords(part, language))
    .some((words) => !noRefusal.some((phrase) => isAmong(words.slice(-phrase.length), [phrase])));

const isDoubted = (words: Words, { doubting }: Answers): boolean =>
  words.some((word) => doubting.has(word) || /\p{N}/u.test(word));

/** How an answer calls something off. */
interface Undoing {
  readonly said: readonly Words[];
  readonly clear: readonly Words[];
  /** All calls that are asked about do just that, or one of them does. */
  readonly isAsked: boolean;
  readonly isPart: boolean;
}

/** "Cancel it" is a no, unless the tool cancels something. Undefined: the answer says so in other words, or refuses. */
function readUndoing(said: Said, known: Answers, asked: readonly AskedCall[]): Reading | undefined {
  const { answer, all, agreed, refused } = said;
  const rows = known.undoing.filter((row) => holds(all, [...row.said, ...row.clear]));
  if (rows.length === 0) return undefined;
  const does = (call: AskedCall): boolean => rows.some(({ tool }) => tool.test(wordsOf(call)));
  const undoing: Undoing = {
    said: rows.flatMap((row) => row.said),
    clear: rows.flatMap((row) => row.clear),
    isAsked: asked.length > 0 && asked.every(does),
    isPart: asked.some(does),
  };
  const otherwise = refused.filter((phrase) => !isAmong(phrase, undoing.said));
  if (holds(all, otherwise)) {
    // "No, cancel it."
    const [first = '', ...parts] = answer.split(/[,.;:!]/u);
    const last = answeredWords(parts.join(' '), known.language);
    const isTurned = isAmong(answeredWords(first, known.language), refused) && !holds(last, otherwise);
    return isTurned && undoing.isPart && holds(last, undoing.said) ? 'unclear' : undefined;
  }
  if (undoing.isAsked) return isWished(said, undoing, known, asked) ? 'yes' : 'unclear';
  // "Please cancel it, yes": the question, or something else.
  return holds(all, refused) && holds(all, agreed) ? 'unclear' : undefined;
}

/** The whole answer wants done what the tool does: with a yes, or by the thing that is meant. "Cancel" and "cancel that" may mean the question. */
function isWished(
  { answer, all, agreed, agreeing }: Said,
  { said, clear }: Undoing,
  known: Answers,
  asked: readonly AskedCall[],
): boolean {
  const { courtesies: polite, light, tellers, told, accepts } = known;
  const meant = [...said, ...clear];
  const plain = (words: Words): Words =>
    without(words, [...meant, ...agreeing, ...polite]).filter((word) => !light.has(word));
  const at = all.findIndex((_, index) => leading(all.slice(index), meant) !== undefined);
  const [before, behind] = [plain(all.slice(0, at)), plain(all.slice(at))];
  if (isAsking(answer, known) || isDoubted([...before, ...behind], known)) return false;
  // "Cancel my booking", but not "I cancel bookings".
  const isTold = (word: string): boolean => tellers.has(word) || told.some((ending) => ending.test(word));
  const hasObject = isAmong(leading(all.slice(at), meant) ?? [], said);
  if (before.some(isTold) || behind.slice(hasObject ? 1 : 0).some((word) => tellers.has(word))) return false;
  if (before.length + behind.length > mostAfterYes) return false;
  if (holds(without(all, meant), [...agreed, ...accepts]) || holds(all, clear)) return true;
  const names = asked.flatMap((call) => wordsOf(call).split(' '));
  return before.length === 0 && behind.some((word) => word.length > 3 && names.includes(word));
}

/** The words of a tool's name, and arguments of one word, such as the "cancel" of an action. */
function wordsOf({ name, arguments: text }: AskedCall): string {
  const parts = name.replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2').split(/[^\p{L}]+/u);
  const given: unknown[] = Object.values(parseJson(text === '' ? '{}' : text) ?? {});
  const words = given.filter((value) => typeof value === 'string' && /^\p{L}{3,24}$/u.test(value));
  return [...parts, ...words].join(' ').toLowerCase();
}

/** The words from the first that mean something. "That is right" begins with words that mean nothing elsewhere. */
function fromLead(
  words: Words,
  {
    agreeing,
    polite,
    light,
  }: {
    readonly agreeing: readonly Words[];
    readonly polite: readonly Words[];
    readonly light: ReadonlySet<string>;
  },
): Words {
  let own = words;
  while (own.length > 0 && leading(own, agreeing) === undefined) {
    const skipped = leading(own, polite)?.length ?? (light.has(own[0] ?? '') ? 1 : 0);
    if (skipped === 0) break;
    own = own.slice(skipped);
  }
  return own;
}

/**
 * What follows a yes may say once more what is to be done: "yes, book the table". In a language of an agent file nobody knows how an order
 * looks.
 */
function isOrder(
  rest: Words,
  shape: RegExp | undefined,
  { light, openers, tellers, told }: Answers,
): boolean {
  const said = rest.filter((word) => !light.has(word));
  if (said.length > mostAfterYes || openers.has(rest[0] ?? '')) return false;
  if (rest.some((word) => tellers.has(word) || told.some((ending) => ending.test(word)))) return false;
  return shape?.test(said.join(' ')) ?? true;
}
