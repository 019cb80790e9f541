/** Which calls are meant, in the options of a command. Pure. */
import { present } from '../../../shared/base/present.ts';
import { fail, ok, type Result } from '../../../shared/base/result.ts';
import { callEndCodes } from '../../../shared/calls/ends.ts';
import type { CallQuery, CallerData } from '../../../shared/calls/query.ts';
import type { Arguments } from '../commands.ts';

type Options = Arguments<'calls export'>['values'];

const units = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Milliseconds since 1970 of `2026-11-28`, `2026-11-28T08:00` or, before now, `7d`; a time without a zone is UTC. */
function timeIn(text: string, now: number): number | undefined {
  const [, amount, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  if (amount !== undefined) return now - Number(amount) * units[unit as keyof typeof units];
  if (!/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})?)?$/.test(text))
    return undefined;
  const ms = Date.parse(/T.*(Z|[+-]\d{2}:\d{2})$|^[^T]*$/.test(text) ? text : `${text}Z`);
  return Number.isNaN(ms) ? undefined : ms;
}

const numberIn = (text: string): number | undefined =>
  /^\d{1,12}(\.\d{1,6})?$/.test(text) ? Number(text) : undefined;

const entryIn = (text: string): CallQuery['metadata'] => {
  const at = text.indexOf('=');
  return at < 1 ? undefined : { key: text.slice(0, at), value: text.slice(at + 1) };
};

interface Read<T> {
  readonly of: (text: string) => T | undefined;
  readonly rule: string;
}

/** An error names the option and the rule. */
export function queryOf(values: Options, now: number): Result<CallQuery, string> {
  const wrong: string[] = [];
  const read = <T>(name: keyof Options, { of, rule }: Read<T>): T | undefined => {
    const text = values[name];
    if (typeof text !== 'string') return undefined;
    const value = of(text);
    if (value === undefined) wrong.push(`--${name}: must be ${rule}`);
    return value;
  };
  const time = {
    of: (text: string) => timeIn(text, now),
    rule: 'a time such as 2026-11-28, 2026-11-28T08:00Z or 24h',
  };
  const code = {
    of: (text: string) => callEndCodes.find((one) => one === text),
    rule: `one of ${callEndCodes.join(', ')}`,
  };
  const query = present({
    since: read('since', time),
    before: read('before', time),
    agent: values.agent,
    tenant: values.tenant,
    code: read('end', code),
    outcome: values.outcome,
    minCost: read('min-cost', { of: numberIn, rule: 'a number' }),
    slowerThanMs: read('slower-than', { of: numberIn, rule: 'a number of milliseconds' }),
    isFaulty: values.faulty === true ? (true as const) : undefined,
    number: values.number,
    metadata: read('metadata', { of: entryIn, rule: 'KEY=VALUE' }),
    text: read('text', {
      of: (text) => (/[\p{L}\p{N}]/u.test(text) ? text : undefined),
      rule: 'words to look for',
    }),
  });
  const [first] = wrong;
  return first === undefined ? ok(query) : fail(first);
}

/** Reads which caller's calls are erased; an error says what is missing. */
export function callerOf({
  number,
  metadata,
  tenant,
}: Arguments<'calls erase'>['values']): Result<CallerData, string> {
  if ((number === undefined) === (metadata === undefined))
    return fail('either --number or --metadata must be given');
  const of = present({ tenant });
  if (number !== undefined) return ok({ number, ...of });
  const entry = entryIn(metadata ?? '');
  return entry === undefined ? fail('--metadata: must be KEY=VALUE') : ok({ metadata: entry, ...of });
}
