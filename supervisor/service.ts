/**
 * The supervisor at work: owns the listeners, the call slots and the children, and wires the pure machines (lifecycle, process
 * table, admission) to the world. No audio passes here.
 */
import type { Server } from 'node:http';
import type { ServerSettings } from '../shared/config/server.ts';
import type { FromWorker } from '../shared/protocol/ipc.ts';
import { countedStages, type CountedStage } from '../shared/protocol/mailbox.ts';
import { systemWallClock, type Clock, type Timer } from '../shared/runtime/clock.ts';
import { errorFields, type Log } from '../shared/runtime/log.ts';
import { newSupervisorMetrics } from '../shared/runtime/metrics.ts';
import { machineMs } from '../shared/runtime/monotonic.ts';
import { Admission, BacklogWatch, type AdmissionFacts } from './admission.ts';
import { callLimits } from './call-limits.ts';
import { CallMemory } from './call-memory.ts';
import { Children } from './children.ts';
import { FrontDoor } from './front-door.ts';
import { HandOver } from './hand-over.ts';
import { HangWatch } from './hang-watch.ts';
import { openHealthListener } from './health.ts';
import {
  lifecycleDeadline,
  newLifecycle,
  stepLifecycle,
  type LifecycleAction,
  type LifecycleEvent,
} from './lifecycle.ts';
import { openCallListener } from './listeners.ts';
import { MetricsCollector, readSharedGauges } from './metrics.ts';
import { allReady, anyFailing, inferenceReady, reachableWorkers, readyWorkers } from './process-table.ts';
import { RedisSet } from './redis-set.ts';
import { RequestCounts } from './request-counts.ts';
import { TokenLedger } from './token-ledger.ts';
import { TokenStore } from './token-store.ts';

const lookEveryMs = 200;

export interface ServiceOptions {
  readonly settings: ServerSettings;
  readonly workers: number;
  readonly inferenceThreads: number;
  /** Path of the turn model; absent: turns end by silence. */
  readonly turnModel?: string;
  readonly agentText: string;
  readonly files: Readonly<Record<string, string>>;
  /** Providers of the agent's stages, by canonical name. */
  readonly providers: Readonly<Record<CountedStage, string>>;
  readonly clock: Clock;
  readonly log: Log;
  readonly exit: (status: number) => void;
}

export class Service {
  readonly #options: ServiceOptions;
  readonly #metrics = newSupervisorMetrics();
  readonly #lifecycle;
  readonly #admission: Admission;
  readonly #children: Children;
  readonly #handOver: HandOver;
  readonly #backlog = new BacklogWatch();
  readonly #hangWatch: HangWatch;
  readonly #frontDoor: FrontDoor;
  readonly #requestCounts: RequestCounts;
  readonly #collector: MetricsCollector;
  readonly #memory: CallMemory;
  #callServer: Server | undefined;
  #timer: Timer | undefined;

