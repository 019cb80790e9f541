import { isExactNumber } from './exact-json.ts';

/** Whether objects and arrays lie more than so many levels within one another. A value that is does not cost a stack to find out. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null || isExactNumber(value)) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeperThan(inner, levels - 1));
}
