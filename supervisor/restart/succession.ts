/**
 * A restart without a gap, at work in the old supervisor (decision 0017): performs what the machine in `restart.ts` orders, and
 * says where an arrival goes: it is judged here, waits while the listeners change hands, or travels to the new supervisor,
 * which alone judges from then on. At any instant one process judges, so nothing is counted twice or forgotten.
 */
import type { Server } from 'node:net';
import type { AgentLeft, AgentUse } from '../../shared/agents/takeover.ts';
import type { Millis } from '../../shared/base/units.ts';
import { takeoverVersion, type ToPredecessor } from '../../shared/protocol/takeover.ts';
import type { OutboundLeft } from '../../shared/telephony/takeover.ts';
import type { Clock, Timer } from '../../shared/runtime/clock.ts';
import type { CallLedger } from '../admission/call-ledger.ts';
import type { ListeningFeature, SessionUrls } from './takeover.ts';
import { LedgerCopy } from './ledger-copy.ts';
import { refuseUpgrade } from '../http/answer.ts';
import { refusals } from '../http/refusals.ts';
import { type Arrived } from '../listeners/listeners.ts';
import {
  newRestart,
  restartDeadline,
  stepRestart,
  type RestartAction,
  type RestartEvent,
} from './restart.ts';
import type { SuccessorEvents, SuccessorProcess } from './successor.ts';
import type { TokenLedger } from '../admission/token-ledger.ts';

/** Arrivals that wait while the listeners change hands, which takes a few milliseconds. */
const maxHeld = 1_024;

/** How often a new supervisor is told of calls that are left here. */
const useEveryMs = 1_000;

/** The part of a log that this file writes to. */
export interface SuccessionLog {
  info(fields: object, sentence: string): void;
  warn(fields: object, sentence: string): void;
  error(fields: object, sentence: string): void;
}

export interface SuccessionOptions {
  readonly clock: Clock;
  readonly log: SuccessionLog;
  readonly timeoutMs: number;
  readonly callLedger: CallLedger;
  readonly tokens: TokenLedger;
  readonly start: (events: SuccessorEvents) => SuccessorProcess;
  /** The listening servers, by name. */
  readonly listeners: () => ReadonlyMap<string, Server>;
  readonly sip?: ListeningFeature;
  readonly sessionUrls?: SessionUrls;
  /** The calls that the service makes are the new supervisor's from now on. */
  readonly outbound?: () => OutboundLeft;
  /** What is in force; absent in a service of one agent. */
  readonly agents?: (() => readonly AgentLeft[]) | undefined;
  /** How much of the service agents use; absent as well. */
  readonly agentUse?: (() => AgentUse) | undefined;
  /** Judges an arrival here. */
  readonly judge: (arrived: Arrived) => void;
  /** The new supervisor serves: close the listeners and drain. */
  readonly leave: (successorPid: number) => void;
  /** The new supervisor stops, and what drains here has no longer than after a stop of its own. */
  readonly stops: () => void;
  /** It wants the drain to be over now. */
  readonly hurry: () => void;
}

export class Succession {
  readonly #options: SuccessionOptions;
  readonly #restart;
  #successor: SuccessorProcess | undefined;
  #copy: LedgerCopy | undefined;
  #takesAgents = false;
  #takesAgentUse = false;
  readonly #held: Arrived[] = [];
  /** Arrivals on their way to the new supervisor. */
  #travelling = 0;
  #timer: Timer | undefined;
  #useTimer: Timer | undefined;
  #startedAt: Millis = 0;
  #handingSince: Millis = 0;

  constructor(options: SuccessionOptions) {
    this.#options = options;
    this.#restart = newRestart(options.timeoutMs);
  }

  /** Another supervisor serves now. */
  get isOver(): boolean {
    return this.#restart.state.phase === 'over';
  }

  /** Arrivals that this process still has to do something for; it must not end before. */
  get isBusy(): boolean {
    return this.#restart.state.phase === 'handing' || this.#held.length > 0 || this.#travelling > 0;
  }

  /** SIGUSR2. An obstacle says why there can be no restart now. */
  ask(obstacle: string | undefined): void {
    this.#step({ type: 'restart.asked', ...(obstacle !== undefined && { obstacle }) });
  }

  stop(): void {
    this.#step({ type: 'stop.asked' });
  }

