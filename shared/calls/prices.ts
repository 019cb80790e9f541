/**
 * The operator's price table (`SVC_PRICES_FILE`): what each provider charges, with the day on which that was looked up and where.
 * Nothing is guessed: what was used and has no price is named in the record. Pure.
 */
import * as z from 'zod';
import { fail, ok, type Result } from '../base/result.ts';
import { readToml } from '../config/toml.ts';
import {
  usageStages,
  usageUnits,
  type CallCost,
  type CallRecord,
  type UsageLine,
  type UsageStage,
  type UsageUnit,
} from './record.ts';

const price = z.number().min(0);

const priceTable = z.strictObject({
  currency: z.string().regex(/^[A-Z]{3}$/, 'must be a code of three letters, such as USD'),
  as_of: z.iso.date('must be a date, such as 2026-11-28'),
  source: z.string().min(1),
  price: z
    .array(
      z.strictObject({
        stage: z.enum(usageStages),
        provider: z.string().min(1),
        /** Absent: all models of the provider that have no row of their own. */
        model: z.string().min(1).exactOptional(),
        direction: z.enum(['inbound', 'outbound']).exactOptional(),
        per_minute: price.exactOptional(),
        per_million: z.partialRecord(z.enum(usageUnits).exclude(['seconds']), price).exactOptional(),
      }),
    )
    .max(1_000),
});

export type PriceTable = z.output<typeof priceTable>;
type PriceRow = PriceTable['price'][number];

/** The error names the key and the rule. */
export function readPrices(text: string): Result<PriceTable, string> {
  const { tree, syntaxProblems } = readToml(text);
  const [broken] = syntaxProblems;
  if (broken !== undefined) return fail(`line ${broken.line}: ${broken.message}`);
  const read = priceTable.safeParse(tree);
  if (read.success) return ok(read.data);
  const [issue] = read.error.issues;
  return fail(`${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not a price table'}`);
}

/** Parts of a sum that may have prices of their own. Where a provider tells modalities, what was cached is told by modality as well. */
const parts: Partial<Record<UsageUnit, readonly UsageUnit[]>> = {
  input_tokens: ['text_input_tokens', 'audio_input_tokens', 'cached_tokens'],
  text_input_tokens: ['text_cached_tokens'],
  audio_input_tokens: ['audio_cached_tokens'],
  output_tokens: ['text_output_tokens', 'audio_output_tokens'],
};
/** What is charged for, by stage; TTS is charged for by characters or by time. */
const charged: Readonly<Record<UsageStage, readonly UsageUnit[]>> = {
  stt: ['seconds'],
  llm: ['input_tokens', 'output_tokens'],
  tts: ['characters', 'seconds'],
  realtime: ['input_tokens', 'output_tokens'],
  telephone: ['seconds'],
  analysis: ['input_tokens', 'output_tokens'],
};
const oneSuffices: readonly UsageStage[] = ['tts'];

/** Of a unit, in millionths of the currency: less than that is in no bill. */
const rounded = (amount: number): number => Math.round(amount * 1e6) / 1e6;

const priceOf = (row: PriceRow | undefined, unit: UsageUnit): number | undefined => {
  if (unit === 'seconds') return row?.per_minute === undefined ? undefined : row.per_minute / 60;
  const perMillion = row?.per_million?.[unit];
  return perMillion === undefined ? undefined : perMillion / 1e6;
};

/** What was used of one unit, its parts among it; undefined where something of it has no price. */
function costOf(row: PriceRow | undefined, units: UsageLine['units'], unit: UsageUnit): number | undefined {
  const amount = units[unit] ?? 0;
  let left = amount;
  let cost = 0;
  const known = parts[unit] ?? [];
  const hasModalities = (units.text_input_tokens ?? units.audio_input_tokens) !== undefined;
  for (const part of known) {
    if (part === 'cached_tokens' && hasModalities) continue;
    const ofPart = units[part] === undefined ? undefined : costOf(row, units, part);
    if (ofPart === undefined) continue;
    left -= units[part] ?? 0;
    cost += ofPart;
  }
  const own = priceOf(row, unit);
  if (left <= 0) return cost;
  return own === undefined ? undefined : cost + left * own;
}

function rowFor(
  { price: rows }: Pick<PriceTable, 'price'>,
  { stage, provider, model }: UsageLine,
  direction: CallRecord['direction'],
): PriceRow | undefined {
  const fitting = rows.filter(
    (row) =>
      row.stage === stage &&
      row.provider === provider &&
      (row.model === undefined || row.model === model) &&
      (row.direction === undefined || row.direction === direction),
  );
  const rank = (row: PriceRow): number =>
    (row.model === undefined ? 0 : 2) + (row.direction === undefined ? 0 : 1);
  return fitting.toSorted((a, b) => rank(b) - rank(a))[0];
}

/** The record with what the call cost. */
export const withCost = (record: CallRecord, table: PriceTable): CallRecord => {
  const { currency, as_of } = table;
  const nothing: CallCost = { currency, total: 0, by_stage: {}, unpriced: [], as_of };
  const { usage, direction } = record;
  return {
    ...record,
    cost: usage.by_provider.reduce((cost, line) => withLine(cost, line, { table, direction }), nothing),
  };
};

/** The record with the cost of a later use, such as an analysis. A record without cost gets none; a use without a price in its currency is named in it. */
export function withCostOf(record: CallRecord, used: UsageLine, table: PriceTable | undefined): CallRecord {
  const { cost, direction } = record;
  if (cost === undefined) return record;
  const fits = table?.currency === cost.currency ? table : { price: [] };
  return { ...record, cost: withLine(cost, used, { table: fits, direction }) };
}

interface PricedBy {
  readonly table: Pick<PriceTable, 'price'>;
  readonly direction: CallRecord['direction'];
}

function withLine(cost: CallCost, line: UsageLine, { table, direction }: PricedBy): CallCost {
  const row = rowFor(table, line, direction);
  const used = charged[line.stage].filter((unit) => (line.units[unit] ?? 0) > 0);
  const costs = used.map((unit) => [unit, costOf(row, line.units, unit)] as const);
  const sum = costs.reduce((total, [, one]) => total + (one ?? 0), 0);
  const isPriced = costs.some(([, one]) => one !== undefined);
  const unpriced =
    isPriced && oneSuffices.includes(line.stage)
      ? []
      : costs
          .filter(([, one]) => one === undefined)
          .map(([unit]) => [line.stage, line.provider, line.model, unit].filter(Boolean).join(' '));
  return {
    ...cost,
    total: rounded(cost.total + sum),
    by_stage: isPriced
      ? { ...cost.by_stage, [line.stage]: rounded((cost.by_stage[line.stage] ?? 0) + sum) }
      : cost.by_stage,
    unpriced: [...new Set([...cost.unpriced, ...unpriced])],
  };
}
