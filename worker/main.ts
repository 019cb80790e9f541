/**
 * A call worker: takes connections that the supervisor accepted, serves each as a call, and ends with the supervisor. The
 * only file that knows every adapter.
 */
import '../shared/runtime/stack.ts';
import { randomInt, randomUUID } from 'node:crypto';
import type { Socket as DatagramSocket } from 'node:dgram';
import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { WebSocketServer } from 'ws';
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
import { callRecordBytes, CallRecords } from '../shared/protocol/call-record.ts';
import { mailboxBytes, Mailboxes } from '../shared/protocol/mailbox.ts';
import { vadFrameMs } from '../shared/protocol/mailbox-slot.ts';
import { exitWithParent, firstMessage, wakeWhenOrphaned } from '../shared/runtime/child.ts';
import { afterOthers, systemClock, systemWallClock } from '../shared/runtime/clock.ts';
import { giveBufferAway } from '../shared/runtime/detached-buffers.ts';
import { errorFields, newLog, type Log } from '../shared/runtime/log.ts';
import { newWorkerMetrics, type WorkerMetrics } from '../shared/runtime/metrics.ts';
import { machineMs } from '../shared/runtime/monotonic.ts';
import { currentScope, Scope } from '../shared/runtime/scope.ts';
import { mapSharedMemory } from '../shared/runtime/shm.ts';
import { agentLinkServices } from './agent-link/agent-links.ts';
import { openObservation, type Observation } from './observe/observation.ts';
import { announcementLine } from './lines/announcement.ts';
import { ringMarginFrames } from './call/audio.ts';
import { CallHost } from './host/call-host.ts';
import type { CallSetup } from './call/opening.ts';
import type { CallServices } from './call/services.ts';
import { Seating, type Seat } from './host/seating.ts';
import { loadAgent, type LoadedAgent } from './host/agent.ts';
import {
  callSettings,
  knownTexts,
  speechSettings,
  stageDefinitions,
  toolBook,
  toolSettings,
} from './host/definition.ts';
import { withKnownLines } from './lines/known-lines.ts';
import { withPauses } from './stages/later-tts.ts';
import { warmUpLooks } from './media/echo/echo.ts';
import { warmUpHearing } from './media/vad/warm-up.ts';
import { newFailureLog, type FailureLog } from './stages/failure-log.ts';
import { openStages } from './stages/registry.ts';
import { ToolRegistry } from './tools/registry.ts';
import { noCallControl } from './tools/tool.ts';
import { carriedSetup } from './telephony/carried.ts';
import { meansOf } from './telephony/call-control.ts';
import { CarrierLine } from './telephony/carrier-line.ts';
import { callSocketServerOptions, CallSocket, resumeCallSocket } from './transports/socket/call-socket.ts';
import { ReadTurns } from './transports/socket/read-turns.ts';
import { transports } from './transports/all.ts';
import type { SipCalls } from './transports/sip/sip-calls.ts';
import type { CallTransport } from './transports/transport.ts';

/** Calls say goodbye and sockets close within this time when the supervisor is gone. */
const orphanExitMs = 3_000;

/** Set by the bundler; absent when the sources run as they are. */
declare const BUILD_SIP: boolean | undefined;

/** Connections and child processes of tools are closed within this time. */
const registryCloseMs = 1_000;

class Worker {
  readonly #setup: WorkerSetup;
  readonly #log: Log;
  readonly #metrics: WorkerMetrics = newWorkerMetrics();
  readonly #failures: FailureLog;
  readonly #services: CallServices;
  readonly #registry: ToolRegistry;
  readonly #observation: Observation;
  readonly #host: CallHost;
  readonly #seating: Seating;
  readonly #boxes: Mailboxes;
  readonly #records: CallRecords | undefined;
  /** What the process that had this seat before left: connections by slot, until somebody has taken them up or given them up. */
  readonly #awaited: ReadonlyMap<number, number>;
  readonly #server: WebSocketServer;
  #sip: SipCalls | undefined;
  readonly #carriers = new CarrierLine((command) => this.#send({ type: 'control.ask', command }));
  readonly #reads = new ReadTurns({ clock: systemClock, soon: afterOthers });
  /** Sockets that are not closed yet; some outlive their calls until the client has read the end. */
  #sockets = 0;
  #draining = false;
  #exiting = false;
  #leaving = false;