  constructor(options: ServiceOptions) {
    this.#options = options;
    const { settings, clock, log, workers } = options;
    this.#lifecycle = newLifecycle(settings.drain);
    this.#admission = new Admission({
      maxSessions: settings.maxSessions,
      maxCalls: settings.ws.maxCalls,
      acceptQueue: settings.ws.acceptQueue,
    });
    this.#memory = new CallMemory({
      settings,
      workers,
      inferenceThreads: options.inferenceThreads,
      hasTurnModel: options.turnModel !== undefined,
    });
    const { layout, boxes } = this.#memory;
    const limits = callLimits(settings);
    const { logLevel } = settings;
    this.#children = new Children({
      clock,
      log,
      workers,
      spare: settings.spareWorker,
      memoryFd: this.#memory.mailboxesFd,
      recordsFd: this.#memory.recordsFd,
      workerSetup: (worker) => ({
        type: 'setup',
        worker,
        layout,
        logLevel,
        limits,
        callResume: settings.callResume,
        agentText: options.agentText,
        files: options.files,
      }),
      inferenceSetup: {
        type: 'setup',
        layout,
        logLevel,
        vadModel: settings.vadModel,
        ...(options.turnModel !== undefined && { turnModel: options.turnModel }),
      },
      onReady: (role, index) => this.#onChildReady(role, index),
      onWorkerMessage: (worker, message) => this.#onWorkerMessage(worker, message),
      onGone: (role, index) => this.#onChildGone(role, index),
    });
    this.#handOver = new HandOver({
      clock,
      readyWorkers: () => readyWorkers(this.#children.table),
      offer: (worker, message, socket) => this.#children.offer(worker, message, socket),
      keepsCalls: settings.callResume,
      remains: (worker) => this.#memory.remains(worker),
      counted: (outcome) => this.#metrics.handovers.inc({ outcome }),
    });
    this.#hangWatch = new HangWatch({
      table: this.#children.table,
      boxes,
      hangMs: settings.hangTimeoutMs,
      onHang: (row) => {
        log.error({ child: row.role, index: row.index }, 'a child hangs and is killed');
        this.#children.killOne(row);
      },
    });
    this.#frontDoor = this.#newFrontDoor();
    this.#requestCounts = new RequestCounts(boxes);
    this.#collector = new MetricsCollector(clock, (worker, ask) =>
      this.#children.send(worker, { type: 'metrics.ask', ask }),
    );
  }

  #newFrontDoor(): FrontDoor {
    const { settings, clock, log, providers } = this.#options;
    const target = settings.access.tokenStore;
    const tokenLedger = new TokenLedger();
    return new FrontDoor({
      settings,
      clock,
      wallClock: systemWallClock,
      metrics: this.#metrics,
      admission: this.#admission,
      facts: () => this.#admissionFacts(),
      tokenLedger,
      tokenStore: new TokenStore({
        ledger: tokenLedger,
        wallClock: systemWallClock,
        log,
        ...(target !== undefined && { shared: new RedisSet(target, { clock }) }),
      }),
      providers: Object.values(providers),
      released: () => this.#onReleased(),
    });
  }

  /** Binds the listeners and starts the children. Rejects when an address cannot be bound. */
  async start(): Promise<void> {
    const { settings, log } = this.#options;
    const calls = await openCallListener({
      addr: settings.ws.addr,
      decide: (arrival) => this.#frontDoor.decide(arrival),
      accepted: (socket, request, release) => this.#handOver.give(socket, request, release),
      failed: (error) => log.error(errorFields(error), 'a connection could not be judged'),
    });
    this.#callServer = calls.server;
    log.info({ listener: 'websocket', address: calls.address }, 'listening');
    const health = await openHealthListener({
      addr: settings.health.addr,
      metrics: settings.health.metrics,
      metricsToken: settings.health.metricsToken?.reveal(),
      unready: () => this.#unready(),
      counts: () => ({
        sessions: this.#admission.sessions,
        max_sessions: settings.maxSessions,
        workers: readyWorkers(this.#children.table).length,
      }),
      renderMetrics: () => this.#renderMetrics(),
    });
    log.info({ listener: 'health', address: health.address }, 'listening');
    this.#children.run();
  }

  #unready(): string | undefined {
    if (this.#lifecycle.state.phase === 'starting') return 'starting';
    const closed = this.#frontDoor.closedFor();
    return closed?.code ?? (anyFailing(this.#children.table) ? 'children_failing' : undefined);
  }

  /** SIGTERM or SIGINT. */
  signal(name: string): void {
    this.#options.log.info({ signal: name, sessions: this.#admission.sessions }, 'signal received');
    this.#step({ type: 'signal.received' });
  }

  #admissionFacts(): AdmissionFacts {
    this.#countRequests();
    return {
      draining: this.#lifecycle.state.phase !== 'serving' && this.#lifecycle.state.phase !== 'starting',
      readyWorkers: readyWorkers(this.#children.table).length,
      inferenceBehind: this.#backlog.behind,
      inHandOver: this.#handOver.waiting,
    };
  }

  /** Brings the providers' budgets up to date. */
  #countRequests(): void {
    const counts = this.#requestCounts.take();
    for (const stage of countedStages) {
      if (counts[stage] > 0) this.#frontDoor.requested(this.#options.providers[stage], counts[stage]);
    }
  }

  #onChildReady(role: 'worker' | 'inference', index: number): void {
    this.#handOver.retry();
    // What a worker was told before it could listen is lost.
    if (role === 'worker' && this.#lifecycle.state.phase === 'stopping')
      this.#children.send(index, { type: 'shutdown' });
    if (allReady(this.#children.table)) this.#step({ type: 'children.ready' });
  }

  #onChildGone(role: 'worker' | 'inference', index: number): void {
    if (!this.#children.table.closing) this.#metrics.restarts.inc({ role });
    if (role === 'worker') {
      const { open, writable, torn, moved, over } = this.#handOver.workerGone(index);
      if (open + writable + torn + moved + over > 0)
        this.#options.log.warn(
          { worker: index, takenUp: open, cut: writable + torn, moved, over },
          'the calls of a worker that is gone',
        );
      void this.#collector.workerGone(index);
    }
    if (this.#children.count === 0) this.#step({ type: 'children.gone' });
  }

  #onWorkerMessage(worker: number, message: FromWorker): void {
    switch (message.type) {
      case 'call.taken':
        this.#handOver.taken(message.offer);
        return;
      case 'call.declined':
        this.#handOver.declined(message.offer);
        return;
      case 'call.over':
        this.#handOver.over(message.offer);
        return;
      case 'tainted':
        this.#options.log.error({ worker }, 'a worker is replaced once its calls have ended');
        return;
      case 'metrics.answer':
        this.#collector.answered(message.ask, message.metrics);
        return;
      case 'ready':
        return;
    }
  }

  #onReleased(): void {
    if (this.#handOver.open === 0) this.#step({ type: 'calls.gone' });
  }

  async #renderMetrics(): Promise<{ contentType: string; body: string }> {
    const { table } = this.#children;
    readSharedGauges(this.#metrics, this.#memory.boxes);
    this.#metrics.workersReady.set(readyWorkers(table).length);
    this.#metrics.inferenceUp.set(inferenceReady(table) ? 1 : 0);
    this.#metrics.handoverWait.set(this.#handOver.oldestWaitMs() / 1000);
    this.#metrics.sessions.set(this.#admission.sessions);
    return await this.#collector.render(this.#metrics, reachableWorkers(table));
  }

  #step(event: LifecycleEvent): void {
    const { clock } = this.#options;
    for (const action of stepLifecycle(this.#lifecycle, event, clock.now())) this.#perform(action);
    this.#arm();
  }

  /** One timer: for the lifecycle's deadline, for connections that wait for a worker, and for looks at inference. */
  #arm(): void {
    const { clock } = this.#options;
    this.#timer?.cancel();
    const deadline = lifecycleDeadline(this.#lifecycle);
    const untilDeadline =
      deadline === undefined ? lookEveryMs : Math.min(lookEveryMs, deadline - clock.now());
    if (deadline === undefined && this.#lifecycle.state.phase === 'gone') return;
    this.#timer = clock.after(Math.max(0, untilDeadline), () => {
      if (this.#handOver.waiting > 0) this.#handOver.retry();
      this.#backlog.look(this.#memory.inferenceUnread(), this.#memory.boxes.oldestTurnAskMs(machineMs()));
      this.#hangWatch.look(this.#options.clock.now(), machineMs());
      this.#step({ type: 'deadline.reached' });
    });
  }

  #perform(action: LifecycleAction): void {
    const { log, settings } = this.#options;
    switch (action) {
      case 'announce.ready':
        log.info({ workers: this.#options.workers, maxSessions: settings.maxSessions }, 'ready');
        return;
      case 'begin.drain':
        log.info({ sessions: this.#admission.sessions, drainMs: settings.drain.drainTimeoutMs }, 'draining');
        this.#children.close();
        if (this.#handOver.open === 0) this.#step({ type: 'calls.gone' });
        return;
      case 'tell.calls':
        this.#children.broadcast({ type: 'shutdown' });
        this.#children.closeInference();
        if (this.#children.count === 0) this.#step({ type: 'children.gone' });
        return;
      case 'kill.children':
        log.warn({ children: this.#children.count }, 'killing children that did not leave');
        this.#children.kill();
        return;
      case 'exit':
        this.#callServer?.close();
        log.info('stopped');
        this.#options.exit(0);
        return;
    }
  }
}
