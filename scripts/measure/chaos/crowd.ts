/** All callers of a run on one ticker, and what they have in common. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Distribution } from '../bench/report/statistics.ts';
import type { ChatMessage } from './account.ts';
import { Caller, type CallerOptions } from './caller.ts';

const tickMs = 5;
/** Callers take turns, so that their frames do not go out in one burst. */
const phases = 4;
const callsPerSecond = 25;
const startLimitMs = 60_000;

export interface Totals {
  readonly turns: number;
  readonly answered: number;
  readonly unanswered: number;
  readonly short: number;
  readonly doubledMs: number;
  readonly lostMs: number;
  readonly wordsDoubled: number;
  readonly wordsLost: number;
  readonly ended: number;
}

export interface CrowdOptions extends Pick<CallerOptions, 'clips' | 'silence' | 'prng' | 'slackWords'> {
  readonly calls: number;
}

export class Crowd {
  readonly callers: Caller[] = [];
  /** Lateness of frames of calls that are not in `disturbed`. */
  lateness = new Distribution();
  disturbed: ReadonlySet<Caller> = new Set();
  /** How late the driver's own ticks were: what it adds to everything it measures. */
  ownLateness = new Distribution();
  #stopped = false;

  readonly #options: CrowdOptions;

  constructor(options: CrowdOptions) {
    this.#options = options;
  }

  /**
   * Opens calls until there are as many as there should be: at first, and when some have ended. A caller that is refused asks again, as
   * clients do.
   */
  async fill(address: CallerOptions['address']): Promise<void> {
    if (this.callers.length === 0) this.#run();
    const until = performance.now() + startLimitMs;
    for (;;) {
      const coming = this.callers.filter(({ started, endedBy }) => !started && endedBy === undefined);
      const missing = this.#options.calls - this.stillOpen.length - coming.length;
      if (missing === 0 && coming.length === 0) return;
      if (performance.now() > until) throw new Error(`not all calls were opened in time: ${this.#refusal()}`);
      if (missing > 0) this.#newCaller(address);
      await sleep(1_000 / callsPerSecond);
    }
  }

  /** Why the newest of the calls that never began was refused. */
  #refusal(): string {
    const refused = this.callers.findLast(({ started, endedBy }) => !started && endedBy !== undefined);
    return refused?.endedBy ?? 'they did not start';
  }

  #newCaller(address: CallerOptions['address']): Caller {
    const { clips, silence, prng, slackWords } = this.#options;
    const caller: Caller = new Caller({
      call: this.callers.length + 1,
      address,
      clips,
      silence,
      prng,
      slackWords,
      late: (lateMs) => {
        if (!this.disturbed.has(caller)) this.lateness.add(lateMs);
      },
    });
    this.callers.push(caller);
    return caller;
  }

  /** The model was asked on behalf of a call. */
  asked(call: number, messages: readonly ChatMessage[], how: { readonly isHeld: boolean }): void {
    this.callers[call - 1]?.account.asked(messages, how);
  }

  get stillOpen(): readonly Caller[] {
    return this.callers.filter(({ isOpen }) => isOpen);
  }

  get violations(): string[] {
    return this.callers.flatMap(({ account }) => account.violations);
  }

  totals(of: Iterable<Caller> = this.callers): Totals {
    const all = [...of].filter(({ started }) => started);
    const sum = (pick: (caller: Caller) => number): number =>
      all.reduce((total, caller) => total + pick(caller), 0);
    return {
      turns: sum(({ turns }) => turns),
      answered: sum(({ answered }) => answered),
      unanswered: sum(({ unanswered }) => unanswered),
      short: sum(({ short }) => short),
      doubledMs: sum(({ account }) => account.doubledMs),
      lostMs: sum(({ account }) => account.lostMs),
      wordsDoubled: sum(({ account }) => account.wordsDoubled),
      wordsLost: sum(({ account }) => account.wordsLost),
      ended: sum(({ endedBy }) => (endedBy === undefined ? 0 : 1)),
    };
  }

  stop(): void {
    this.#stopped = true;
    for (const caller of this.callers) caller.destroy();
  }

  #run(): void {
    const startAt = performance.now();
    let index = 0;
    const tick = (): void => {
      if (this.#stopped) return;
      const now = performance.now();
      this.ownLateness.add(now - (startAt + index * tickMs));
      for (let at = index % phases; at < this.callers.length; at += phases) this.callers[at]?.tick(now);
      index += 1;
      setTimeout(tick, Math.max(0, startAt + index * tickMs - performance.now()));
    };
    tick();
  }
}
