/** What a call used, summed by provider and by stage. Pure. */
import { present } from '../base/present.ts';
import type { UsedUnits } from './facts.ts';
import type { CallRecord, CallUsage, UsageLine, UsageStage } from './record.ts';

/** Providers of one call; a call that is answered by more has a program behind it that changes models at will. */
const mostLines = 50;

/** No call needs more: a thousandth of a second. */
const rounded = (amount: number): number => Math.round(amount * 1000) / 1000;

function addUnits(sum: UsedUnits, units: UsedUnits): void {
  for (const unit of Object.keys(units) as (keyof UsedUnits)[])
    sum[unit] = rounded((sum[unit] ?? 0) + (units[unit] ?? 0));
}

export interface Used {
  readonly stage: UsageStage;
  readonly provider: string;
  readonly model?: string | undefined;
  readonly units: UsedUnits;
}

export class UsageSum {
  readonly #lines = new Map<string, { readonly line: Omit<UsageLine, 'units'>; readonly units: UsedUnits }>();

  add(used: Used): void {
    const { stage, provider, model, units } = used;
    const key = JSON.stringify([stage, provider, model]);
    const known = this.#lines.get(key);
    if (known === undefined && this.#lines.size >= mostLines) return;
    const line = known ?? { line: present({ stage, provider, model }), units: {} };
    this.#lines.set(key, line);
    addUnits(line.units, units);
  }

  /** With what is known only now. */
  usage(besides: readonly Used[]): CallUsage {
    const lines = [...this.#lines.values()].map(({ line, units }) => ({ ...line, units: { ...units } }));
    for (const { stage, provider, units } of besides) lines.push({ stage, provider, units: { ...units } });
    const byStage: Partial<Record<UsageStage, UsedUnits>> = {};
    for (const { stage, units } of lines) addUnits((byStage[stage] ??= {}), units);
    return { by_stage: byStage, by_provider: lines };
  }
}

/** The record with what was used when the call was over. */
export function withUsage(record: CallRecord, used: Used): CallRecord {
  const sum = new UsageSum();
  for (const line of [...record.usage.by_provider, used]) sum.add(line);
  return { ...record, usage: sum.usage([]) };
}
