/**
 * Reads the caller's answer to a question that asks for a yes. Only a clear yes is one, and the whole answer decides: what is hedged,
 * asked back, changed, told meanwhile or said beside the point is unclear, because the call that waits for it changes the world
 * (docs/tools.md, Read-only tools and side effects). Pure; the words for yes and no come from the agent file or the language.
 */
import { answeredWords } from '../../shared/languages/spelling.ts';
import type { Answers } from '../../shared/languages/vocabulary.ts';

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

/** What the answer means; `unclear` is never a yes. */
export function readConfirmation(
  answer: string,
  { yes, no }: ConfirmationWords,
  known: Answers,
): 'yes' | 'no' | 'unclear' {
  const { language, accepts, wishes, courtesies: polite, noRefusal, light, doubting } = known;
  const phrases = (list: Words): Words[] => list.map((phrase) => answeredWords(phrase, language));
  const all = without(answeredWords(answer, language), noRefusal);
  const [agreed, refused] = [phrases(yes), phrases(no)];
  const agreeing = [...agreed, ...accepts, ...wishes];
  const own = fromLead(all, { agreeing, polite, light });
  if (holds(all, refused)) {
    const [assent, refusal] = [leading(own, agreed)?.length ?? 0, leading(own, refused)?.length ?? 0];
    return assent === 0 || refusal > assent ? 'no' : 'unclear';
  }
  if (leading(own, agreeing) === undefined || answer.includes('?')) return 'unclear';
  const rest = without(own, [...agreeing, ...polite]);
  if (rest.some((word) => doubting.has(word) || /\p{N}/u.test(word))) return 'unclear';
  if (rest.every((word) => light.has(word))) return 'yes';
  if (holds(own, wishes)) return 'unclear';
  const isAgreed = (phrase: Words): boolean => agreed.some((one) => one.join(' ') === phrase.join(' '));
  const firm = known.firm.find(({ words }) => leading(own, words.filter(isAgreed)) !== undefined);
  const isOwn = leading(own, agreed.slice(0, 1)) !== undefined;
  return (firm !== undefined || isOwn) && isOrder(rest, firm?.order, known) ? 'yes' : 'unclear';
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
