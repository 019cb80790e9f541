/** Writes the figures of providers into the metrics of the worker. Labels are those of the configuration, never of an answer. */
import type { WorkerMetrics } from '../../../shared/runtime/metrics.ts';
import type { StageName } from '../../../shared/config/stages/declaration.ts';
import type { ProviderRole } from '../../../shared/protocol/breakers.ts';
import type { ProviderNote } from '../provider-note.ts';
import type { StageError } from '../stage.ts';
import type { ProviderMeter } from './provider.ts';
import { statusLabelOf } from './verdict.ts';

/** Of a provider that nobody waited for any more. */
const waitedTooLong: StageError = { kind: 'timeout', what: 'answer' };

export interface MeterOptions {
  readonly metrics: WorkerMetrics;
  readonly stage: StageName;
  readonly role: ProviderRole;
  /** Canonical name. */
  readonly provider: string;
  /** Counts a request for the provider's budget. */
  readonly requested: () => void;
  /** Takes what traces tell of it; absent where there are none. */
  readonly noted?: ((note: ProviderNote) => void) | undefined;
  /** Takes each error, for the people who run the service. */
  readonly failed: (error: StageError) => void;
}

export function newProviderMeter(options: MeterOptions): ProviderMeter {
  const { metrics, stage, role, provider, requested, noted } = options;
  const labels = { stage, role, provider };
  return {
    requested: (session) => {
      requested();
      noted?.({ ...labels, what: 'requested', ...(session !== undefined && { session }) });
    },
    firstResult: (afterMs) => metrics.providerFirstResult.observe(labels, afterMs / 1000),
    failed: (kind, error) => {
      metrics.providerErrors.inc({ ...labels, kind, status: statusLabelOf(error) });
      if (error?.kind === 'cancelled') return;
      noted?.({ ...labels, what: 'failed', kind });
      options.failed(error ?? waitedTooLong);
    },
    spent: (unit, amount, isLate = false) => {
      if (amount <= 0) return;
      metrics.providerUnits.inc({ ...labels, unit }, amount);
      noted?.({ ...labels, what: 'spent', unit, amount, ...(isLate && { isLate }) });
    },
  };
}
