/**
 * Warm transfers at work: performs the actions of the saga, writes its state down before each step, and takes events from carriers and
 * operators. The number of a destination is kept in memory alone; a step whose outcome died with the service has an unknown one.
 */
import { randomBytes } from 'node:crypto';
import type { CarrierOutcome, ControlCommand, RefusedCode } from '../../shared/telephony/call-control.ts';
import type { TransferView } from '../../shared/telephony/callback-api.ts';
import type { Clock, WallClock } from '../../shared/runtime/clock.ts';
import type { Log } from '../../shared/runtime/log.ts';
import { bound } from './away.ts';
import type { Carrier, WarmCarrier } from './carrier.ts';
import type { SagaStore } from './saga-store.ts';
import {
  acceptS,
  isOver,
  newSaga,
  ringS,
  stepSaga,
  type Saga,
  type SagaEvent,
  type SagaAction,
  type SagaPhase,
  type StepOutcome,
} from './saga.ts';

type WarmCommand = Extract<ControlCommand, { type: 'transfer' }>;

/** Warm transfers at a time. */
const mostOpen = 1_024;
const lookEveryMs = 5_000;
/** How often the carrier is asked whether a caller who waits for an operator is still there. */
const askEveryMs = 60_000;
/** How often it is asked whether the process before this one has let the folder go. */
const lockEveryMs = 100;

export interface WarmTransfersOptions {
  readonly store: SagaStore;
  readonly clock: Clock;
  readonly wallClock: WallClock;
  readonly log: Log;
  readonly warmOf: (carrier: Carrier['name']) => WarmCarrier | undefined;
  readonly counted: (saga: Saga) => void;
  /** One is refused, because too many are under way. */
  readonly full: () => void;
  /** This process has a transfer from now on. */
  readonly begun: (handle: string) => void;
  /** One that was not over when the service was last there. */
  readonly taken: (saga: Saga) => void;
}

interface Running {
  readonly saga: Saga;
  readonly numbers: { readonly to: string; readonly from: string } | undefined;
  readonly reply: ((outcome: CarrierOutcome) => void) | undefined;
  /** When the carrier was asked for the caller. */
  askedAt?: number;
}

/** It waits for an operator. */
const isLeft = ({ phase }: Saga): boolean => phase === 'parked' || phase === 'unsure';

const refused = (code: RefusedCode): Promise<CarrierOutcome> => Promise.resolve({ kind: 'refused', code });

export class WarmTransfers {
  readonly #options: WarmTransfersOptions;
  readonly #running = new Map<string, Running>();
  /** Transfers whose two talk, by their handles. */
  readonly #talking = new Map<string, Saga>();
  /** `before`: another process may still write the transfers. `ends`: nobody is parked any more. */
  #place: 'before' | 'here' | 'ends' | 'left' = 'before';
  /** Steps of which the carrier has not told what became of them. */
  #asking = 0;
  #left: readonly Saga[] = [];

  constructor(options: WarmTransfersOptions) {
    this.#options = options;
  }

