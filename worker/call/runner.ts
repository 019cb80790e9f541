/**
 * The shell of one call: takes facts from the transport, the media side and the stages, has the driver tell them to the core, and
 * performs the orders. An error that is thrown in here ends this call and no other.
 */
import { assert, unreachable } from '../../shared/base/assert.ts';
import { present } from '../../shared/base/present.ts';
import type { Millis } from '../../shared/base/units.ts';
import { markOfSlot } from '../../shared/protocol/mailbox.ts';
import { errorFields, type Log } from '../../shared/runtime/log.ts';
import { Scope } from '../../shared/runtime/scope.ts';
import type { ChosenAgent } from '../../shared/agents/choose.ts';
import type { AgentRef } from '../../shared/agents/version.ts';
import { admitCall, type AdmittedStart } from './admission.ts';
import { buildCall, type CallBuild } from './build-call.ts';
import { CallDriver } from './driver.ts';
import { EarlyEvents } from './before/early-events.ts';
import type { CallJournal, ResumedCall } from './journal.ts';
import { BeforeCall, type Opened } from './before/before-call.ts';
import { tellLeft } from './before/screening.ts';
import { KeptAudio, type CallSetup, type MachineMessage } from './opening.ts';
import type { RunningCall } from './running-call.ts';
import type { AgentServices, CalledAgent, CallServices, WorkerServices } from './services.ts';
import { AgentsOfCall, chosenFields } from './agents-of-call.ts';
import { OwnAccount } from './own-account.ts';
import { SessionClaim } from './session-claim.ts';
import { callLog } from './trace.ts';
import type { CallRefusal, TypedText } from '../../shared/protocol/call.ts';
import { UnsavedCall } from './unsaved.ts';
import { sessionEndOf, type CallTerm } from './session-end.ts';
import type { CallLink, CallLinkSite, LeftLink } from '../agent-link/contract.ts';
import { releaseOf } from '../agents/call-agent.ts';
import { Preparation } from './before/preparation.ts';
import type { SessionEndReason } from '../../shared/agent-link/events.ts';
import type { CallAction } from '../core/actions.ts';
import { typedCommand } from '../core/commands.ts';
import type { EndCause } from '../core/course.ts';
import type { CallEvent } from '../core/events.ts';
import { streamingStts } from './streaming-stt.ts';
import type { CallSettings } from '../core/settings.ts';
import { newCall, type CallState } from '../core/state.ts';
import type { ReadyLines } from '../lines/known-lines.ts';
import { isPlayoutOrder, isStageOrder, performStageOrder } from './stage-orders.ts';
import type { CallStart, CallTransport, TransportEnd, TransportEvents } from '../transports/transport.ts';

export interface CallRunnerOptions extends CallTerm {
  readonly services: WorkerServices;
  /** The call's mailbox. */
  readonly slot: number;
  /** What this call is to be although its agent says otherwise. */
  readonly refine?: (setup: CallSetup, agent: AgentServices) => CallSetup;
  /** The version of its agent that the call had in another stream. */
  readonly keptAgent?: AgentRef | undefined;
  /** The call has this agent, in a service of many. */
  readonly chose?: (agent: ChosenAgent) => void;
  /** Absent where calls end with their worker. */
  readonly journal?: CallJournal | undefined;
  /** The call was refused for want of room. */
  readonly busy?: () => void;
  /** The call is over and holds nothing any more. Called once. */
  readonly over: () => void;
}

