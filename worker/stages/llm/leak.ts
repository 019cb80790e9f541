/** What rules about leaks of a model's own form have in common: what they look at, and what they say of it. Pure. */
import { bracketEnd, openBrackets, type OfferedTools } from './leaked-calls.ts';

/** `no`: it is speech. `wait`: more text tells. */
export type Verdict = 'no' | 'wait' | Leak;

export interface Leak {
  /** How much is left out at once. */
  readonly chars: number;
  /** Everything up to one of these is left out as well; to the end of the answer where there is none. */
  readonly until?: readonly string[];
  /** It may hold calls, beginning with its own first characters. */
  readonly holdsCalls?: boolean;
  /** The end of thoughts. */
  readonly endsThoughts?: boolean;
}

export interface Site {
  /** From the place in question on. */
  readonly text: string;
  /** No more text comes. */
  readonly ended: boolean;
  /** Nothing was said before. */
  readonly isFirst: boolean;
  readonly startsSentence: boolean;
  readonly startsLine: boolean;
  readonly tools: OfferedTools;
}

/** Nothing that may be a call is longer, and no more text is held back for one. */
export const longestChars = 16_384;
export const longestTag = 240;

export type Rule = (site: Site) => Verdict;

export function ruled(site: Site, rules: readonly Rule[]): Verdict {
  for (const rule of rules) {
    const verdict = rule(site);
    if (verdict !== 'no') return verdict;
  }
  return 'no';
}

/** What has begun and may be a leak: all of it where no more comes. */
export const begun = ({ text, ended }: Site, holdsCalls = false): Verdict =>
  ended ? { chars: text.length, holdsCalls } : 'wait';

export const mayBegin = (names: readonly string[], text: string): boolean =>
  names.some((name) => name.startsWith(text));

/** Everything within the bracket that is open, where it is a call; models forget to close it at the end of what they say. */
export function groupAt(site: Site, isCall: (whole: string) => boolean, from = 0): Verdict {
  const { text, ended } = site;
  const end = bracketEnd(text, from);
  if (end === undefined && !ended) return text.length > longestChars ? 'no' : 'wait';
  const group = text.slice(from, end);
  const isOne = isCall(end === undefined ? group + openBrackets(group) : group);
  return isOne ? { chars: end ?? text.length, holdsCalls: true } : 'no';
}
