/**
 * The supervisor at work: owns the listeners, the call slots and the children, and wires the pure machines (lifecycle, process
 * table, admission) to the world. No audio passes here.
 */
import type { FromWorker } from '../../shared/protocol/ipc.ts';
import type { CallFacts } from '../../shared/agents/choose.ts';
import type { AgentAsked, AgentOfCall } from '../../shared/agents/messages.ts';
import { sipOffersFrom } from '../../shared/sip/calls.ts';
import { systemWallClock, type Timer } from '../../shared/runtime/clock.ts';
import { newSupervisorMetrics } from '../../shared/runtime/metrics.ts';
import { heartbeatAge, heartbeatOf } from '../../shared/protocol/heartbeat.ts';
import { machineMs } from '../../shared/runtime/monotonic.ts';
import { Admission, type AdmissionFacts } from '../admission/admission.ts';
import { CallRecords } from '../calls/call-records.ts';
import { unreachedCalls } from '../calls/unreached-call.ts';
import { CallHistory } from '../calls/history/history.ts';
import { recordingKeys } from '../recording/memory.ts';
import { CallMemory, LoadWatch, SessionCount } from './call-memory.ts';
import { newChildSetup } from '../children/child-setup.ts';
import { Children } from '../children/children.ts';
import { departWhenUnneeded } from '../restart/departure.ts';
import type { Answer } from '../http/refusals.ts';
import { HandOver } from '../handover/hand-over.ts';
import { newSignaledCalls, tellHandOver } from '../handover/signaled-calls.ts';
import { HangWatch } from '../children/hang-watch.ts';
import {
  lifecycleDeadline,
  newLifecycle,
  stepLifecycle,
  type LifecycleAction,
  type LifecycleEvent,
} from './lifecycle.ts';
import { LiveView } from './live-view.ts';
import { MonitorDoor } from '../monitor/door.ts';
import { MetricsCollector, readSharedGauges, rendered, setServiceGauges } from './metrics.ts';
import { connectionsOnly, SipFeature } from '../sip/feature.ts';
import { turnModelFailed } from '../../shared/installation/turn-model.ts';
import { ProviderWatch } from './provider-watch.ts';
import { isEndedByItsWork, type ChildEnd } from '../children/child-end.ts';
import * as processes from '../children/process-table.ts';
import { Presence } from './presence.ts';
import { IncomingCalls } from '../listeners/incoming-calls.ts';
import type { ServiceOptions } from './service-options.ts';
import { exportMetrics } from '../tracing/metrics-export.ts';
import { FleetTelephony } from '../telephony/fleet-telephony.ts';

const lookEveryMs = 200;
/** Without calls nobody waits for what a look finds. */
const idleLookEveryMs = 400;

export class Service {
  readonly #options: ServiceOptions;
  readonly #metrics = newSupervisorMetrics();
  readonly #lifecycle;
  readonly #admission: Admission;
  readonly #children: Children;
  readonly #handOver: HandOver;
  readonly #load: LoadWatch;
  readonly #hangWatch: HangWatch;
  #hangLookMs = idleLookEveryMs;
  readonly #incoming: IncomingCalls;
  readonly #presence: Presence;
  readonly #providers: ProviderWatch;
  readonly #collector: MetricsCollector;
  readonly #live: LiveView;
  readonly #memory: CallMemory;
  readonly #sessions: SessionCount;
  readonly #telephony: FleetTelephony;
  readonly #sip: SipFeature;
  readonly #records: CallRecords;
  /** Path; none once it could not be loaded. */
  #turnModel: string | undefined;
  #stopsAsked = 0;
  #isSuccessorStopping = false;
  #timer: Timer | undefined;