export class CallRunner implements TransportEvents {
  readonly #options: CallRunnerOptions;
  readonly #worker: WorkerServices;
  readonly #agents: AgentsOfCall;
  /** Another worker, or another stream of the call, had it with this agent. */
  #keptAgent: AgentRef | undefined;
  /** What is said before the agent is equipped. */
  #early: EarlyEvents | undefined;
  readonly scope: Scope;
  #log: Log;
  #transport: CallTransport | undefined;
  #call: RunningCall | undefined;
  #driver: CallDriver | undefined;
  #inputRefused = false;
  readonly #unsaved: UnsavedCall;
  /** Said to the machine that has answered. */
  #message: MachineMessage | undefined;
  #before: BeforeCall | undefined;
  readonly #preparation: Preparation;
  readonly #kept = new KeptAudio();
  #toldLines: ReadyLines | undefined;
  /** The call's agent process, where it has one. */
  #link: CallLink | undefined;
  /** Why the engine ends the call. */
  #endReason: 'ended' | 'shutdown' | 'transferred' = 'ended';
  #cause: EndCause | undefined;
  #refusal: CallRefusal | undefined;
  readonly #session: SessionClaim;
  readonly #account: OwnAccount;
  #beganAt: Millis = 0;
  /** What the call is made with. */
  #setup: CallSetup = {};
  #over = false;

  constructor(options: CallRunnerOptions) {
    this.#options = options;
    this.#worker = options.services;
    this.#keptAgent = options.keptAgent;
    this.#session = new SessionClaim(options.services.sessions);
    this.#account = new OwnAccount(options.services);
    this.#log = options.services.log;
    this.scope = new Scope(`slot ${options.slot}`, (error) => this.#fault(error), markOfSlot(options.slot));
    this.#unsaved = new UnsavedCall(options.journal, (journal) => {
      if (this.#transport !== undefined) journal.save(this.#transport, this.#call);
    });
    this.#preparation = this.#newPreparation();
    this.#agents = this.#newAgents();
  }

  /** Gives the runner its transport, before any event of it. */
  attach(transport: CallTransport): void {
    this.#transport = transport;
    this.#save();
  }

  /** Goes on with a call that another worker had. The transport is attached, and nothing of it was heard yet. */
  resume(left: ResumedCall): void {
    const transport = this.#transport;
    assert(transport !== undefined, 'a call goes on with its transport');
    this.#session.carry();
    const { start, setup, agent, state, startedAt, turns } = left.call;
    const services = this.#agents.take(this.#worker.agents.again(agent));
    this.#log = callLog(services, start);
    this.#keepSetup(setup, start.recordId);
    this.#openAccount(start, startedAt, left.silentMs);
    this.#message = setup.message;
    this.#agents.current.vary(setup.overrides ?? {}, 'takeover', this.#log);
    this.#agents.current.enter(left.call.node, this.#log)();
    this.#openLink(start, { terms: setup.link, saved: left.call.link, downMs: left.silentMs });
    const call = this.#build(start, transport, { setup, state, startedAt, turns, isResumed: true });
    this.#drive(call);
    call.audio.keepEarlier(left.turnAudio);
    call.audio.allowBacklog(left.silentMs);
    this.#log.info({ silentMs: Math.round(left.silentMs) }, 'call taken up');
    const { context, sentSamples } = left.playout;
    const position = { context, sentMs: (sentSamples * 1000) / start.sampleRate };
    const { turnAudio, silentMs } = left;
    this.#tell({ type: 'call.resumed', position, turnAudio: turnAudio.length > 0, silentMs });
    this.#tellLines();
  }

  // ---- facts from the transport ----