  /** Finds the transfers that were not over when the service was last there, and begins to watch the time. */
  open(): void {
    const { store } = this.#options;
    if (!store.lock()) {
      this.#options.clock.after(lockEveryMs, () => {
        if (this.#place === 'before') this.open();
      });
      return;
    }
    this.#place = 'here';
    this.carry(store.load());
    this.#watch();
  }

  /** Takes up what the process before this one has left. */
  carry(left: readonly Saga[]): void {
    for (const saga of left) {
      this.#running.set(saga.handle, { saga, numbers: undefined, reply: undefined });
      this.#options.log.warn({ transfer: saga.handle, phase: saga.phase }, 'a warm transfer is taken up');
      this.#options.begun(saga.handle);
      this.#options.taken(saga);
      this.#take(saga.handle, { type: 'step.done', step: saga.steps, outcome: { kind: 'unknown' } });
    }
  }

  /** Another supervisor has them now: it finds them in the folder, or gets them by `give`. */
  leave(): void {
    this.#place = 'left';
    if (!this.#options.store.isKept) this.#left = [...this.#running.values()].map(({ saga }) => saga);
    this.#running.clear();
    this.#options.store.close();
  }

  /** What `leave` has left that stands in no folder. */
  give(): readonly Saga[] {
    return this.#left;
  }

  /** Callers are on hold whom no process after this one would find. */
  get isNeeded(): boolean {
    return this.#running.size > 0 && !this.#options.store.isKept;
  }

  /** The carrier is being asked for them. */
  get isBusy(): boolean {
    return this.#asking > 0 && this.isNeeded;
  }

  /** This process ends: whom nobody else would find comes back, as far as that can be. */
  end(): void {
    if (this.#place !== 'here') return;
    this.#place = 'ends';
    if (this.#options.store.isKept) return;
    for (const handle of [...this.#running.keys()]) this.#take(handle, { type: 'abort' });
  }

  begin(command: WarmCommand, { mayReturn }: { readonly mayReturn: boolean }): Promise<CarrierOutcome> {
    const { callId, carrier, commandId, summary, language, to, from, destination } = command;
    if (from === undefined) return refused('invalid_argument');
    if (this.#place !== 'here' || this.#ofCall(callId) !== undefined) return refused('unavailable');
    if (this.#running.size >= mostOpen) {
      this.#options.full();
      return refused('unavailable');
    }
    const handle = randomBytes(9).toString('base64url');
    this.#options.begun(handle);
    const common = { handle, carrier, callId, commandId, summary, language, mayReturn };
    const given = { ...common, ...(destination !== undefined && { destination }) };
    const { saga, actions } = newSaga(given, this.#options.wallClock.now());
    // Nobody is parked who would be forgotten.
    if (!this.#save(saga)) return refused('unavailable');
    return new Promise((reply) => {
      this.#running.set(handle, { saga, numbers: { to, from }, reply });
      this.#follow(handle, actions);
    });
  }

  #save(saga: Saga): boolean {
    const { store, log } = this.#options;
    const error = store.save(saga);
    if (error !== undefined) {
      const where = { transfer: saga.handle, call: saga.callId, folder: store.folder };
      log.error({ ...where, error }, 'a warm transfer could not be written down');
    }
    return error === undefined;
  }

  /** The carrier tells something of a transfer. */
  told(handle: string, event: SagaEvent): void {
    if (event.type === 'leg.ended') this.#talking.delete(handle);
    this.#take(handle, event);
  }

  /** And of a call: it may be one that is being transferred. */
  toldOfCall(callId: string, event: SagaEvent): void {
    const handle = this.#ofCall(callId);
    if (handle !== undefined) this.#take(handle, event);
    else if (event.type === 'caller.gone') this.#endTalk(callId);
  }

  /** The carrier lets the destination wait in an empty conference. */
  #endTalk(callId: string): void {
    const talk = [...this.#talking.values()].find((saga) => saga.callId === callId);
    if (talk === undefined) return;
    this.#talking.delete(talk.handle);
    void this.#options.warmOf(talk.carrier)?.hangUp(talk.leg, `${talk.commandId}-${talk.steps + 1}`);
  }

  /** An operator's word: `unknown` for no such transfer, a reason where it cannot be done, undefined when it is being done. */
  command(handle: string, type: 'complete' | 'abort'): string | undefined {
    return this.#running.has(handle) ? this.#take(handle, { type }) : 'unknown';
  }

  /** No transfer of this call is under way. */
  isFree(callId: string): boolean {
    return this.#ofCall(callId) === undefined;
  }

  get views(): readonly TransferView[] {
    return [...this.#running.values()].map(
      ({ saga: { handle, callId: call, carrier, phase, summary, destination } }) => ({
        handle,
        call,
        carrier,
        phase,
        summary,
        ...(destination !== undefined && { destination }),
      }),
    );
  }

  #ofCall(callId: string): string | undefined {
    for (const { saga } of this.#running.values()) if (saga.callId === callId) return saga.handle;
    return undefined;
  }

  #take(handle: string, event: SagaEvent): string | undefined {
    const running = this.#running.get(handle);
    if (running === undefined) return undefined;
    const before = running.saga.phase;
    const { actions, refusal } = stepSaga(running.saga, event, this.#options.wallClock.now());
    this.#follow(handle, actions, before);
    return refusal;
  }

  #follow(handle: string, actions: readonly SagaAction[], before?: SagaPhase): void {
    const running = this.#running.get(handle);
    if (running === undefined) return;
    const { saga, reply } = running;
    const { log, counted } = this.#options;
    this.#save(saga);
    log.info({ transfer: handle, call: saga.callId, phase: saga.phase }, 'a warm transfer has moved');
    if (saga.phase !== before && isLeft(saga))
      log.warn({ transfer: handle, call: saga.callId, phase: saga.phase }, 'a caller waits for an operator');
    for (const action of actions) {
      if (action.type === 'tell') reply?.(action.outcome);
      else void this.#perform(running, action);
    }
    if (isOver(saga)) {
      this.#running.delete(handle);
      if (saga.phase === 'joined') this.#talking.set(handle, saga);
      bound(this.#talking);
      counted(saga);
    } else if (this.#place === 'ends' && saga.phase === 'rung' && before !== 'rung' && this.isNeeded)
      this.#take(handle, { type: 'abort' });
  }

  async #perform(running: Running, action: Exclude<SagaAction, { type: 'tell' }>): Promise<void> {
    const { saga } = running;
    this.#asking += 1;
    const outcome = await this.#ask(running, action).catch((): StepOutcome => ({ kind: 'unknown' }));
    this.#asking -= 1;
    this.#take(saga.handle, { type: 'step.done', step: action.step, outcome });
  }

  async #ask(
    { saga, numbers }: Running,
    { type, step }: Exclude<SagaAction, { type: 'tell' }>,
  ): Promise<StepOutcome> {
    const warm = this.#options.warmOf(saga.carrier);
    if (warm === undefined) return { kind: 'refused', code: 'unsupported' };
    const commandId = `${saga.commandId}-${step}`;
    const { callId, handle: tag, conference, leg, summary: text, language } = saga;
    switch (type) {
      case 'park':
        return await warm.park(callId, { tag, commandId });
      case 'ring':
        if (numbers === undefined) return { kind: 'refused', code: 'unavailable' };
        return await warm.ring({ ...numbers, ringS, acceptS, tag, commandId });
      case 'join':
        return await warm.join(leg, { tag, conference, text, language, commandId });
      case 'hang_up':
        return await warm.hangUp(leg, commandId);
      case 'put_back':
        return await warm.putBack(callId, { conference, tag, commandId });
    }
  }

  #watch(): void {
    this.#options.clock.after(lookEveryMs, () => {
      if (this.#place === 'left') return;
      for (const handle of [...this.#running.keys()]) {
        const before = this.#running.get(handle)?.saga.phase;
        const running = this.#running.get(handle);
        if (running === undefined || before === undefined) continue;
        const { actions } = stepSaga(running.saga, { type: 'time.passed' }, this.#options.wallClock.now());
        if (actions.length > 0 || running.saga.phase !== before) this.#follow(handle, actions, before);
        if (isLeft(running.saga)) void this.#lookAfter(running);
      }
      this.#watch();
    });
  }

  /** A caller who waits for an operator may have hung up where nobody was told of it: nobody has to bring them back. */
  async #lookAfter(running: Running): Promise<void> {
    const { clock, warmOf } = this.#options;
    const { handle, callId, carrier } = running.saga;
    if (clock.now() - (running.askedAt ?? -Infinity) < askEveryMs) return;
    running.askedAt = clock.now();
    const isOver = await warmOf(carrier)?.isOver(callId);
    if (isOver === true && isLeft(running.saga)) this.#take(handle, { type: 'caller.gone' });
  }
}
