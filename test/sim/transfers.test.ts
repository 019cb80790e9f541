/**
 * Warm transfers against carriers that answer late, twice, wrongly late or never, and tell things out of order or not at all. The judge
 * keeps a model of its own of where everybody is: no caller is lost, none is joined to a voicemail, none is in two places.
 */
import { describe, expect, it } from 'vitest';
import { newPrng } from '../../shared/base/prng.ts';
import {
  isOver,
  newSaga,
  stepSaga,
  type Saga,
  type SagaEvent,
  type SagaAction,
  type StepOutcome,
} from '../../supervisor/telephony/saga.ts';

const seeds = 10_000;
type Action = Exclude<SagaAction, { type: 'tell' }>;
type Place = 'bot' | 'parked' | 'joined' | 'gone';
type Leg = 'none' | 'ringing' | 'person' | 'machine' | 'listening' | 'joined' | 'ended';

/** A carrier that does what it is asked, or not, and says so, or not. */
class World {
  caller: Place = 'bot';
  leg: Leg = 'none';
  tells = 0;
  readonly faults: string[] = [];
  /** Events on their way, in no order. */
  readonly mail: SagaEvent[] = [];
  readonly saga: Saga;
  readonly #random;
  isKind = false;
  isLegLost = false;
  /** The destination hears a summary before it comes to the caller. */
  readonly #summary: boolean;

  constructor(seed: number) {
    this.#random = newPrng(seed);
    this.#summary = seed % 2 === 0;
    const given = {
      handle: 'h',
      carrier: 'carrier_a',
      callId: 'CA1',
      commandId: 'c',
      summary: '',
      language: 'en',
    } as const;
    const { saga, actions } = newSaga({ ...given, mayReturn: true }, 0);
    this.saga = saga;
    this.#follow(actions);
  }

  chance(share: number): boolean {
    return this.#random.next() < share;
  }

  take(event: SagaEvent, now = 0): void {
    this.#follow(stepSaga(this.saga, event, now).actions);
  }

  /** Delivers one of the facts that are on their way; now and then twice, now and then never. */
  deliver(): void {
    if (this.mail.length === 0) return;
    const [event] = this.mail.splice(Math.floor(this.#random.next() * this.mail.length), 1);
    if (event === undefined) return;
    // An answer to a request is never lost: without one the shell says that its outcome is unknown.
    if (!this.isKind && event.type !== 'step.done' && this.chance(0.2)) return;
    if (!this.isKind && this.chance(0.2)) this.mail.push(event);
    this.take(event);
  }

  #follow(actions: readonly SagaAction[]): void {
    for (const action of actions) {
      if (action.type === 'tell') this.tells += 1;
      else this.#perform(action);
    }
    if (this.tells > 1) this.faults.push('whoever asked was told twice');
  }

  #perform(action: Action): void {
    const answered = (outcome: StepOutcome): void => {
      this.mail.push({ type: 'step.done', step: action.step, outcome });
    };
    const fate = this.isKind ? 0.5 : this.#random.next();
    // Such a leg has no name, or could not be ended: it ends by itself.
    if ((fate < 0.15 || fate > 0.9) && ['ring', 'hang_up'].includes(action.type)) this.isLegLost = true;
    // Refused, or lost on its way there.
    if (fate < 0.1) {
      answered({ kind: 'refused', code: 'rejected' });
      return;
    }
    if (fate < 0.15) {
      answered({ kind: 'unknown' });
      return;
    }
    const outcome = this.#effect(action.type);
    // Done, and the answer was lost.
    answered(fate > 0.9 ? { kind: 'unknown' } : outcome);
  }

