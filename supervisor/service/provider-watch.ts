/**
 * What the supervisor knows of the providers of its agent: their names, what calls asked of them, and their breakers, read
 * from the memory that it shares with the workers. Nothing is decided here.
 */
import {
  breakerStages,
  providerRoles,
  type BreakerState,
  type ProviderRole,
} from '../../shared/protocol/breakers.ts';
import type { StageName } from '../../shared/config/stages/declaration.ts';
import { countedStages, type CountedStage, type Mailboxes } from '../../shared/protocol/mailbox.ts';
import type { LiveProvider } from '../../shared/protocol/live.ts';
import type { SupervisorMetrics } from '../../shared/runtime/metrics.ts';

/** Canonical names of a stage's providers. */
export interface ProviderNames {
  readonly primary: string;
  readonly secondary?: string | undefined;
}

/** A stage is absent where a model does without it. */
export type AgentProviders = { readonly [S in StageName]?: ProviderNames | undefined };

const gaugeValues: Readonly<Record<BreakerState, number>> = { closed: 0, 'half-open': 1, open: 2 };

export class ProviderWatch {
  readonly #names: AgentProviders;
  readonly #boxes: Mailboxes;
  readonly #counts: RequestCounts;

  constructor(names: AgentProviders, boxes: Mailboxes) {
    this.#names = names;
    this.#boxes = boxes;
    this.#counts = new RequestCounts(boxes);
  }

  /** The providers of which a call that begins now would take a session: a primary that is left alone has its secondary. */
  inUse(nowMs: number): string[] {
    return countedStages.flatMap((stage) => {
      const names = this.#names[stage];
      if (names === undefined) return [];
      const isAway = this.#boxes.breakers.of(stage, 'primary').state(nowMs) === 'open';
      return isAway && names.secondary !== undefined ? names.secondary : names.primary;
    });
  }

  /** Reports the requests that calls have sent since the last time. */
  countRequests(requested: (provider: string, count: number) => void): void {
    this.#counts.take((stage, role, count) => {
      const provider = this.#names[stage]?.[role];
      if (provider !== undefined) requested(provider, count);
    });
  }

  /** The providers and their breakers, for the live view. */
  rows(nowMs: number): LiveProvider[] {
    return this.#all().map((row) => {
      const state = this.#boxes.breakers.of(row.stage, row.role).state(nowMs);
      return { ...row, breaker: state === 'half-open' ? 'half_open' : state };
    });
  }

  /** Brings the gauges of the breakers up to date. */
  readGauges({ providerBreaker, providerBreakerOpened }: SupervisorMetrics, nowMs: number): void {
    for (const { stage, role, provider } of this.#all()) {
      const breaker = this.#boxes.breakers.of(stage, role);
      providerBreaker.set({ stage, role, provider }, gaugeValues[breaker.state(nowMs)]);
      providerBreakerOpened.set({ stage, role, provider }, breaker.timesOpened);
    }
  }

  #all(): { stage: StageName; role: ProviderRole; provider: string }[] {
    return breakerStages.flatMap((stage) =>
      providerRoles.flatMap((role) => {
        const provider = this.#names[stage]?.[role];
        return provider === undefined ? [] : [{ stage, role, provider }];
      }),
    );
  }
}

/** What calls asked of their providers, read from the counters that workers keep in shared memory. */
/** Counters are 32 bits wide and wrap. */
const wrap = 0x1_0000_0000;

interface Use {
  readonly stage: CountedStage;
  readonly role: ProviderRole;
  /** What was seen of each worker's counter. */
  readonly seen: Uint32Array;
}

class RequestCounts {
  readonly #boxes: Mailboxes;
  readonly #uses: readonly Use[];

  constructor(boxes: Mailboxes) {
    this.#boxes = boxes;
    const { workers } = boxes.layout;
    this.#uses = countedStages.flatMap((stage) =>
      providerRoles.map((role) => ({ stage, role, seen: new Uint32Array(workers) })),
    );
  }

  /** Reports the requests to each provider since the last look; those without any are left out. */
  take(report: (stage: CountedStage, role: ProviderRole, count: number) => void): void {
    for (const use of this.#uses) {
      const count = this.#takeOne(use);
      if (count > 0) report(use.stage, use.role, count);
    }
  }

  #takeOne({ stage, role, seen }: Use): number {
    let taken = 0;
    for (let worker = 0; worker < seen.length; worker += 1) {
      const count = this.#boxes.requests(worker, stage, role);
      taken += (count - (seen[worker] ?? 0) + wrap) % wrap;
      seen[worker] = count;
    }
    return taken;
  }
}
