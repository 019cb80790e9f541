/**
 * A call worker: takes connections that the supervisor accepted, serves each as a call, and ends with the supervisor. The
 * only file that knows every adapter.
 */
import '../shared/runtime/stack.ts';
import '../shared/runtime/compile-later.ts';
import { randomInt, randomUUID } from 'node:crypto';
import type { Socket as DatagramSocket } from 'node:dgram';
import { Socket } from 'node:net';
import type { WebSocketServer } from 'ws';
import { assert } from '../shared/base/assert.ts';
import {
  callRecordsFd,
  firstBellFd,
  sharedMemoryFd,
  type CallOffer,
  type FromWorker,
  type ToWorker,
  type WorkerSetup,
} from '../shared/protocol/ipc.ts';
import { showsNumbers } from '../shared/telephony/variables.ts';
import { mailboxBytes, Mailboxes, markOfSlot } from '../shared/protocol/mailbox.ts';
import { exitWithParent, firstMessage, tellParent, wakeWhenOrphaned } from '../shared/runtime/child.ts';
import { afterOthers, systemClock, systemWallClock } from '../shared/runtime/clock.ts';
import { wakeWaiters } from '../shared/runtime/futex.ts';
import { giveBufferAway } from '../shared/runtime/detached-buffers.ts';
import { errorFields, newLog, type Log } from '../shared/runtime/log.ts';
import { newWorkerMetrics, type WorkerMetrics } from '../shared/runtime/metrics.ts';
import { machineMs } from '../shared/runtime/monotonic.ts';
import { readProcessState } from '../shared/runtime/process-state.ts';
import { currentScope, keepMarksIn, Scope } from '../shared/runtime/scope.ts';
import { mapInParts, mapSharedMemory } from '../shared/runtime/shm.ts';
import { openObservation, type Observation } from './observe/observation.ts';
import { CallHost } from './host/call-host.ts';
import { speechRateOf } from './host/definition.ts';
import { LeftCalls } from './host/left-calls.ts';
import { supervisorWatch } from './host/supervisor-watch.ts';
import { CallRunner } from './call/runner.ts';
import { WorkerAgents } from './agents/agents.ts';
import { AgentQuestions } from './agents/agents-limited.ts';
import { AgentsAwaited } from './agents/agents-awaited.ts';
import type { AgentSite } from './agents/equip.ts';
import type { WorkerServices } from './call/services.ts';
import { loadAgent, type LoadedAgent } from './host/agent.ts';
import { newFailureLog } from './stages/failure-log.ts';
import { RetryBudgets } from './stages/failover/retry-budget.ts';
import { ToolServers } from './tools/mcp/tool-servers.ts';
import { CarrierLine } from './telephony/carrier-line.ts';
import { resumeCallSocket, type CallSocket } from './transports/socket/call-socket.ts';
import { newUpgradeServer, takeUpgrade } from './transports/socket/upgrades.ts';
import { ReadTurns } from './transports/socket/read-turns.ts';
import { transports } from './transports/all.ts';
import { openPeerCalls } from './webrtc/open-peer-calls.ts';
import type { PeerCalls } from './webrtc/peer-calls.ts';
import type { SipCalls } from './sip/sip-calls.ts';
import { Places, type Place } from './places.ts';

/** Calls say goodbye and sockets close within this time when the supervisor is gone. */
const orphanExitMs = 3_000;
/** Of the time that calls have to end, so much is for closing their connections. */
const closingMs = 500;

/** Set by the bundler; absent when the sources run as they are. */
declare const BUILD_SIP: boolean | undefined;

/** Connections and child processes of tools are closed within this time. */
const registryCloseMs = 1_000;