  /** Each part is made of those above it. A part tells later ones by functions, of which none is called in here. */
  constructor(options: ServiceOptions) {
    this.#options = options;
    const { settings, clock, log, workers, systemd, launch, parent, inferenceThreads, turnModel } = options;
    this.#turnModel = turnModel;
    this.#presence = new Presence({ log, systemd, settings, pid: launch.pid, isFirst: parent === undefined });
    this.#lifecycle = newLifecycle(settings.drain);
    this.#admission = new Admission({ ...settings, acceptQueue: settings.ws.acceptQueue });
    const hasTurnModel = turnModel !== undefined;
    this.#memory = new CallMemory({ settings, workers, inferenceThreads, hasTurnModel });
    this.#load = new LoadWatch(this.#memory);
    this.#providers = new ProviderWatch(options.providers, this.#memory.boxes);
    this.#children = this.#newChildren();
    this.#hangWatch = this.#newHangWatch();
    this.#handOver = this.#newHandOver();
    this.#telephony = this.#newTelephony();
    this.#sip = this.#newSip();
    this.#records = new CallRecords({
      settings,
      afterCall: options.afterCall,
      clock,
      log,
      metrics: this.#metrics,
      moving: () => this.#handOver.moving,
    });
    this.#sessions = new SessionCount(this.#memory.boxes, {
      most: settings.maxSessions,
      elsewhere: () => this.#handOver.moving + this.#incoming.callLedger.carried,
    });
    this.#live = this.#newLiveView();
    this.#incoming = this.#newIncomingCalls();
    this.#collector = new MetricsCollector({
      clock,
      ask: (worker, ask) => this.#children.send(worker, { type: 'metrics.ask', ask }),
      workers: () => processes.reachableWorkers(this.#children.table),
    });
    this.#sessions.share();
    options.agents?.serve({
      metrics: this.#metrics,
      send: (worker, message) => void this.#children.send(worker, message),
      readyWorkers: () => processes.reachableWorkers(this.#children.table),
      changed: () => this.#records.versionsChanged(),
      ofCalls: () => [...this.#handOver.agents, ...this.#sip.agents, ...this.#telephony.own.agentsAway],
      agentOf: (offer) => this.#placesOf(offer).agentOf(offer),
    });
    exportMetrics({ settings, clock, log, wallClock: systemWallClock }, () => this.#gatherMetrics());
  }

  /** The agent of a call, as a text that travels with it; undefined in a service of one. */
  get #chosenAgent(): ((facts: CallFacts) => string | undefined) | undefined {
    const { agents } = this.#options;
    return agents && ((facts) => agents.chosen(facts));
  }

  /** Why an agent has no room for a call, which is kept where it has. */
  readonly #fullAgent = (chosen: string | undefined): Answer | undefined => {
    const { agents } = this.#options;
    const full = agents?.full(chosen);
    if (full === undefined) agents?.expect(chosen);
    else this.#metrics.refusals.inc({ reason: full.code });
    return full;
  };

  #placesOf(offer: number): Pick<HandOver, 'agentOf' | 'hasAgent'> {
    return offer > sipOffersFrom ? this.#sip : this.#handOver;
  }

  /** A worker asks whether a call may begin on its agent, or says that it has begun. */
  #takeAgent(worker: number, message: AgentAsked | AgentOfCall): void {
    const { offer, agent } = message;
    const { agents } = this.#options;
    const places = this.#placesOf(offer);
    if (message.type === 'agent.asked') {
      const isGranted = agents?.grants(message) !== false;
      if (isGranted) places.hasAgent(offer, agent);
      this.#children.send(worker, { type: 'agent.granted', ask: message.ask, isGranted });
      return;
    }
    places.hasAgent(offer, agent);
    agents?.began(agent.id);
  }

  readonly #readyWorkers = (): readonly number[] =>
    this.#hangWatch.awake(processes.readyWorkers(this.#children.table), machineMs());

  #newChildren(): Children {
    const { settings, clock, log, workers, agent, priorities, parent } = this.#options;
    return new Children({
      clock,
      log,
      workers,
      spare: settings.spareWorker,
      startsGently: parent !== undefined,
      priorities,
      setup: newChildSetup({
        settings,
        memory: this.#memory,
        ...agent,
        agents: this.#options.agents,
        workerRows: () => this.#children.workerRows,
        turnModel: () => this.#turnModel,
      }),
      onReady: (role, index) => this.#onChildReady(role, index),
      onWorkerMessage: (worker, message) => this.#onWorkerMessage(worker, message),
      onSetupFailed: () => this.#onTurnModelFailed(),
      onGone: (role, index, end) => this.#onChildGone(role, index, end),
    });
  }

  #newHangWatch(): HangWatch {
    const { layout, boxes } = this.#memory;
    return new HangWatch({
      table: this.#children.table,
      boxes,
      turnThreads: () => (this.#turnModel === undefined ? 0 : (layout.turnThreads ?? 0)),
      hangMs: this.#options.settings.hangTimeoutMs,
      log: this.#options.log,
      kill: (row, why) => this.#children.killOne(row, why),
      stateOf: (row) => this.#children.stateOf(row),
    });
  }

  #newHandOver(): HandOver {
    const { clock, settings } = this.#options;
    return new HandOver({
      clock,
      readyWorkers: this.#readyWorkers,
      offer: (worker, message, socket) => this.#children.offer(worker, message, socket),
      allGiven: (worker) => this.#children.send(worker, { type: 'calls.given' }),
      keepsCalls: settings.callResume,
      records: { forget: this.#memory.forget, leftBy: connectionsOnly(this.#memory.leftBy) },
      isStopping: () => this.#children.table.course === 'closed',
      counted: (outcome) => this.#metrics.handovers.inc({ outcome }),
    });
  }

  #newTelephony(): FleetTelephony {
    const { settings, clock, log, fleet } = this.#options;
    return new FleetTelephony({
      settings,
      clock,
      log,
      metrics: this.#metrics,
      wallClock: systemWallClock,
      sip: () => this.#sip.carrier,
      chosenAgent: this.#chosenAgent,
      agentName: this.#options.agentName,
      unreached: unreachedCalls(settings, log),
      mayCall: (chosen, number) => this.#options.agents?.mayCall(chosen, number) !== false,
      fullAgent: this.#fullAgent,
      settled: () => this.#lookWhetherEmpty(),
      hosts: fleet?.hosts,
    });
  }

  #newSip(): SipFeature {
    const { settings, clock, log } = this.#options;
    return new SipFeature({
      settings,
      clock,
      log,
      boxes: this.#memory.boxes,
      metrics: this.#metrics,
      records: this.#memory,
      children: this.#children,
      chosenAgent: this.#chosenAgent,
      fullAgent: this.#fullAgent,
      room: (pool, address) => this.#incoming.room(pool, address),
      readyWorkers: this.#readyWorkers,
      told: (dial, event) => this.#telephony.own.outbound.told(dial, event),
    });
  }

  #newLiveView(): LiveView {
    const { agentName, agents, clock, settings } = this.#options;
    return new LiveView({
      agent: agentName,
      clock,
      boxes: this.#memory.boxes,
      machineMs,
      maxSessions: settings.maxSessions,
      workers: () => processes.reachableWorkers(this.#children.table),
      send: (worker, message) => this.#children.send(worker, message),
      providers: () => this.#providers.rows(machineMs()),
      unready: () => this.#unready(),
      agentProblems: agents && (() => agents.problems),
      sessions: () => this.#sessions.now,
    });
  }

  #newMonitorDoor(): MonitorDoor | undefined {
    const { settings, log } = this.#options;
    if (settings.monitor === undefined) return undefined;
    return new MonitorDoor({
      tokens: settings.monitor,
      log,
      now: () => systemWallClock.now(),
      find: (call, tenant) => this.#live.find(call, tenant),
      pass: (worker, offer, socket) => this.#children.send(worker, offer, socket),
    });
  }

  #newHistory(): CallHistory | undefined {
    const { settings, log } = this.#options;
    const token = settings.calls?.token?.reveal();
    if (token === undefined) return undefined;
    const ask = this.#records.ask.bind(this.#records);
    const { dir } = settings.recording;
    const recordings = dir === undefined ? undefined : { dir, keys: recordingKeys(settings) };
    return new CallHistory({ token, now: () => systemWallClock.now(), ask, recordings, log });
  }

  #newIncomingCalls(): IncomingCalls {
    const { settings, agentName, clock, log, launch, priorities, parent } = this.#options;
    return new IncomingCalls({
      telephony: this.#telephony,
      sip: this.#sip,
      fleet: this.#options.fleet,
      settings,
      agentName,
      agents: this.#options.agents,
      clock,
      log,
      launch,
      priorities,
      parent,
      metrics: this.#metrics,
      admission: this.#admission,
      providers: () => {
        this.#countRequests();
        return this.#providers.inUse(machineMs());
      },
      facts: () => this.#admissionFacts(),
      health: {
        unready: () => this.#unready(),
        counts: () => ({
          sessions: this.#sessions.now,
          connections: this.#admission.connections,
          max_sessions: settings.maxSessions,
          workers: processes.readyWorkers(this.#children.table).length,
          ...this.#options.agents?.counts,
        }),
        renderMetrics: async () => await rendered(await this.#gatherMetrics()),
        live: { view: this.#live, log: this.#options.log },
        monitor: this.#newMonitorDoor(),
        history: this.#newHistory(),
      },
      accepted: (socket, request, release) =>
        this.#telephony.greet(request, release, (greeted, over) =>
          this.#handOver.give(socket, greeted, over),
        ),
      signaled: newSignaledCalls(this.#handOver, this.#children),
      released: () => this.#lookWhetherEmpty(),
      carriedChanged: () => this.#sessions.share(),
      isServing: () => this.#lifecycle.state.phase === 'serving',
      serves: () => this.#onServing(),
      cannotTake: () => this.#giveUp(),
      left: (successorPid) => {
        this.#presence.succeededBy(successorPid);
        this.#telephony.own.leave();
        void this.#records.leave();
        this.#step({ type: 'handed.over' });
      },
      successorStops: () => {
        this.#isSuccessorStopping = true;
        this.#step({ type: 'successor.stops' });
      },
      hurry: () => this.#step({ type: 'hurry' }),
    });
  }

  /** Binds the listeners and starts the children. Rejects when an address cannot be bound. */
  async start(): Promise<void> {
    await this.#incoming.open();
    this.#children.run();
    this.#records.start();
  }

  #unready(): string | undefined {
    if (this.#lifecycle.state.phase === 'starting') return 'starting';
    const closed = this.#incoming.unready();
    if (closed !== undefined) return closed.code;
    if (processes.anyFailing(this.#children.table)) return 'children_failing';
    return this.#hangWatch.isInferenceSilent(machineMs()) ? 'inference_silent' : undefined;
  }

  /** SIGTERM, SIGINT or SIGHUP. */
  signal(name: string): void {
    this.#options.log.info({ signal: name, sessions: this.#sessions.now }, 'signal received');
    this.#incoming.stop({ again: this.#stopsAsked > 0 });
    this.#stopsAsked += 1;
    this.#step({ type: 'signal.received' });
  }

  /** SIGUSR2: another supervisor takes over, this one drains. */
  restart(): void {
    this.#incoming.restart(this.#obstacle());
  }

  #obstacle(): string | undefined {
    if (this.#options.launch.pid === 1) return 'process 1 of a container cannot be replaced';
    if (this.#lifecycle.state.phase === 'starting' || !this.#incoming.isThere)
      return 'the service is not ready yet';
    return this.#lifecycle.state.phase === 'serving' ? undefined : 'the service is stopping';
  }

  #onServing(): void {
    const { log, settings, workers, priorities } = this.#options;
    priorities.lead();
    this.#presence.serves();
    this.#telephony.own.open();
    log.info({ workers, maxSessions: settings.maxSessions }, 'ready');
  }

  /** This process has no caller and leaves nothing behind but its words. */
  #giveUp(): void {
    this.#children.kill();
    this.#options.exit(1);
  }

  #onTurnModelFailed(): void {
    this.#turnModel = undefined;
    turnModelFailed(this.#options.log, {
      isStarting: this.#lifecycle.state.phase === 'starting',
      refuse: (problem) => this.#incoming.tellPredecessor(problem, () => this.#giveUp()),
    });
  }

  #admissionFacts(): AdmissionFacts {
    return {
      draining: this.#lifecycle.state.phase !== 'serving' && this.#lifecycle.state.phase !== 'starting',
      sessions: this.#sessions.now,
      readyWorkers: processes.readyWorkers(this.#children.table).length,
      inferenceBehind: this.#load.inferenceBehind,
      workersLate: this.#load.workersLate,
      inHandOver: this.#handOver.waiting,
    };
  }

  readonly #countRequests = (): void =>
    this.#providers.countRequests((provider, count) => this.#incoming.callLedger.requested(provider, count));

  #onChildReady(role: 'worker' | 'inference', index: number): void {
    if (role === 'worker') this.#options.agents?.workerReady(index);
    this.#handOver.retry();
    this.#sip.retry();
    // A worker that could not listen yet has missed the message.
    if (role === 'worker' && this.#lifecycle.state.phase === 'stopping')
      this.#children.send(index, { type: 'shutdown' });
    if (processes.allReady(this.#children.table)) this.#step({ type: 'children.ready' });
  }

  #onChildGone(role: 'worker' | 'inference', index: number, end: ChildEnd): void {
    if (this.#children.table.course === 'serving') this.#metrics.restarts.inc({ role });
    // Calls need not wait until its silence has lasted.
    if (role === 'inference') this.#memory.boxes.threadsGone();
    if (role === 'worker') this.#onWorkerGone(index, end);
    if (this.#children.count === 0) this.#step({ type: 'children.gone' });
  }

  #onWorkerGone(index: number, end: ChildEnd): void {
    const { log } = this.#options;
    const { heartbeatMs } = this.#memory.boxes.workerStatus(index);
    const isOwnFault = isEndedByItsWork(end, heartbeatAge(machineMs(), heartbeatMs));
    const during = isOwnFault ? this.#memory.workedFor(index) : undefined;
    this.#sip.workerGone(index, during?.offer);
    const gone = this.#handOver.workerGone(index, during?.offer);
    this.#sessions.workerGone(index);
    const { open: takenUp, writable, torn, begun, moved, over, blamed } = gone;
    const outcomes = { takenUp, cut: writable + torn + begun, moved, over, blamed };
    if (Object.values(outcomes).some((count) => count > 0))
      log.warn({ worker: index, ...outcomes }, 'the calls of a worker that is gone');
    if (during !== undefined && blamed === 0)
      log.warn({ worker: index, call: during.call }, 'a worker hung or died while it worked for this call');
    if (during !== undefined && blamed > 0)
      log.error(
        { worker: index, call: during.call },
        'a call is ended: workers hung or died during it twice',
      );
    void this.#collector.workerGone(index);
  }

  #onWorkerMessage(worker: number, message: FromWorker): void {
    if (tellHandOver(this.#handOver, message)) {
      this.#sessions.share();
      return;
    }
    if (message.type === 'ready' || this.#sip.take(worker, message)) return;
    switch (message.type) {
      case 'call.agent':
      case 'agent.asked':
        this.#takeAgent(worker, message);
        return;
      case 'control.ask':
        this.#telephony.answer(message.command, (answer) => this.#children.send(worker, answer));
        return;
      case 'tainted':
        this.#options.log.error({ worker }, 'a worker is replaced once its calls have ended');
        return;
      case 'metrics.answer':
        this.#collector.answered(message.ask, message.metrics);
        return;
      case 'live.answer':
        this.#live.answered(message.ask, message.calls);
        return;
      default:
    }
  }

  /** How long calls may go on from here; undefined: until they end. */
  #drainMs(): number | undefined {
    const until = lifecycleDeadline(this.#lifecycle);
    return until === undefined ? undefined : until - this.#options.clock.now();
  }

  #lookWhetherEmpty(): void {
    if (this.#incoming.isEmpty) this.#step({ type: 'calls.gone' });
  }

  #gatherMetrics(): ReturnType<MetricsCollector['gather']> {
    readSharedGauges(this.#metrics, this.#memory.boxes, machineMs());
    this.#options.agents?.readGauges();
    this.#providers.readGauges(this.#metrics, machineMs());
    setServiceGauges(this.#metrics, {
      workersReady: processes.readyWorkers(this.#children.table).length,
      isInferenceUp: processes.inferenceReady(this.#children.table),
      oldestWaitMs: this.#handOver.oldestWaitMs(),
      connections: this.#admission.connections,
      sessions: this.#sessions.now,
      mostSessions: this.#options.settings.maxSessions,
    });
    return this.#collector.gather(this.#metrics);
  }

  #step(event: LifecycleEvent): void {
    stepLifecycle(this.#lifecycle, event, this.#options.clock.now()).forEach((one) => this.#perform(one));
    this.#arm();
  }

  /** One timer: for the lifecycle's deadline, for connections that wait for a worker, and for looks at inference. */
  #arm(): void {
    const { clock } = this.#options;
    this.#memory.boxes.beatSupervisor(heartbeatOf(machineMs()));
    this.#timer?.cancel();
    const deadline = lifecycleDeadline(this.#lifecycle);
    const lookMs = this.#sessions.now > 0 ? lookEveryMs : idleLookEveryMs;
    const untilDeadline = Math.min(lookMs, this.#hangLookMs, (deadline ?? Infinity) - clock.now());
    if (deadline === undefined && this.#lifecycle.state.phase === 'gone') return;
    this.#timer = clock.after(Math.max(0, untilDeadline), () => {
      this.#handOver.retry();
      this.#sip.retry();
      this.#sessions.share();
      this.#records.look();
      this.#countRequests();
      this.#presence.isAlive(machineMs());
      this.#load.look(machineMs());
      this.#hangLookMs = this.#hangWatch.look(this.#options.clock.now(), machineMs());
      this.#step({ type: 'deadline.reached' });
    });
  }

  #perform(action: LifecycleAction): void {
    const { log, settings } = this.#options;
    switch (action) {
      case 'announce.ready':
        this.#incoming.prepared();
        return;
      case 'begin.drain':
        log.info({ sessions: this.#sessions.now, drainMs: this.#drainMs() }, 'draining');
        this.#children.drain();
        if (this.#incoming.isService) this.#presence.stops();
        this.#lookWhetherEmpty();
        return;
      case 'tell.calls':
        this.#children.close();
        // A drain that a second signal cuts short has no time for words.
        this.#children.broadcast({
          type: 'shutdown',
          withinMs: this.#stopsAsked > 1 ? 0 : settings.drain.cancelGraceMs,
        });
        this.#telephony.own.warm.end();
        this.#children.closeInference();
        if (this.#children.count === 0) this.#step({ type: 'children.gone' });
        return;
      case 'kill.children':
        log.warn({ children: this.#children.count }, 'killing children that did not leave');
        this.#children.kill();
        return;
      case 'exit':
        this.#depart();
        return;
    }
  }

  /** Ends this process. A second signal ends the wait for others. */
  #depart(): void {
    const { clock, log, settings, exit } = this.#options;
    departWhenUnneeded({
      clock,
      drain: settings.drain,
      isNeeded: () => this.#handOver.isTelling || (this.#stopsAsked < 2 && this.#incoming.isNeeded),
      isStopping: () => this.#stopsAsked > 0 || this.#isSuccessorStopping,
      leave: () => {
        this.#incoming.close();
        this.#sip.close();
        this.#presence.ends();
        void this.#records.leave().then(() => {
          log.info('stopped');
          exit(0);
        });
      },
    });
  }
}
