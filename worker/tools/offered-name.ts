/** Names as every LLM interface takes them, for tools and arguments that have others. */
import { createHash } from 'node:crypto';

export interface NameRules {
  readonly fits: RegExp;
  /** Whether something else has the name already. */
  readonly isTaken: (name: string) => boolean;
}

/** Of a tool: letters, digits, `_` and `-`, at most 64 of them. */
export const fitsTool = /^[A-Za-z0-9_-]{1,64}$/;
const longest = 64;

/**
 * The name itself where it fits; else one that reads like it, and is always the same for the same name among the same others. A mark of the
 * whole name stands behind one that is taken, cut or unreadable.
 */
export function offeredName(name: string, { fits, isTaken }: NameRules): string {
  if (fits.test(name)) return name;
  const plain = name
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(/[^A-Za-z0-9_-]+/g, '_');
  if (plain.length <= longest && /[A-Za-z0-9]/.test(plain) && !isTaken(plain)) return plain;
  const mark = createHash('sha256').update(name).digest('hex').slice(0, 8);
  return `${plain.slice(0, longest - mark.length - 1)}_${mark}`;
}
