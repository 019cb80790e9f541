/** What providers were used for since it was taken last. Pure. */
import type { Millis } from '../../shared/base/units.ts';
import type { UsedUnits } from '../../shared/calls/facts.ts';
import type { UsageUnit } from '../../shared/calls/record.ts';
import type { ProviderNote } from '../stages/provider-note.ts';

type Stage = ProviderNote['stage'];

interface Used {
  readonly stage: Stage;
  readonly provider: string;
  readonly units: UsedUnits;
}

/** Providers of one call between two boundaries of turns. */
const mostProviders = 16;

export class UsedSince {
  #used = new Map<string, Used>();
  /** How much audio of the newest context of TTS there is. */
  #spoken: { readonly context: number; readonly ms: Millis } = { context: -1, ms: 0 };

  add(stage: Stage, provider: string, unit: UsageUnit, amount: number): void {
    const key = `${stage} ${provider}`;
    const used = this.#used.get(key) ?? { stage, provider, units: {} };
    if (this.#used.size >= mostProviders && !this.#used.has(key)) return;
    this.#used.set(key, used);
    used.units[unit] = Math.round(((used.units[unit] ?? 0) + amount) * 1000) / 1000;
  }

  /** So much audio of a context exists by now. */
  spoke(provider: string | undefined, context: number, ms: Millis): void {
    const before = this.#spoken.context === context ? this.#spoken.ms : 0;
    if (provider === undefined || ms <= before) return;
    this.#spoken = { context, ms };
    this.add('tts', provider, 'seconds', (ms - before) / 1000);
  }

  take(): readonly Used[] {
    if (this.#used.size === 0) return [];
    const taken = [...this.#used.values()];
    this.#used = new Map();
    return taken;
  }
}
