/**
 * `[telephony]` of the agent file: named destinations, transfers and the collection of keys (docs/reference/agent-file.md, `[telephony]`). Numbers
 * are sensitive: they stand in no message, prompt or log.
 */
import * as z from 'zod';
import type { ProblemList } from '../config/problem.ts';
import { Sensitive } from '../config/sensitive.ts';
import { readTable } from '../config/table.ts';
import type { BuiltInTexts } from '../config/agent/texts.ts';

const phoneNumber = z.string().regex(/^\+[0-9]{8,15}$/, 'must be an E.164 number: + and 8 to 15 digits');
const destinationName = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, _ or -');

export const dtmfKeys = z.strictObject({
  collect: z.boolean().default(true).meta({ description: 'Whether key presses reach the conversation.' }),
  terminator: z
    .string()
    .regex(/^[0-9*#A-D]?$/, 'must be one key of 0-9 * # A-D, or empty for none')
    .default('#')
    .meta({ description: 'Key that ends an entry; empty: none does.' }),
  max_digits: z.int().min(1).max(64).default(20).meta({
    description: 'An entry ends after this many keys; a terminator behind them is a lone one.',
    unit: 'keys',
  }),
  inter_digit_ms: z.int().min(100).max(60_000).default(3000).meta({
    description:
      'An entry ends when no further key follows for this long; what is said meanwhile is answered with it.',
  }),
  lone_terminator: z.boolean().default(true).meta({
    description: 'Whether the terminator alone is an entry of its own.',
  }),
  note: z
    .string()
    .max(1000)
    .regex(/\{digits\}/, 'must hold {digits}')
    .exactOptional()
    .meta({
      sample: '[The caller pressed the keys: {digits}]',
      description: 'What the LLM is told of an entry; absent: the text of the language.',
    }),
});

export const telephonyKeys = z.strictObject({
  settle_timeout_ms: z.int().min(0).max(60_000).default(8000).meta({
    description: 'How long a transfer waits for the hand-off sentence to finish.',
  }),
  transfer_timeout_ms: z.int().min(1000).max(300_000).exactOptional().meta({
    sample: 50_000,
    description:
      'How long transfer_call may take in all; more than settle_timeout_ms. Absent: that, 40 s for the carrier, and 2 s.',
  }),
  warm_transfer: z.boolean().default(false).meta({ description: 'Whether warm transfers are offered.' }),
  return_line: z.string().max(1000).exactOptional().meta({
    sample: 'Sorry, nobody could take your call. How can I help?',
    description:
      'Spoken to a caller who comes back from a transfer that came to nothing; absent: the text of the language.',
  }),
  caller_id: phoneNumber.exactOptional().meta({
    sample: '+15550100000',
    description: 'Number that a destination sees.',
  }),
  destinations: z
    .record(destinationName, phoneNumber)
    .default({})
    .meta({
      sample: { billing: '+15550100001' },
      description: 'Names that transfer_call offers, and their numbers; at most 64.',
    }),
  dtmf: dtmfKeys.prefault({}).meta({ description: 'How key presses become entries.' }),
});

export interface DtmfDefinition {
  readonly collect: boolean;
  /** Empty: none. */
  readonly terminator: string;
  readonly maxDigits: number;
  readonly interDigitMs: number;
  readonly loneTerminator: boolean;
  /** The user note of an entry, with `{digits}` where the keys stand (docs/reference/agent-file.md, `[telephony.dtmf]`). */
  readonly note: string;
}

export interface TelephonyDefinition {
  readonly settleTimeoutMs: number;
  /** Of the tool as a whole (docs/reference/agent-file.md, `[telephony]`); absent: what its parts take. */
  readonly transferTimeoutMs?: number;
  readonly warmTransfer: boolean;
  /** Spoken to a caller who comes back from a transfer. */
  readonly returnLine: string;
  readonly callerId?: Sensitive<string>;
  /** Without an entry `transfer_call` is not registered. */
  readonly destinations: ReadonlyMap<string, Sensitive<string>>;
  readonly dtmf: DtmfDefinition;
}

const mostDestinations = 64;

/** Reads `[telephony]`; without the section every key has its default. */
export function readTelephony(
  raw: unknown,
  { texts, problems }: { readonly texts: BuiltInTexts; readonly problems: ProblemList },
): TelephonyDefinition | undefined {
  const { value } = readTable(telephonyKeys, raw ?? {}, { at: ['telephony'], problems });
  if (value === undefined) return undefined;
  const destinations = Object.entries(value.destinations);
  if (destinations.length > mostDestinations) {
    problems.error(['telephony', 'destinations'], `must have at most ${mostDestinations} entries`);
    return undefined;
  }
  if (value.warm_transfer && value.caller_id === undefined)
    problems.warning(['telephony', 'warm_transfer'], 'needs caller_id beside it: without it each is refused');
  const { dtmf, settle_timeout_ms: settleTimeoutMs, transfer_timeout_ms: transferTimeoutMs } = value;
  // It would be over before anybody is asked.
  if (transferTimeoutMs !== undefined && transferTimeoutMs <= settleTimeoutMs) {
    problems.error(['telephony', 'transfer_timeout_ms'], 'must be more than settle_timeout_ms');
    return undefined;
  }
  return {
    settleTimeoutMs,
    ...(transferTimeoutMs !== undefined && { transferTimeoutMs }),
    warmTransfer: value.warm_transfer,
    returnLine: value.return_line ?? texts.returnLine,
    ...(value.caller_id !== undefined && { callerId: new Sensitive(value.caller_id) }),
    destinations: new Map(destinations.map(([name, number]) => [name, new Sensitive(number)])),
    dtmf: {
      collect: dtmf.collect,
      terminator: dtmf.terminator,
      maxDigits: dtmf.max_digits,
      interDigitMs: dtmf.inter_digit_ms,
      loneTerminator: dtmf.lone_terminator,
      note: dtmf.note ?? texts.keysNote,
    },
  };
}