  /** Takes every upgrade that reaches this process. */
  arrived(arrived: Arrived): void {
    // A request that is wrong in itself needs no other process to say so.
    if (arrived.arrival.fault !== undefined) {
      this.#options.judge(arrived);
      return;
    }
    switch (this.#restart.state.phase) {
      case 'handing':
        if (this.#held.length < maxHeld) this.#held.push(arrived);
        else refuseUpgrade(arrived.socket, refusals.hand_over_full);
        return;
      case 'over':
        this.#forward(arrived);
        return;
      case 'idle':
      case 'starting':
      case 'copying':
      case 'stopping':
        this.#options.judge(arrived);
    }
  }

  #step(event: RestartEvent): void {
    const { clock } = this.#options;
    for (const action of stepRestart(this.#restart, event, clock.now())) this.#perform(action);
    this.#timer?.cancel();
    const deadline = restartDeadline(this.#restart);
    if (deadline === undefined) return;
    this.#timer = clock.after(Math.max(0, deadline - clock.now()), () =>
      this.#step({ type: 'deadline.reached' }),
    );
  }

  #perform(action: RestartAction): void {
    const { log, clock, callLedger, tokens, agents, start, leave } = this.#options;
    switch (action.type) {
      case 'start.successor':
        this.#startedAt = clock.now();
        this.#successor = start({
          said: (message) => this.#onSaid(message),
          failed: (reason) => this.#step({ type: 'successor.failed', reason }),
        });
        log.info({ successorPid: this.#successor.pid }, 'restart: a new supervisor starts');
        return;
      case 'copy.ledgers':
        if (this.#takesAgents && agents !== undefined)
          this.#successor?.send({ type: 'agents', rows: [...agents()] });
        this.#tellAgentUse();
        this.#copy = new LedgerCopy({
          clock,
          callLedger,
          tokens,
          send: (message) => this.#successor?.send(message),
        });
        return;
      case 'give.listeners':
        this.#handingSince = clock.now();
        for (const [name, server] of this.#options.listeners()) this.#successor?.giveListener(name, server);
        this.#giveSip();
        this.#successor?.send({ type: 'listeners.end' });
        return;
      case 'leave':
        log.info(this.#account(), 'restart: the new supervisor serves, this one drains');
        leave(this.#successor?.pid ?? 0);
        this.#tellAgentUse();
        this.#options.sip?.leave();
        this.#giveOutbound();
        for (const arrived of this.#held.splice(0)) this.#forward(arrived);
        return;
      case 'give.up':
        this.#giveUp(action.reason);
        return;
      case 'refuse':
        log.warn({ reason: action.reason }, 'restart: SIGUSR2 is ignored');
        return;
      case 'report.loss':
        log.error({ reason: action.reason }, 'restart: the new supervisor is gone while this one drains');
        this.#options.sip?.takeBack();
        this.#options.sessionUrls?.takeBack();
    }
  }

  #giveSip(): void {
    const successor = this.#successor;
    if (successor === undefined) return;
    this.#options.sessionUrls?.give((message) => successor.send(message));
    this.#options.sip?.give({
      say: (message) => successor.send(message),
      giveListener: (name, server) => successor.giveListener(name, server),
      giveSocket: (socket) => successor.giveSocket(socket),
    });
  }

  /** Calls end here that count there. */
  #tellAgentUse(): void {
    const { agentUse, clock } = this.#options;
    this.#useTimer?.cancel();
    if (agentUse === undefined || !this.#takesAgentUse || this.#successor === undefined) return;
    this.#successor.send({ type: 'agents.use', ...agentUse() });
    this.#useTimer = clock.after(useEveryMs, () => this.#tellAgentUse());
  }

  #giveOutbound(): void {
    const left = this.#options.outbound?.();
    if (left !== undefined) this.#successor?.send({ type: 'outbound', ...left });
  }

  /** How long it took, and how long arrivals had to wait. */
  #account(): object {
    const nowMs = this.#options.clock.now();
    return {
      successorPid: this.#successor?.pid,
      tookMs: Math.round(nowMs - this.#startedAt),
      pauseMs: Math.round(nowMs - this.#handingSince),
      waited: this.#held.length,
    };
  }

  #giveUp(reason: string): void {
    this.#copy?.stop();
    this.#copy = undefined;
    this.#successor?.kill();
    this.#successor = undefined;
    this.#options.log.error({ reason }, 'restart: given up, this supervisor goes on as before');
    for (const arrived of this.#held.splice(0)) this.#options.judge(arrived);
    this.#options.sip?.takeBack();
  }

  #onSaid(message: ToPredecessor): void {
    switch (message.type) {
      case 'prepared':
        this.#takesAgents = message.takesAgents;
        this.#takesAgentUse = message.takesAgentUse;
        if (message.version === takeoverVersion) this.#step({ type: 'successor.prepared' });
        else
          this.#step({
            type: 'successor.failed',
            reason: `the new supervisor speaks version ${message.version} of the hand-over, this one ${takeoverVersion}`,
          });
        return;
      case 'copied':
        this.#step({ type: 'successor.copied' });
        return;
      case 'took':
        this.#step({ type: 'successor.took' });
        return;
      case 'stops':
        if (this.isOver) this.#options.stops();
        return;
      case 'hurry':
        if (this.isOver) this.#options.hurry();
        return;
      case 'failed':
        return;
      case 'webrtc.asked':
      case 'webrtc.left':
        this.#options.sessionUrls?.successorSaid(message, (answer) => this.#successor?.send(answer));
        return;
      default:
        this.#options.sip?.successorSaid(message);
    }
  }

  /** The new supervisor judges it; when it is gone, this one answers what a draining service answers. */
  #forward(arrived: Arrived): void {
    const { arrival, socket, bytes } = arrived;
    if (socket.destroyed || this.#successor === undefined) {
      this.#options.judge(arrived);
      return;
    }
    this.#travelling += 1;
    const { listener, method, head, peer } = arrival;
    const message = {
      type: 'arrival',
      listener,
      method,
      url: head.url,
      headers: { ...head.headers },
      bytes: bytes.toString('base64'),
      ...(peer !== undefined && { peer }),
    } as const;
    this.#successor.giveArrival(message, socket, (isGiven) => {
      this.#travelling -= 1;
      if (isGiven) socket.destroy();
      else this.#options.judge(arrived);
    });
  }
}
