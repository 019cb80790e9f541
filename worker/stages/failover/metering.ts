/** Writes the figures of providers into the metrics of the worker. Labels are those of the configuration, never of an answer. */
import type { WorkerMetrics } from '../../../shared/runtime/metrics.ts';
import type { StageName } from '../../../shared/config/stages/providers.ts';
import type { ProviderRole } from '../../../shared/protocol/breakers.ts';
import type { ProviderMeter } from './provider.ts';

export interface MeterOptions {
  readonly metrics: WorkerMetrics;
  readonly stage: StageName;
  readonly role: ProviderRole;
  /** Canonical name. */
  readonly provider: string;
  /** Counts a request for the provider's budget. */
  readonly requested: () => void;
}

export function newProviderMeter({ metrics, stage, role, provider, requested }: MeterOptions): ProviderMeter {
  const labels = { stage, role, provider };
  return {
    requested,
    firstResult: (afterMs) => metrics.providerFirstResult.observe(labels, afterMs / 1000),
    failed: (kind) => metrics.providerErrors.inc({ ...labels, kind }),
    spent: (unit, amount) => {
      if (amount > 0) metrics.providerUnits.inc({ ...labels, unit }, amount);
    },
  };
}