  constructor(setup: WorkerSetup, { definition, adapters }: LoadedAgent) {
    this.#setup = setup;
    this.#log = newLog({ role: `worker ${setup.worker}`, level: setup.logLevel });
    this.#failures = newFailureLog(systemClock, this.#log);
    const boxes = new Mailboxes(mapSharedMemory(sharedMemoryFd, mailboxBytes(setup.layout)), setup.layout);
    const slots = boxes.slots;
    this.#records = setup.callResume
      ? new CallRecords(mapSharedMemory(callRecordsFd, callRecordBytes({ slots })), { slots })
      : undefined;
    this.#boxes = boxes;
    const own = setup.layout.slotsPerWorker;
    this.#awaited = this.#records?.offersIn(setup.worker * own, own) ?? new Map();
    this.#host = new CallHost({
      worker: setup.worker,
      boxes,
      clock: systemClock,
      machineMs,
      isAwaited: (slot) =>
        this.#awaited.has(slot) && this.#awaited.get(slot) === this.#records?.offerOf(slot),
      onEmpty: () => this.#exitIfDone(),
    });
    this.#registry = new ToolRegistry(toolSettings(definition), { clock: systemClock, log: this.#log });
    this.#observation = openObservation(setup, definition, {
      ...{ clock: systemClock, log: this.#log, metrics: this.#metrics },
    });
    this.#services = this.#newServices(boxes, { definition, adapters });
    this.#seating = new Seating({
      setup,
      boxes,
      services: this.#services,
      host: this.#host,
      records: this.#records,
    });
    this.#server = new WebSocketServer(callSocketServerOptions(setup.limits));
    // Tokens stand in addresses: no answer to an upgrade may be kept by a cache (spec 01).
    this.#server.on('headers', (headers) => headers.push('Cache-Control: no-store'));
    this.#host.listenTo(new Socket({ fd: firstBellFd, readable: true, writable: false }));
    this.#metrics.callsActive.set(0);
  }

  #newServices(boxes: Mailboxes, { definition, adapters }: LoadedAgent): CallServices {
    const registry = this.#registry;
    const means = {
      turnModel: (boxes.layout.turnThreads ?? 0) > 0,
      replayMs: (boxes.layout.ringFrames - ringMarginFrames) * vadFrameMs,
    };
    const settings = callSettings(definition, means);
    const stages = openStages(stageDefinitions(definition), adapters, {
      breakers: boxes.breakers,
      metrics: this.#metrics,
      machineMs,
      requested: (stage, role) => boxes.countRequest(this.#setup.worker, stage, role),
      failed: (failure) => this.#failures.note(failure),
    });
    return {
      clock: systemClock,
      machineMs,
      log: this.#log,
      metrics: this.#metrics,
      boxes,
      settings,
      ...agentLinkServices(definition, {
        ...{ env: process.env, certificates: this.#setup.agentCa },
        mayTransfer: (start) => meansOf(start, this.#setup.callControl)?.transfer === true,
        ...{ clock: systemClock, log: this.#log, metrics: this.#metrics },
      }),
      openTools: (context, { metadata, remote, control }) => {
        const tools = registry.openCall(context, { control, metadata, ...(remote && { remote }) });
        return { tools, book: toolBook(definition, tools.tools) };
      },
      observe: this.#observation.observe,
      carriers: {
        ...{ means: this.#setup.callControl, telephony: definition.telephony },
        ...{ language: definition.agent.language, ask: this.#carriers.ask },
      },
      speech: speechSettings(definition, means),
      echo: definition.turn.echo,
      ...stages,
      tts: withKnownLines(withPauses(stages.tts), {
        clock: systemClock,
        log: this.#log,
        ...knownTexts(settings),
        announcement: announcementLine(definition.agent.announcement, definition.tts.sampleRate),
        isDown: () => boxes.breakers.of('tts', 'primary').state(machineMs()) === 'open',
      }),
      gridBefore: this.#host.gridBefore,
      takesCalls: () => !this.#draining,
      sessions: {
        claim: () => boxes.claimSession(this.#setup.worker),
        carry: () => boxes.addSessions(this.#setup.worker, 1),
        release: () => boxes.addSessions(this.#setup.worker, -1),
      },
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
    void this.#begin();
  }

  async #begin(): Promise<void> {
    if (typeof BUILD_SIP === 'undefined' || BUILD_SIP) this.#sip = await this.#newSip();
    // Servers of tools have a bounded time to answer; a call that came before would not have theirs.
    await this.#registry.start(noCallControl);
    warmUpHearing();
    warmUpLooks();
    this.#send({ type: 'ready' });
  }

  async #newSip(): Promise<SipCalls> {
    const { SipCalls: Calls } = await import('./transports/sip/sip-calls.ts');
    return new Calls({
      now: () => systemClock.now(),
      random: () => randomInt(2 ** 32),
      send: (message) => this.#send(message),
      seat: (offer, open) =>
        this.#draining
          ? undefined
          : this.#seating.seat(offer, ({ runner, saved }) =>
              open({ events: runner, saved, scope: runner.scope }),
            ),
      failed: (error) => this.#log.error(errorFields(error), 'a call could not be opened'),
      over: () => this.#exitIfDone(),
    });
  }

  #take(message: ToWorker, socket: Socket | DatagramSocket | undefined): void {
    switch (message.type) {
      case 'setup':
        return;
      case 'call.offer':
        this.#takeOffer(message, socket as Socket | undefined);
        return;
      case 'calls.given':
        this.#reads.begin();
        return;
      case 'drain':
        this.#draining = true;
        this.#exitIfDone();
        return;
      case 'shutdown':
        this.#shutdown();
        return;
      case 'control.answer':
        this.#carriers.answered(message.commandId, message.outcome);
        return;
      case 'metrics.ask':
        void this.#metrics.registry.getMetricsAsJSON().then((metrics) => {
          this.#send({ type: 'metrics.answer', ask: message.ask, metrics });
        });
        return;
      default:
        this.#sip?.take(message, socket as DatagramSocket | undefined);
    }
  }

  #takeOffer(offer: CallOffer, socket: Socket | undefined): void {
    const slot = this.#draining ? undefined : this.#host.freeSlot(offer.resumeFrom);
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
    const head = Buffer.from(offer.head, 'base64');
    const { method, url, headers } = offer;
    const request = { method, url, headers, socket } as unknown as IncomingMessage;
    const journal = this.#seating.newJournal(offer.offer, slot);
    // What is thrown before the call has a scope of its own, or escapes from there, ends this connection and no other.
    const scope = new Scope(`connection ${offer.offer}`, (error) => {
      this.#log.error(errorFields(error), 'a connection could not be served');
      scope.close();
      journal?.end();
      socket.destroy();
    });
    scope.run(() =>
      this.#server.handleUpgrade(request, socket, head, (ws) => {
        assert(ws instanceof CallSocket, 'the server makes sockets of the class it was given');
        const seat = { slot, journal, refine: this.#refined(offer) };
        this.#seating.serve(seat, (runner) => this.#openSocket(ws, offer, { runner, journal }));
      }),
    );
  }

  /** Goes on with a call whose worker is gone. */
  #resume(
    offer: CallOffer,
    { socket, slot, from, over }: { socket: Socket; slot: number; from: number; over: () => void },
  ): void {
    const opened: CallSocket[] = [];
    const place = { slot, from, refine: this.#refined(offer) };
    const silentMs = this.#seating.takeUp(offer.offer, place, (seat, tail) => {
      const ws = resumeCallSocket(socket, tail, this.#setup.limits);
      opened.push(ws);
      return this.#openSocket(ws, offer, seat);
    });
    this.#sockets += 1;
    socket.once('close', over);
    for (const ws of opened) this.#reads.add(ws, silentMs);
    this.#send({ type: 'call.taken', offer: offer.offer });
  }

  #refined({ carried }: CallOffer): (setup: CallSetup) => CallSetup {
    return (setup) => carriedSetup(setup, carried, this.#services.carriers.telephony);
  }

  #openSocket(ws: CallSocket, offer: CallOffer, { runner, journal, saved }: Seat): CallTransport {
    return transports[offer.transport](ws, runner, {
      ...{ journal, saved, limits: this.#setup.limits, signedMetadata: offer.signedMetadata },
      ...{ now: () => systemClock.now(), wallNow: () => systemWallClock.now(), newCallId: randomUUID },
      bind: (callback) => runner.scope.bind(callback),
      faultSent: (code) => this.#metrics.protocolErrors.inc({ code }),
    });
  }

  #shutdown(): void {
    this.#draining = true;
    this.#exiting = true;
    this.#host.shutdownAll();
    this.#exitIfDone();
  }

  /** Leaves once there is nothing to do and the supervisor wants it, or is gone. */
  #exitIfDone(): void {
    this.#metrics.callsActive.set(this.#host.count);
    if (
      this.#host.count > 0 ||
      this.#sockets > 0 ||
      (this.#sip?.count ?? 0) > 0 ||
      !(this.#exiting || this.#draining)
    )
      return;
    if (this.#leaving) return;
    this.#leaving = true;
    // Children of tool servers are told to leave; one that does not must not hold this process.
    systemClock.after(registryCloseMs, () => process.exit(0));
    void Promise.all([this.#registry.close(), this.#observation.close()]).finally(() => process.exit(0));
  }

  /** Something escaped a call. The call ends, and this worker takes no more: what it left behind is unknown. */
  #escaped(error: unknown): void {
    this.#log.error(errorFields(error), 'an exception escaped a call; this worker takes no new calls');
    currentScope()?.fault(error);
    this.#draining = true;
    this.#send({ type: 'tainted' });
    this.#exitIfDone();
  }

  #send(message: FromWorker): void {
    if (process.connected) process.send?.(message);
  }
}

giveBufferAway();
wakeWhenOrphaned();
const setup = await firstMessage<WorkerSetup>();
new Worker(setup, await loadAgent(setup)).start();