  started(given: CallStart): void {
    this.#account.asked(given);
    const agent = this.#worker.agents.of(given, this.#keptAgent);
    if (agent === 'unknown') {
      this.#refuse('unknown_agent');
      return;
    }
    if (!(agent instanceof Promise)) {
      this.#begin(given, agent);
      return;
    }
    const early = new EarlyEvents();
    this.#early = early;
    const begin = (called: CalledAgent | 'full'): void => {
      this.#early = undefined;
      if (called === 'full') this.#refuse('server_busy');
      else this.#begin(given, called);
      early.tell(this);
    };
    agent.then(
      // The scope of a call that is over runs nothing.
      (called) => (this.#over ? releaseOf(called) : this.scope.run(begin, called)),
      (error: unknown) => this.scope.run(() => this.#fault(error)),
    );
  }

  #begin(given: CallStart, agent: CalledAgent): void {
    const transport = this.#transport;
    assert(transport !== undefined, 'a transport speaks only after it was attached');
    const services = this.#agents.take(agent);
    const named = this.#account.named(given, services);
    const start = admitCall(named, services);
    this.#beganAt = this.#worker.clock.now();
    this.#openAccount(start ?? this.#account.unadmitted(named), this.#beganAt);
    if (start === undefined) {
      this.#refuse('unsigned_route');
      return;
    }
    if (!services.takesCalls() || !this.#session.take()) {
      this.#refuse('server_busy');
      return;
    }
    this.#log = callLog(services, start);
    this.#agents.current.varyAsSigned(start.metadata, this.#log);
    const before = new BeforeCall({
      services,
      slot: this.#options.slot,
      start,
      message: this.#message,
      bind: (callback) => this.scope.bind(callback),
      keep: (message) => this.#keepSetup({ message }, start.recordId),
      prepare: (of) => this.#preparation.prepare(of),
      opened: (opened) => this.#open(opened),
      left: () => {
        this.#cause = 'machine';
        this.#transport?.end('ended');
      },
      failed: (error) => this.#fault(error),
    });
    this.#before = before;
    this.#keepSetup(this.#message === undefined ? {} : { message: this.#message }, start.recordId);
    this.#save();
    before.begin();
  }

  #newPreparation(): Preparation {
    return new Preparation({
      agents: this.#worker.agents,
      bind: (callback) => this.scope.bind(callback),
      isOver: () => this.#over,
      log: () => this.#log,
      called: () => this.#agents.current.called,
      services: () => this.#services,
      hand: (other) => this.#agents.take(other),
      handed: (start) => {
        this.#log = callLog(this.#services, start);
        this.#openAccount(start, this.#beganAt);
      },
      varyAsSigned: ({ metadata }) => this.#agents.current.varyAsSigned(metadata, this.#log),
      vary: (given) => this.#agents.current.vary(given, 'before_call', this.#log),
      askProcess: (start) => this.#askProcess(start),
      refuse: (why) => {
        this.#before?.cancel();
        this.#refuse(why);
      },
    });
  }

  #newAgents(): AgentsOfCall {
    return new AgentsOfCall({
      worker: this.#worker,
      scope: this.scope,
      isOver: () => this.#over,
      log: () => this.#log,
      chose: this.#options.chose,
      call: () => this.#call,
      transport: () => this.#transport,
      setup: () => this.#setup,
      tell: (event) => this.#tell(event),
      entered: () => this.#entered(),
      relined: () => void (this.#toldLines = undefined),
    });
  }

