/** Numbers as they are written, compared digit by digit: a `number` takes 9007199254740993 for 9007199254740992, and 4.35 for no multiple of 0.01. */
import { isExactNumber, unmarkedNumber, type ExactNumber } from './exact-json.ts';

export type Written = number | ExactNumber;

export const isWritten = (value: unknown): value is Written =>
  typeof value === 'number' || isExactNumber(value);

/** `digits` times ten to the power of `exponent`; the digits neither begin nor end with a zero, and those of zero are none. */
interface Decimal {
  readonly sign: number;
  readonly digits: string;
  readonly exponent: number;
}

function decimalOf(value: Written): Decimal {
  const [, minus, whole = '', fraction = '', power = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(String(value)) ?? [];
  const all = `${whole}${fraction}`.replace(/^0+/, '');
  const digits = all.slice(0, endOf(all));
  if (digits === '') return { sign: 0, digits, exponent: 0 };
  const exponent = Number(power) - fraction.length + all.length - digits.length;
  return { sign: minus === '-' ? -1 : 1, digits, exponent };
}

/** The index at which the zeros at the end begin. */
function endOf(digits: string): number {
  let end = digits.length;
  while (end > 0 && digits[end - 1] === '0') end -= 1;
  return end;
}

/** Equal for numbers of one value, however they are written. */
export function numberKey(value: Written): string {
  const { sign, digits, exponent } = decimalOf(value);
  return `${sign < 0 ? '-' : ''}${digits}e${exponent}`;
}

/** Below, equal to or above 0 as the first is below, equal to or above the second. */
export function compareNumbers(one: Written, other: Written): number {
  const [a, b] = [decimalOf(one), decimalOf(other)];
  if (a.sign !== b.sign || a.sign === 0) return Math.sign(a.sign - b.sign);
  const sizes = a.digits.length + a.exponent - (b.digits.length + b.exponent);
  if (sizes !== 0) return a.sign * Math.sign(sizes);
  // Both begin at the same place, and what one of them lacks are zeros.
  if (a.digits === b.digits) return 0;
  return a.sign * (a.digits < b.digits ? -1 : 1);
}

/** Whether the first is a whole number of times the second, which is above zero. */
export function isMultipleOf(value: Written, step: Written): boolean {
  const [whole, part] = [decimalOf(value), decimalOf(step)];
  if (whole.sign === 0) return true;
  // Its last digit is no zero, so that it is no multiple of ten times anything.
  if (part.digits === '' || whole.exponent < part.exponent) return false;
  const divisor = BigInt(part.digits);
  return (BigInt(whole.digits) * tenTo(whole.exponent - part.exponent, divisor)) % divisor === 0n;
}

/** The rest of ten to that power: the power itself may have a billion digits. */
function tenTo(power: number, divisor: bigint): bigint {
  let rest = 1n;
  let square = 10n % divisor;
  for (let left = power; left >= 1; left = Math.floor(left / 2)) {
    if (left % 2 === 1) rest = (rest * square) % divisor;
    square = (square * square) % divisor;
  }
  return rest % divisor;
}

/** The same value with plain numbers wherever they are the same number, and with exact ones where a plain one would be another. */
export function exactWhereNeeded(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(exactWhereNeeded);
  if (typeof value !== 'object' || value === null) return value;
  const exact = isExactNumber(value) ? value : unmarkedNumber(value);
  if (exact === undefined)
    return Object.fromEntries(Object.entries(value).map(([key, held]) => [key, exactWhereNeeded(held)]));
  const plain = Number(exact.value);
  return numberKey(plain) === numberKey(exact) ? plain : exact;
}
