/** A stage's context for tests: patient by default; the call can be ended, after which callbacks do nothing. */
import type { Clock } from '../../../shared/runtime/clock.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import type { StageContext } from '../../../worker/stages/stage.ts';
import { Observed } from '../process/observed.ts';

/** Real time at a tenth of its speed: on a machine that is busy for seconds no limit of a stage passes that a test does not wait for. */
export const patientClock: Clock = {
  now: () => systemClock.now() / 10,
  after: (delayMs, callback) => systemClock.after(delayMs * 10, callback),
};

export function newStageContext(clock: Clock = patientClock): StageContext & { end(): void } {
  let ended = false;
  return {
    clock,
    bind:
      (callback) =>
      (...args) => {
        if (!ended) callback(...args);
      },
    end: () => {
      ended = true;
    },
  };
}

/** Collects the events of a stage and lets a test wait for one. */
export class Events<E extends { readonly type: string }> extends Observed {
  readonly all: E[] = [];
  readonly sink = (event: E): void => {
    this.all.push(event);
    this.changed();
  };

  of<T extends E['type']>(type: T): Extract<E, { readonly type: T }>[] {
    return this.all.filter((event): event is Extract<E, { readonly type: T }> => event.type === type);
  }

  /** Resolves when `count` events of the type have come. */
  async seen(type: E['type'], count = 1): Promise<void> {
    await this.until(() => this.all.filter((event) => event.type === type).length >= count);
  }
}