  /** Another agent has the call. */
  #entered(): void {
    const { variables, link } = this.#setup;
    const start = this.#call?.start;
    if (start === undefined) return;
    this.#log = callLog(this.#services, start);
    this.#toldLines = undefined;
    this.#keepSetup(present({ variables, link }), start.recordId);
  }

  #askProcess(start: AdmittedStart): CallSetup | Promise<CallSetup> {
    this.#openLink(start);
    return this.#link?.prepare() ?? {};
  }

  /** Another worker was asking what the call is to be when it died: it is asked again. */
  resumeOpening({ message, recordId }: CallSetup, agent?: AgentRef): void {
    this.#message = message;
    this.#account.recordId = recordId;
    this.#keptAgent = agent ?? this.#keptAgent;
    this.#session.carry();
    this.#transport?.restart?.();
    // One that has not sent its `start` has no place yet.
    if (this.#before === undefined && this.#call === undefined) this.#session.leave();
  }

  #open({ start: asked, setup: prepared, opening, afterWords, isLate }: Opened): void {
    const start = this.#preparation.handed ?? asked;
    const { overrides = {}, ...told } = prepared;
    const refused = this.#agents.current.vary(overrides, 'agent_link', this.#log);
    const held = this.#agents.current.overrides;
    const given = {
      ...told,
      ...this.#preparation.given,
      ...(Object.keys(held).length > 0 && { overrides: held }),
    };
    const transport = this.#transport;
    assert(transport !== undefined && this.#before !== undefined, 'a call opens once, with its transport');
    this.#before = undefined;
    if (isLate) {
      this.#log.warn('the agent process did not answer the start of a call in time');
      this.#leaveLink('call_ended');
    }
    const setup = this.#options.refine?.(given, this.#services) ?? given;
    this.#message = setup.message;
    this.#agents.current.begin(this.#log);
    const startedAt = this.#worker.clock.now();
    this.#keepSetup(setup, start.recordId);
    const state = (settings: CallSettings): CallState =>
      newCall(settings, { session: start.callId, now: startedAt });
    const call = this.#build(start, transport, { setup, state, startedAt, turns: 0, isResumed: false });
    this.#drive(call);
    transport.accept();
    this.#link?.refused(refused);
    const { sampleRate: rate, encoding, metadata } = start;
    const how = chosenFields(this.#agents.current.called.chosen);
    this.#log.info({ rate, encoding, metadata: Object.keys(metadata), ...how }, 'call started');
    const sttStreams = streamingStts.has(this.#services.stt) || undefined;
    const facts = present({ message: setup.message?.text, sttStreams });
    this.#tell({ type: 'call.opened', ...(afterWords && { afterWords }), ...facts });
    for (const digit of opening.digits) this.dtmf(digit);
    for (const typed of opening.texts) this.typed(typed);
    const { frames, ms } = opening.takeAudio();
    call.audio.allowBacklog(ms);
    this.#kept.add(frames);
    this.#tellLines();
  }

  audio(bytes: Uint8Array): boolean {
    this.#early?.audio(bytes);
    if (this.#call === undefined) {
      this.#before?.audio(bytes);
      return true;
    }
    if (this.#kept.isEmpty && !this.#call.audio.isBehind) {
      this.#inputRefused = !this.#call.audio.take(bytes);
    } else {
      this.#inputRefused = this.#kept.isFull;
      if (!this.#inputRefused) this.#kept.add([Buffer.from(bytes)]);
      this.#worker.wakeBy(this.dueAt);
    }
    return !this.#inputRefused;
  }

  dtmf(digit: string): void {
    this.#early?.add((call) => call.dtmf(digit));
    this.#before?.dtmf(digit);
    this.#tell({ type: 'dtmf.pressed', digit, position: this.#call?.audio.position });
  }

  typed(typed: TypedText): void {
    this.#early?.add((call) => call.typed(typed));
    this.#before?.typed(typed);
    this.#tell({ type: 'command.given', command: typedCommand(typed), position: this.#call?.audio.position });
  }

  readonly messaged: TransportEvents['messaged'] = (message) => this.#link?.clientSaid(message) ?? false;

  markPlayed(id: string): void {
    this.#call?.audio.markPlayed(id);
    this.#tell({ type: 'mark.played', id });
  }

  ended(reason: TransportEnd): void {
    const leave = (): void => {
      this.#tell({ type: 'call.closed', position: this.#call?.audio.position });
      this.#finish(reason);
    };
    if (this.#call?.control.holds(leave) !== true) leave();
  }

  // ---- the worker ----

  /** When a tick is wanted, beside one every 20 ms. */
  get dueAt(): Millis {
    if (!this.#kept.isEmpty) return 0;
    return Math.min(this.#driver?.deadline ?? Infinity, this.#call?.audio.nextAt ?? Infinity);
  }

  /** Frames and decisions that are due. */
  tick(now: Millis): void {
    this.#kept.hear((frame) => this.#call?.audio.take(frame) === true);
    this.#call?.audio.advance(now);
    if (now >= (this.#driver?.deadline ?? Number.POSITIVE_INFINITY))
      this.#tell({ type: 'deadline.reached', position: this.#call?.audio.position });
  }

  /** Every 20 ms: everything else that waits for time. */
  housekeep(now: Millis): void {
    if (this.#inputRefused) {
      this.#inputRefused = false;
      this.#transport?.inputTaken();
    }
    this.#before?.tick(now);
    this.#call?.audio.collectSpeech(this.#kept.isEmpty);
    this.#tellLines();
    if (this.#unsaved.isDue(now)) this.#save();
    this.#link?.tick();
    if (now >= (this.#options.endsAt ?? Number.POSITIVE_INFINITY)) {
      this.#cause ??= 'time_limit';
      this.#transport?.end('ended');
    }
    this.#transport?.tick(now);
  }

  collectSpeech(): void {
    this.#before?.collect();
    this.#call?.audio.collectSpeech(this.#kept.isEmpty);
  }

  /** The service stops within this time: the call is told so. */
  shutdown(withinMs: Millis = 0): void {
    this.#endReason = 'shutdown';
    if (this.#call === undefined) this.#refuse('server_busy');
    else this.#tell({ type: 'call.shutdown', withinMs });
  }

  #refuse(why: CallRefusal): void {
    if (why === 'server_busy') this.#options.busy?.();
    this.#refusal = why;
    this.#transport?.refuse(why);
  }

  /** Lines are made while calls run. */
  #tellLines(): void {
    if (this.#call === undefined) return;
    const { ready } = this.#services.tts;
    if (this.#toldLines === ready) return;
    this.#toldLines = ready;
    this.#tell({ type: 'lines.ready', ...ready });
  }

  // ---- the core ----

  #drive(call: RunningCall): void {
    this.#call = call;
    this.#driver = new CallDriver(call.state, {
      now: () => this.#worker.clock.now(),
      stepped: (fact, orders, now) => call.observers.stepped({ fact, orders, now, state: call.state }),
      perform: (order) => this.#perform(call, order),
    });
  }

  #tell(event: CallEvent): void {
    this.scope.marked(this.#take, event);
  }

  readonly #take = (event: CallEvent): void => {
    const told = this.#driver?.tell(event) ?? 'waits';
    if (told === 'waits') return;
    this.#worker.wakeBy(this.dueAt);
    if (!this.#unsaved.mayWait(event, told, this.#worker.clock.now())) this.#save();
  };

  #save(): void {
    if (!this.#over && this.#transport !== undefined) this.#unsaved.save(this.#log);
  }

  #perform(call: RunningCall, action: CallAction): void {
    if (isStageOrder(action)) {
      if (action.type === 'tts.speak' && action.recorded === true) call.log.announced();
      performStageOrder(call, action);
      return;
    }
    if (isPlayoutOrder(action)) {
      call.audio.perform(action);
      return;
    }
    switch (action.type) {
      case 'tool.run':
        call.tools.run(action);
        return;
      case 'tool.abandon':
        call.tools.abandon(action.key, action.reason);
        return;
      case 'carrier.transfer':
      case 'carrier.keys':
        call.control.perform(action);
        return;
      case 'agent.prepare':
      case 'agent.enter':
      case 'agent.dismiss':
      case 'node.equip':
        this.#agents.perform(action);
        return;
      case 'turn.judge':
        call.audio.judge(action.ask);
        return;
      case 'call.end':
        this.#endReason = action.reason;
        this.#cause = action.cause;
        call.log.cause = action.cause ?? action.reason;
        tellLeft(this.#services, call, this.#message);
        call.audio.silence();
        call.stages.cancelLlm();
        this.#transport?.end(action.reason === 'shutdown' ? 'shutdown' : 'ended');
        return;
      case 'told':
        call.log.follow(action.event);
        this.#link?.follow(action.event);
        this.#transport?.tell(call.stages.withCause(action.event));
        return;
      default:
        unreachable(action);
    }
  }

  // ---- beginning and end ----

  get #services(): CallServices {
    return this.#agents.current.services;
  }

  #build(
    start: AdmittedStart,
    transport: CallTransport,
    from: Pick<CallBuild, 'setup' | 'state' | 'startedAt' | 'turns' | 'isResumed'>,
  ): RunningCall {
    const { slot, journal } = this.#options;
    return buildCall({
      services: this.#services,
      scope: this.scope,
      log: this.#log,
      slot,
      journal,
      start,
      transport,
      link: this.#link,
      agent: this.#agents.ref,
      account: this.#account.observer,
      ...from,
      tell: (event) => this.#tell(event),
      audio: () => this.#call?.audio,
    });
  }

  #openLink(start: AdmittedStart, left?: LeftLink): void {
    const bind: CallLinkSite['bind'] = (callback) => this.scope.bind(callback);
    const command: CallLinkSite['command'] = (id, given) =>
      this.#tell({ type: 'command.given', id, command: given, position: this.#call?.audio.position });
    const { farewell } = this.#services.settings;
    this.#link = this.#services.openLink?.(start, { bind, command, client: this.#transport, farewell }, left);
  }

  /** A part of the setup, which another worker needs, names the record. */
  #keepSetup(setup: CallSetup, recordId: string | undefined): void {
    const named = { ...setup, ...present({ recordId }) };
    this.#setup = named;
    this.#options.journal?.keepSetup(named, this.#agents.ref);
  }

  #openAccount(start: AdmittedStart, startedAt: Millis, silentMs?: Millis): void {
    const opening = { agent: this.#agents.current, startedAt, ...present({ silentMs }) };
    this.#attempt(() => this.#account.open(start, opening));
  }

  #fault(error: unknown): void {
    this.#log.error(errorFields(error), 'call failed');
    this.#attempt(() => this.#transport?.fail());
    this.#finish('fault', { isBroken: true });
  }

  #leaveLink(reason: SessionEndReason): void {
    const link = this.#link;
    this.#link = undefined;
    if (link !== undefined) this.#attempt(() => link.ended(reason));
  }

  /** Does a part of the ending. A part that fails must neither stop the others nor reach the worker. */
  #attempt(part: () => void): void {
    try {
      part();
    } catch (error) {
      this.#log.error(errorFields(error), 'the end of a call failed in part');
    }
  }

  #finish(left: TransportEnd, { isBroken } = { isBroken: false }): void {
    if (this.#over) return;
    this.#over = true;
    // A carrier that hands a caller on, or presses keys, ends the stream itself, as one does that hangs up.
    const call = this.#call;
    // Its close may overtake the word that the stream is over.
    const isMoved = (left === 'hangup' || left === 'disconnected') && call?.control.isMoved === true;
    const end = isMoved || this.#endReason === 'transferred' ? 'engine' : left;
    if (isMoved) call.log.cause = 'keys';
    this.#session.leave();
    this.#driver?.close();
    if (call !== undefined) {
      this.#attempt(() => call.tools.close());
      this.#attempt(() => call.stages.close());
      const lastedMs = this.#worker.clock.now() - call.startedAt;
      call.observers.ended(end, this.#worker.clock.now());
      call.log.ended(end, { lastedMs, energyFrames: call.audio.judgedByEnergy });
    }
    const [engine, cause, refusal] = [this.#endReason, this.#cause, this.#refusal];
    const over = { end, engine, cause, isMoved, isBroken, refusal, line: this.#transport?.heardLine };
    this.#attempt(() => this.#account.over(over));
    this.#before?.cancel();
    this.#leaveLink(sessionEndOf(end, this.#endReason));
    this.#call = undefined;
    this.#driver = undefined;
    this.#options.journal?.end();
    this.#agents.release();
    this.scope.close();
    this.#options.over();
  }
}
