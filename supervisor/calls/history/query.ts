/** A question of the history page, as its address has it, and the part of a recording that its `Range` asks for. Pure. */
import { fail, ok, type Result } from '../../../shared/base/result.ts';
import { callEndCodes } from '../../../shared/calls/ends.ts';
import type { CallQuery } from '../../../shared/calls/query.ts';

const longestText = 200;
const mostRows = 500;

type Parameter = (value: string) => Result<Partial<CallQuery>, string>;

const text =
  (key: 'agent' | 'tenant' | 'outcome' | 'number' | 'text' | 'cursor'): Parameter =>
  (value) =>
    value.length <= longestText ? ok({ [key]: value }) : fail(`has at most ${longestText} characters`);

const whole =
  (key: 'since' | 'before' | 'slowerThanMs' | 'limit', most = Number.MAX_SAFE_INTEGER): Parameter =>
  (value) =>
    /^\d{1,16}$/.test(value) && Number(value) <= most
      ? ok({ [key]: Number(value) })
      : fail(`must be a whole number, at most ${most}`);

/** By name. Times are milliseconds since 1970. */
const parameters: Readonly<Record<string, Parameter>> = {
  since: whole('since'),
  before: whole('before'),
  agent: text('agent'),
  tenant: text('tenant'),
  code: (value) => {
    const code = callEndCodes.find((one) => one === value);
    return code === undefined ? fail(`must be one of ${callEndCodes.join(', ')}`) : ok({ code });
  },
  outcome: text('outcome'),
  min_cost: (value) =>
    /^\d{1,9}([.]\d{1,9})?$/.test(value)
      ? ok({ minCost: Number(value) })
      : fail('must be an amount such as 0.25'),
  slower_ms: whole('slowerThanMs'),
  faulty: (value) => (value === '1' ? ok({ isFaulty: true }) : fail('must be 1')),
  number: text('number'),
  text: text('text'),
  cursor: text('cursor'),
  limit: whole('limit', mostRows),
};

/** A fault names the parameter and the rule. */
export function readQuery(search: URLSearchParams): Result<CallQuery, string> {
  let query: CallQuery = {};
  for (const [name, value] of search) {
    const read = Object.hasOwn(parameters, name) ? parameters[name]?.(value) : undefined;
    if (read === undefined) return fail(`a parameter is not one of ${Object.keys(parameters).join(', ')}`);
    if (!read.ok) return fail(`${name} ${read.error}`);
    query = { ...query, ...read.value };
  }
  return ok(query);
}

export interface ByteRange {
  readonly from: number;
  /** Behind the last one. Not behind `from`: there is nothing of what was asked for. */
  readonly to: number;
}

/** The bytes that `Range` asks for (RFC 9110, 14.1.2). Undefined where the whole is to be sent: several ranges at once, or a header of another form, count as none. */
export function readRange(header: string | undefined, size: number): ByteRange | undefined {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? [];
  if (first === '') return last === '' ? undefined : { from: Math.max(0, size - Number(last)), to: size };
  if (last !== '' && Number(last) < Number(first)) return undefined;
  return { from: Number(first), to: last === '' ? size : Math.min(size, Number(last) + 1) };
}