  #effect(type: Action['type']): StepOutcome {
    const refused = { kind: 'refused', code: 'rejected' } as const;
    switch (type) {
      case 'park':
        if (this.caller !== 'bot') return refused;
        this.caller = 'parked';
        return { kind: 'ok' };
      case 'ring':
        if (this.leg !== 'none') this.faults.push('a second leg rings');
        this.leg = 'ringing';
        return { kind: 'ok', id: 'leg' };
      case 'join':
        if (this.leg === 'machine') this.faults.push('a voicemail is joined');
        if (this.leg !== 'person') return refused;
        if (this.caller === 'bot') this.faults.push('a caller who talks with the bot is joined');
        this.leg = 'listening';
        if (!this.#summary) this.#meet();
        return { kind: 'ok', ...(this.#summary && { meets: true }) };
      case 'hang_up':
        if (this.leg === 'ended' || this.leg === 'none') return { ...refused, gone: true };
        if (this.leg === 'joined') this.caller = 'gone';
        this.leg = 'ended';
        return { kind: 'ok' };
      case 'put_back':
        if (this.caller === 'joined') this.faults.push('a caller who is joined is torn away');
        if (this.caller === 'gone') return { ...refused, gone: true };
        this.caller = 'bot';
        return { kind: 'ok' };
    }
  }

  #meet(): void {
    this.leg = 'joined';
    if (this.caller === 'parked') this.caller = 'joined';
  }

  /** Something happens at the other ends. */
  live(): void {
    const event = this.#random.next();
    if (this.leg === 'listening') {
      if (event < 0.3) {
        this.#meet();
        this.mail.push({ type: 'leg.joined', leg: 'leg' });
      } else if (event > 0.9) {
        this.leg = 'ended';
        this.mail.push({ type: 'leg.ended', leg: 'leg' });
      }
    }
    if (this.leg === 'ringing' && event < 0.3) {
      this.leg = this.chance(0.6) ? 'person' : 'machine';
      this.mail.push({ type: this.leg === 'person' ? 'leg.answered' : 'leg.machine', leg: 'leg' });
    } else if (['ringing', 'person', 'machine'].includes(this.leg) && event < 0.35) {
      this.leg = 'ended';
      this.mail.push({ type: 'leg.ended', leg: 'leg' });
    } else if (this.caller === 'parked' && event > 0.97) {
      this.caller = 'gone';
      this.mail.push({ type: 'caller.gone' });
    }
  }
}

function run(seed: number): World {
  const world = new World(seed);
  for (let turn = 0; turn < 40; turn += 1) {
    world.live();
    world.deliver();
    if (world.chance(0.1)) world.take({ type: 'complete' });
    if (world.chance(0.05)) world.take({ type: 'abort' });
    if (world.chance(0.02))
      world.take({ type: 'step.done', step: world.saga.steps, outcome: { kind: 'unknown' } });
  }
  // From here on the carrier does what it should, and an operator looks after what is left.
  world.isKind = true;
  for (let turn = 0; turn < 40 && !isOver(world.saga); turn += 1) {
    while (world.mail.length > 0) world.deliver();
    world.take({ type: 'time.passed' }, 1_000_000);
    world.take({ type: 'abort' });
  }
  return world;
}

describe('warm transfers', () => {
  it(`lose no caller, join no voicemail and put nobody in two places, in ${seeds} simulations`, () => {
    const ends = new Map<string, number>();
    for (let seed = 1; seed <= seeds; seed += 1) {
      const world = run(seed);
      const { phase } = world.saga;
      ends.set(phase, (ends.get(phase) ?? 0) + 1);
      if (!isOver(world.saga)) world.faults.push(`it is never over: ${phase}`);
      if (['ringing', 'person', 'machine', 'listening'].includes(world.leg) && !world.isLegLost)
        world.faults.push(`the destination is left with nobody: ${phase}`);
      if (world.caller === 'parked') world.faults.push(`the caller is left parked: ${phase}`);
      if (world.faults.length > 0) expect(world.faults, `seed ${seed}`).toEqual([]);
    }
    // All of it has happened.
    for (const phase of ['joined', 'back', 'gone', 'refused'])
      expect(ends.get(phase) ?? 0).toBeGreaterThan(100);
  });
});
