/**
 * What callers say to an order line: what there is, how much they want of it, and that it is all.
 *
 * Invariant: pure, over lower-case words. It knows no prices and keeps no order: those are the business of the program that offers the tools.
 */
import { dishes, names } from './domain.ts';
import { toNumber } from './spoken-values.ts';

/** What the caller of an order line wants. */
export type Wish =
  | { readonly kind: 'menu' }
  | { readonly kind: 'dish'; readonly item: string; readonly count: number }
  | { readonly kind: 'recap' }
  | { readonly kind: 'finish' };

const amountBefore = (words: readonly string[], at: number): number =>
  toNumber(words[at - 1]) ?? toNumber(words[at - 2]) ?? 1;

export function findWish(words: readonly string[]): Wish | undefined {
  const text = words.join(' ');
  const at = words.findIndex((word) => word in dishes);
  const item = dishes[words[at] ?? ''];
  if (item !== undefined) {
    const isUnwanted = /\b(no|without|remove)\b/.test(text);
    return { kind: 'dish', item, count: isUnwanted ? 0 : amountBefore(words, at) };
  }
  if (/\bmenu\b|\b(to|can i|could i) order\b/.test(text)) return { kind: 'menu' };
  if (/\brepeat (the|my) order\b/.test(text)) return { kind: 'recap' };
  if (/\bplace (the|my|an) order\b/.test(text)) return { kind: 'finish' };
  return undefined;
}

/** The name that an order is for, with a capital; any one word counts where a name was asked for. */
export function findName(words: readonly string[]): string | undefined {
  const known = words.find((word) => names.some((name) => name === word));
  const found =
    known ?? /(?:name is|^it's|^for) (\w+)$/.exec(words.join(' '))?.[1] ?? words[words.length === 1 ? 0 : -1];
  return found === undefined ? undefined : found.charAt(0).toUpperCase() + found.slice(1);
}