class Worker {
  readonly #setup: WorkerSetup;
  readonly #log: Log;
  readonly #metrics: WorkerMetrics = newWorkerMetrics();
  readonly #services: WorkerServices;
  readonly #agents: WorkerAgents;
  readonly #observation: Observation;
  readonly #host: CallHost;
  readonly #speechRate: number;
  readonly #left: LeftCalls;
  /** Calls that come by an offer, where there are any. */
  #peers: PeerCalls | undefined;
  #sip: SipCalls | undefined;
  readonly #places: Places;
  readonly #questions = new AgentQuestions((message) => this.#send(message));
  readonly #awaited = new AgentsAwaited(({ offer, resumeFrom }) =>
    this.#agents.pending(this.#left.agentOf(offer, resumeFrom)),
  );
  readonly #server: WebSocketServer;
  readonly #carriers = new CarrierLine((command) => this.#send({ type: 'control.ask', command }));
  readonly #reads = new ReadTurns({ clock: systemClock, soon: afterOthers });
  /** Sockets that are not closed yet; some outlive their calls until the client has read the end. */
  #sockets = 0;
  #draining = false;
  #exiting = false;
  #leaving = false;

  constructor(setup: WorkerSetup, agent: LoadedAgent) {
    this.#setup = setup;
    this.#log = newLog({ role: `worker ${setup.worker}`, level: setup.logLevel });
    const boxes = new Mailboxes(mapSharedMemory(sharedMemoryFd, mailboxBytes(setup.layout)), setup.layout);
    keepMarksIn(boxes.workMark(setup.worker));
    this.#left = new LeftCalls(setup, boxes, (lengths) => mapInParts(callRecordsFd, lengths));
    this.#speechRate = speechRateOf(agent.definition);
    this.#host = new CallHost({
      worker: setup.worker,
      boxes,
      clock: systemClock,
      machineMs,
      isAwaited: this.#left.isAwaited,
      onEmpty: () => this.#exitIfDone(),
      onBeat: supervisorWatch({
        boxes,
        machineMs,
        log: this.#log,
        state: () => readProcessState(process.ppid),
        wake: () => process.kill(process.ppid, 'SIGCONT'),
      }),
    });
    const site = { clock: systemClock, machineMs, log: this.#log, metrics: this.#metrics };
    this.#observation = openObservation(setup, agent.definition, {
      ...site,
      showsNumbers: showsNumbers(process.env),
    });
    const agentSite: AgentSite = {
      ...site,
      boxes,
      worker: setup.worker,
      failures: newFailureLog(systemClock, this.#log),
      budgets: new RetryBudgets(),
      toolServers: new ToolServers(),
      observation: this.#observation,
      agentCa: setup.agentCa,
      callControl: setup.callControl,
      askCarrier: this.#carriers.ask,
    };
    this.#agents = new WorkerAgents({ site: agentSite, own: agent, many: setup.agents });
    this.#services = this.#newServices(boxes);
    this.#places = new Places({
      services: this.#services,
      host: this.#host,
      left: this.#left,
      chose: (offer, agent) => this.#send({ type: 'call.agent', offer, agent }),
      agentsOf: (offer) => this.#questions.of(this.#agents, offer),
      busy: (offer) => this.#send({ type: 'call.busy', offer }),
    });
    this.#server = newUpgradeServer(setup.limits);
    this.#host.listenTo(new Socket({ fd: firstBellFd, readable: true, writable: false }));
    this.#metrics.callsActive.set(0);
  }

  #newServices(boxes: Mailboxes): WorkerServices {
    return {
      clock: systemClock,
      machineMs,
      log: this.#log,
      metrics: this.#metrics,
      boxes,
      wallNow: () => systemWallClock.now(),
      newSessionId: randomUUID,
      showsNumbers: showsNumbers(process.env),
      wake: wakeWaiters,
      gridBefore: this.#host.gridBefore,
      wakeBy: this.#host.wakeBy,
      takesCalls: () => !this.#draining,
      sessions: {
        claim: () => boxes.claimSession(this.#setup.worker),
        carry: () => boxes.addSessions(this.#setup.worker, 1),
        release: () => boxes.addSessions(this.#setup.worker, -1),
      },
      agents: this.#agents,
      accounts: this.#observation.accountsOf(),
    };
  }

  start(): void {
    process.on('message', (message, socket) =>
      this.#take(message as ToWorker, socket as Socket | DatagramSocket | undefined),
    );
    process.on('uncaughtException', (error) => this.#escaped(error));
    process.on('unhandledRejection', (error) => this.#escaped(error));
    exitWithParent(() => {
      this.#log.warn('the supervisor is gone; calls are ended');
      this.#shutdown();
      systemClock.after(orphanExitMs, () => process.exit(0));
    });
    this.#host.keepBeating();
    // Servers of tools have a bounded time to answer; a call that came before would not have theirs.
    const peers = openPeerCalls(this.#setup, this.#speechRate, {
      log: this.#log,
      metrics: this.#metrics.webrtc,
      place: (offer) => this.#places.peer(offer, () => this.#peers?.over(offer.offer)),
      send: (message) => this.#send(message),
    });
    void Promise.all([peers, this.#agents.start(), this.#openSip()]).then(([opened]) => {
      this.#peers = opened;
      this.#send({ type: 'ready' });
    });
  }

  /** A call is taken up once its agent is equipped, and what is said of it meanwhile afterwards. */
  #take(message: ToWorker, socket: Socket | DatagramSocket | undefined): void {
    const isWaiting = this.#awaited.holds(message, () => this.#takeNow(message, socket));
    if (!isWaiting) this.#takeNow(message, socket);
  }

  #takeNow(message: ToWorker, socket: Socket | DatagramSocket | undefined): void {
    switch (message.type) {
      case 'setup':
        return;
      case 'agents.changed':
        this.#agents.change(message);
        return;
      case 'agent.granted':
        this.#questions.answered(message.ask, message.isGranted);
        return;
      case 'call.offer':
        this.#takeOffer(message, socket as Socket | undefined);
        return;
      case 'call.hangup':
        this.#peers?.hangUp(message.offer);
        return;
      case 'call.renew':
        this.#peers?.renew(message);
        return;
      case 'call.candidates':
        this.#peers?.permit(message.offer, message.ips);
        return;
      case 'call.way':
        this.#peers?.bring(message, socket as Socket | undefined);
        return;
      case 'calls.given':
        this.#reads.begin();
        return;
      case 'drain':
        this.#draining = true;
        this.#exitIfDone();
        return;
      case 'shutdown':
        this.#shutdown(Math.max(0, (message.withinMs ?? 0) - closingMs));
        return;
      case 'control.answer':
        this.#carriers.answered(message.commandId, message.outcome);
        return;
      case 'metrics.ask':
        void this.#metrics.registry.getMetricsAsJSON().then((metrics) => {
          this.#send({ type: 'metrics.answer', ask: message.ask, metrics });
        });
        return;
      case 'live.ask':
        this.#send({ type: 'live.answer', ask: message.ask, calls: this.#observation.liveCalls() });
        return;
      case 'call.end':
        this.#observation.endCall(message.call, message.tenant);
        return;
      case 'monitor.offer':
        if (socket !== undefined) this.#observation.monitors?.open(message, socket as Socket);
        return;
      default:
        this.#sip?.take(message, socket as DatagramSocket | undefined);
    }
  }

  #takeOffer(offer: CallOffer, socket: Socket | undefined): void {
    if (offer.signaled !== undefined && this.#peers !== undefined && !this.#draining) {
      this.#peers.take(offer, offer.signaled);
      return;
    }
    const slot = this.#places.free(offer.resumeFrom);
    if (socket === undefined || slot === undefined) {
      this.#send({ type: 'call.declined', offer: offer.offer });
      socket?.destroy();
      return;
    }
    socket.setNoDelay(true);
    const over = (): void => {
      this.#sockets -= 1;
      this.#send({ type: 'call.over', offer: offer.offer });
      this.#exitIfDone();
    };
    if (offer.resumeFrom === undefined) {
      this.#takeNew(offer, { socket, slot, over });
      return;
    }
    try {
      this.#resume(offer, { socket, slot, from: offer.resumeFrom, over });
    } catch (error) {
      this.#log.error(errorFields(error), 'a call could not be taken up');
      this.#send({ type: 'call.declined', offer: offer.offer });
      socket.destroy();
    }
  }

  #takeNew(
    offer: CallOffer,
    { socket, slot, over }: { socket: Socket; slot: number; over: () => void },
  ): void {
    this.#sockets += 1;
    // Said before the answer is written: a worker that dies in between leaves a closed connection, never one with two answers.
    this.#send({ type: 'call.taken', offer: offer.offer });
    // The library answers a malformed upgrade on its own and closes the socket; there is no call then.
    socket.once('close', over);
    const journal = this.#left.journal(offer.offer, slot);
    // An error that is thrown before the call has a scope of its own, or escapes from there, ends this connection and no other.
    const failed = (error: unknown): void => {
      this.#log.error(errorFields(error), 'a connection could not be served');
      scope.close();
      journal?.end();
      socket.destroy();
    };
    const scope = new Scope(`connection ${offer.offer}`, failed, markOfSlot(slot));
    scope.run(() =>
      takeUpgrade(this.#server, { socket, offer }, (ws) => this.#serveSocket(ws, offer, { slot, journal })),
    );
  }

  /** Goes on with a call whose worker is gone. */
  #resume(
    offer: CallOffer,
    { socket, slot, from, over }: { socket: Socket; slot: number; from: number; over: () => void },
  ): void {
    const left = this.#left.read(offer.offer, from);
    const journal = this.#left.journal(offer.offer, slot);
    const ws = resumeCallSocket(socket, left.tail, this.#setup.limits);
    const runner = this.#serveSocket(ws, offer, { slot, journal, left });
    this.#sockets += 1;
    socket.once('close', over);
    const silentMs = left.silentMs();
    this.#places.resume(runner, { slot, left, journal });
    this.#reads.add(ws, silentMs);
    this.#send({ type: 'call.taken', offer: offer.offer });
  }

  async #openSip(): Promise<void> {
    const sip =
      typeof BUILD_SIP === 'undefined' || BUILD_SIP ? await import('./sip/sip-calls.ts') : undefined;
    this.#sip =
      sip &&
      new sip.SipCalls({
        now: () => systemClock.now(),
        unixMs: () => systemWallClock.now(),
        random: () => randomInt(2 ** 32),
        send: (message) => this.#send(message),
        place: (offer, open) => this.#places.sip(offer, open),
        failed: (error) => this.#log.error(errorFields(error), 'a call could not be opened'),
        over: () => this.#exitIfDone(),
      });
  }

  #serveSocket(ws: CallSocket, offer: CallOffer, call: Place): CallRunner {
    const { journal, left } = call;
    const { transport } = offer;
    assert(transport !== 'webrtc', 'a call with a socket has a transport on sockets');
    return this.#places.serve(offer, call, (runner) =>
      transports[transport](ws, runner, {
        limits: this.#setup.limits,
        signedMetadata: offer.signedMetadata,
        journal,
        saved: left?.transport,
        now: () => systemClock.now(),
        wallNow: () => systemWallClock.now(),
        newCallId: randomUUID,
        bind: (callback) => runner.scope.bind(callback),
        complained: (what) => this.#log.warn(what, 'a carrier reports an error of its stream'),
        faultSent: (code, isFatal, fault) => {
          this.#metrics.protocolErrors.inc({ code });
          // Carriers have no words for it in their streams, so that they are told nothing.
          if (isFatal && transport.startsWith('carrier'))
            this.#log.warn({ transport, code, fault }, 'the stream of a telephone call was closed');
        },
      }),
    );
  }

  #shutdown(withinMs = 0): void {
    this.#draining = true;
    this.#exiting = true;
    this.#host.shutdownAll(withinMs);
    this.#exitIfDone();
  }

  /** Leaves once there is nothing to do and the supervisor wants it, or is gone. */
  #exitIfDone(): void {
    this.#metrics.callsActive.set(this.#host.count);
    const isBusy = this.#host.count > 0 || this.#sockets > 0 || (this.#sip?.count ?? 0) > 0;
    if (isBusy || !(this.#exiting || this.#draining)) return;
    if (this.#leaving) return;
    this.#leaving = true;
    // Children of tool servers are told to leave; a child that does not must not hold this process.
    systemClock.after(registryCloseMs, () => process.exit(0));
    void Promise.all([this.#agents.close(), this.#observation.close()]).finally(() => process.exit(0));
  }

  /** Something escaped a call. The call ends, and this worker takes no more: the state that it left behind is unknown. */
  #escaped(error: unknown): void {
    this.#log.error(errorFields(error), 'an exception escaped a call; this worker takes no new calls');
    currentScope()?.fault(error);
    this.#draining = true;
    this.#send({ type: 'tainted' });
    this.#exitIfDone();
  }

  #send(message: FromWorker): void {
    tellParent(message);
  }
}

giveBufferAway();
wakeWhenOrphaned();
const setup = await firstMessage<WorkerSetup>();
new Worker(setup, await loadAgent(setup)).start();
