/**
 * Telephone calls beyond their streams: performs what calls ask of their carriers, once for each id, and remembers what a call that
 * comes back on another stream goes on with. It lives in the supervisor because it outlives streams and workers (decision 0049).
 * No number, digit or text of a conversation is logged.
 */
import type { CallFacts } from '../../shared/agents/choose.ts';
import { chosenKeys } from '../../shared/agents/chosen.ts';
import type { AgentRef } from '../../shared/agents/version.ts';
import { present } from '../../shared/base/present.ts';
import type { ServerSettings } from '../../shared/config/server/server.ts';
import type {
  CarriedCall,
  CarrierName,
  CarrierOutcome,
  CarrierCommand,
} from '../../shared/telephony/call-control.ts';
import type { Clock, WallClock } from '../../shared/runtime/clock.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { LimitName, SupervisorMetrics } from '../../shared/runtime/metrics.ts';
import { CallsAway } from './away.ts';
import { TwilioControl } from './twilio/control.ts';
import type { FormParameters } from './twilio/signature.ts';
import { TelnyxControl } from './telnyx/control.ts';
import type { Carrier, SipAsCarrier } from './carrier.ts';
import type { TelnyxEvent } from './telnyx/webhook.ts';
import { ColdTransfers } from './cold-transfers.ts';
import { CommandBook } from './commands.ts';
import { controlCapabilities } from './control-capabilities.ts';
import { answerTwilio, hangUpNow, outboundCarriers, telnyxOutboundEvent } from './outbound/carriers.ts';
import type { OutboundEvent } from './outbound/outbound-call.ts';
import { OutboundCalls, type OutboundOptions } from './outbound/outbound-calls.ts';
import { SagaStore } from './saga-store.ts';
import { WarmTransfers } from './warm-transfers.ts';
import { newRest, patient, persistent, tellingFaults, textAt } from './rest.ts';
import { CallStreams, callOf, type StreamRequest } from './streams.ts';
import { marks, stateOfB, resourceNames } from './resource-names.ts';

export interface TelephonyOptions {
  readonly settings: ServerSettings;
  readonly clock: Clock;
  readonly wallClock: WallClock;
  readonly log: Log;
  readonly sip: () => SipAsCarrier | undefined;
  readonly metrics: Pick<SupervisorMetrics, 'carrierCommands' | 'warmTransfers' | 'outboundCalls' | 'limits'>;
  /** A call that was made here has reached nobody; absent where no records of calls are kept. */
  readonly unreached?: OutboundOptions['unreached'];
  readonly agentName: string;
  /** The agent of a call, as a text that travels with it; absent in a service of one. */
  readonly chosenAgent?: ((facts: CallFacts) => string | undefined) | undefined;
  /** Why that agent has no room for a call, which is kept where it has. */
  readonly mayCall?: ((chosen: string | undefined, number: string) => boolean) | undefined;
  readonly fullAgent?: ((chosen: string | undefined) => object | undefined) | undefined;
  /** This host has the resource from now on; absent where it is the only one. */
  readonly claim?: (resource: string) => void;
  /** A warm transfer is over. */
  readonly settled?: () => void;
}

/** A summary that takes longer is cut by the join. */
const longestSummaryMs = 30_000;

const unsupported = { kind: 'refused', code: 'unsupported' } as const;

/** The call is over: a hang-up has nothing left to do. */
const isGone = (outcome: CarrierOutcome): boolean => outcome.kind === 'refused' && outcome.gone === true;

export class Telephony {
  readonly #options: TelephonyOptions;
  readonly #carriers = new Map<CarrierName, Carrier>();
  readonly #commands: CommandBook;
  readonly #away: CallsAway;
  readonly #cold: ColdTransfers;
  readonly #telnyx: TelnyxControl | undefined;
  readonly #closeRest: () => void;
  readonly #streams: CallStreams;
  #asking = 0;
  /** Calls that are made here. */
  readonly outbound: OutboundCalls;
  readonly warm: WarmTransfers;

  constructor(options: TelephonyOptions) {
    this.#options = options;
    const { settings, clock, wallClock, log } = options;
    const met = (limit: LimitName) => () => options.metrics.limits.inc({ limit });
    this.#commands = new CommandBook({ full: met('carrier_commands') });
    this.#away = new CallsAway({ forgotten: met('calls_away') });
    const rest = newRest();
    const wait = (ms: number): Promise<void> => new Promise((resolve) => void clock.after(ms, resolve));
    const ask = persistent(tellingFaults(patient(rest.ask, wait), log), { clock, wait });
    this.#closeRest = rest.close;
    const capabilities = controlCapabilities(settings);
    this.#streams = new CallStreams(clock, (call) => {
      if (this.#isOurs(call)) this.#streamFailed(call, 'not_opened');
    });
    const { twilio, telnyx } = settings;
    this.warm = this.#newWarm();
    const endStream = (callId: string): void => void this.#telnyx?.stopStream(callId);
    this.#cold = new ColdTransfers({ away: this.#away, bringBack: (id) => this.#bringBack(id), endStream });
    this.outbound = this.#newOutbound();
    const nowS = (): number => wallClock.now() / 1000;
    if (twilio?.control !== undefined && capabilities.carrier_a !== undefined) {
      const given = { capabilities: capabilities.carrier_a, ask, nowS };
      this.#carriers.set('carrier_a', new TwilioControl(twilio, twilio.control, given));
    }
    if (telnyx?.control !== undefined && capabilities.carrier_b !== undefined) {
      const asksForStream = (callId: string): (() => void) => {
        // Another host may get it.
        this.#options.claim?.(resourceNames.call(callId));
        return this.#streams.asked(callId);
      };
      const longestSummary = (): Promise<void> => wait(longestSummaryMs);
      const given = { capabilities: capabilities.carrier_b, ask, nowS, longestSummary, asksForStream };
      this.#telnyx = new TelnyxControl(telnyx, telnyx.control, given);
      this.#carriers.set('carrier_b', this.#telnyx);
    }
  }

  #newWarm(): WarmTransfers {
    const { settings, clock, wallClock, log, metrics } = this.#options;
    return new WarmTransfers({
      clock,
      wallClock,
      log,
      store: new SagaStore(settings.telephony.stateDir),
      warmOf: (name) => {
        const carrier = this.#carriers.get(name);
        return carrier instanceof TwilioControl || carrier instanceof TelnyxControl ? carrier : undefined;
      },
      counted: ({ phase }) => {
        metrics.warmTransfers.inc({ end: phase });
        this.#options.settled?.();
      },
      full: () => metrics.limits.inc({ limit: 'warm_transfers' }),
      begun: (handle) => this.#options.claim?.(resourceNames.transfer(handle)),
      taken: ({ callId }) => {
        this.#options.claim?.(resourceNames.call(callId));
        this.#away.leaves(callId);
        this.#away.returns(callId);
      },
    });
  }

  #newOutbound(): OutboundCalls {
    const { settings, clock, wallClock, log, metrics } = this.#options;
    return new OutboundCalls({
      settings: settings.callback?.outbound,
      isOfFleet: this.#options.claim !== undefined,
      clock,
      wallClock,
      log,
      carriers: () => outboundCarriers(this.#carriers, settings, this.#options.sip()),
      counted: (carrier, end) => metrics.outboundCalls.inc({ carrier, end }),
      begun: (id) => this.#options.claim?.(resourceNames.made(id)),
      hasStream: (callId) => this.#streams.has(callId),
      chosenAgent: this.#options.chosenAgent,
      agentName: this.#options.agentName,
      unreached: this.#options.unreached,
      mayCall: this.#options.mayCall,
      fullAgent: this.#options.fullAgent,
    });
  }

  /** What Twilio shall do with a call that was made here and answered, as its own instructions. */
  twilioAnswered(id: string, form: FormParameters): string {
    const carrier = this.#carriers.get('carrier_a');
    if (!(carrier instanceof TwilioControl)) return hangUpNow;
    const shows = !this.#options.settings.telephony.redactsNumbers;
    return answerTwilio(id, form, { carrier, outbound: this.outbound, shows });
  }

  /** What Twilio shall do with the caller of a cold transfer whose dialling is over. */
  twilioDialled(callId: string, form: FormParameters): string {
    const carrier = this.#carriers.get('carrier_a');
    const status = form.find(([name]) => name === 'DialCallStatus')?.[1] ?? '';
    const comesBack = carrier instanceof TwilioControl && this.#cold.dialled(callId, status);
    this.#options.log.info({ call: callId, comesBack }, 'a cold transfer is over');
    return comesBack ? carrier.connected(callId, {}) : hangUpNow;
  }

  /** A person who answers talks with the agent, even where the process that made the call is gone. */
  #outboundTold(id: string, event: OutboundEvent, mark: string): void {
    const connects = mark === marks.outbound ? 'person' : 'answered';
    const phase = this.outbound.view(id)?.phase;
    // One whose making got no answer, and that was given up since, has been made all the same.
    if (phase === 'over' && ['answered', 'person', 'machine'].includes(event.type))
      void this.#hangUp('call' in event ? event.call : '');
    else if (phase !== undefined) this.outbound.told(id, event);
    else if (event.type === connects) void this.#telnyx?.connect(event.call, { id, parameters: {} });
    else if (event.type === 'machine') void this.#hangUp(event.call);
  }

  /** A call wants something of its carrier. */
  ask(command: CarrierCommand, reply: (outcome: CarrierOutcome) => void): void {
    const attempt = command.type === 'transfer' ? command.attempt : 1;
    this.#commands.take({ id: command.commandId, attempt }, reply, async () => {
      // Before the carrier can tell of it: it may tell another host.
      this.#options.claim?.(resourceNames.call(command.callId));
      const carrier = this.#carriers.get(command.carrier) ?? this.#sipFor(command);
      const outcome: CarrierOutcome =
        carrier === undefined ? unsupported : await this.#perform(carrier, command);
      const { log, metrics } = this.#options;
      const code = outcome.kind === 'refused' ? outcome.code : outcome.kind;
      metrics.carrierCommands.inc({ carrier: command.carrier, command: command.type, outcome: code });
      log.info({ call: command.callId, command: command.type, outcome: code }, 'the carrier was asked');
      return outcome;
    });
  }

  #sipFor({ carrier }: Pick<CarrierCommand, 'carrier'>): SipAsCarrier | undefined {
    return carrier === 'sip' ? this.#options.sip() : undefined;
  }

  /** The versions of agents that calls go on with which have left and may come back. */
  get agentsAway(): readonly AgentRef[] {
    return this.#away.agents;
  }

  /** A stream is let in: what its call goes on with, where it was here before, or `elsewhere`, at another host. */
  greet(arrived: StreamRequest, elsewhere?: CarriedCall): StreamRequest {
    const callId = callOf(arrived);
    if (callId === undefined) return arrived;
    const made = this.outbound.signedOf(callId);
    const request = { ...arrived, signedMetadata: { ...arrived.signedMetadata, ...made } };
    this.#streams.begins(callId);
    this.#cold.streamBegins(callId);
    this.outbound.streamBegins(callId);
    const here = this.#away.arrives(callId);
    const carried = elsewhere ?? here;
    if (carried === undefined) return request;
    this.warm.toldOfCall(callId, { type: 'caller.back' });
    return { ...request, carried, signedMetadata: { ...carried.metadata, ...request.signedMetadata } };
  }

  /** The caller's next stream is at another host: what it goes on with there, where it was expected here. */
  goesElsewhere(callId: string): CarriedCall | undefined {
    this.#streams.forget(callId);
    const carried = this.#away.goesElsewhere(callId);
    if (carried !== undefined) this.warm.toldOfCall(callId, { type: 'caller.back' });
    return carried;
  }

  /** A stream is over. A call of Telnyx goes on without it, so that one which nobody else has is hung up. */
  streamOver(request: StreamRequest): void {
    const callId = callOf(request);
    if (callId === undefined || this.#streams.over(callId) || this.#cold.streamOver(callId)) return;
    if (!this.#away.isAway(callId)) this.outbound.streamOver(callId);
    if (request.transport === 'carrier_b' && !this.#away.isAway(callId)) void this.#hangUp(callId);
  }

  /** Nobody else has the caller: they never left the agent, or are on their way back to it. */
  #isOurs(callId: string): boolean {
    const comesBack = this.#away.isReturning(callId) && this.warm.isFree(callId);
    return comesBack || !this.#away.isAway(callId);
  }

  /** Ends a call of Telnyx. */
  async #hangUp(callId: string): Promise<void> {
    if (this.#telnyx === undefined) return;
    const commandId = `over-${Buffer.from(callId).toString('base64url').slice(-40)}`;
    await this.#did('hangup', callId, this.#telnyx.hangUp(callId, commandId));
  }

  /** A caller of Telnyx whom nobody took gets a stream of the agent. */
  #bringBack(callId: string): void {
    if (this.#telnyx === undefined) return;
    this.#away.returns(callId);
    const commandId = `back-${Buffer.from(callId).toString('base64url').slice(-40)}-${this.#options.wallClock.now().toString(36)}`;
    void this.#stream(this.#telnyx, callId, { commandId, parameters: {} });
  }

  /** A call that was answered and gets no stream is ended; nobody is left in silence. The stream may be here although its answer is lost. */
  async #stream(
    control: TelnyxControl,
    callId: string,
    given: Parameters<TelnyxControl['startStream']>[1],
  ): Promise<void> {
    const outcome = await this.#did('stream', callId, control.startStream(callId, given));
    if (outcome.kind !== 'ok' && !isGone(outcome) && !this.#streams.has(callId)) await this.#hangUp(callId);
  }

  /** Telnyx tells of a call; its signature was verified, and it says so for the first time. */
  telnyxTold(
    { type, payload }: TelnyxEvent,
    {
      route = '',
      chosen,
      isClosed,
    }: {
      readonly route: string | undefined;
      readonly chosen?: string | undefined;
      readonly isClosed: () => boolean;
    },
  ): void {
    const callId = textAt(payload, 'call_control_id');
    const state = stateOfB(payload);
    const control = this.#telnyx;
    if (callId === '' || control === undefined) return;
    if (type === 'call.hangup') control.ended(callId);
    else if (/^call\.(initiated|answered|machine\.)/.test(type)) control.begins(callId);
    const mark = [marks.outbound, marks.unscreened].find((one) => state.startsWith(one));
    if (mark !== undefined) {
      const event = telnyxOutboundEvent(type, callId, payload);
      if (event !== undefined) this.#outboundTold(state.slice(mark.length), event, mark);
    }
    if (type === 'call.initiated' && payload['direction'] === 'incoming') {
      // A caller who is answered and then dropped has waited, and pays.
      if (isClosed()) void this.#did('reject', callId, control.reject(callId));
      // Comes back with what is told of the call.
      else void this.#answer(control, callId, [`${marks.inbound}${route}`, chosen ?? []].flat().join('\n'));
    } else if (type === 'call.answered' && state.startsWith(marks.inbound)) {
      const [led = '', agent] = state.slice(marks.inbound.length).split('\n');
      const commandId = `stream-${Buffer.from(callId).toString('base64url').slice(-40)}`;
      void this.#stream(control, callId, {
        commandId,
        parameters: present({
          agent_route: led === '' ? undefined : led,
          [chosenKeys.parameter]: agent,
        }),
      });
    } else if (type === 'streaming.failed' && this.#isOurs(callId)) {
      const reason = textAt(payload, 'failure_reason');
      this.#streamFailed(callId, /^[a-z_]{1,64}$/.exec(reason)?.[0]);
    } else this.#telnyxSaga(type, callId, { state, payload });
  }

  /** A caller whose call the carrier does not let be answered hears that the line is busy, and does not ring until giving up. */
  async #answer(control: TelnyxControl, callId: string, state: string): Promise<void> {
    const outcome = await this.#did('answer', callId, control.answer(callId, state));
    if (outcome.kind === 'refused' && !isGone(outcome))
      await this.#did('reject', callId, control.reject(callId));
  }

  /** Somebody was answered, or has answered, and would hear nobody. */
  #streamFailed(call: string, reason: string | undefined): void {
    this.#options.log.warn({ call, reason }, 'the carrier could not open the stream of a call');
    // Whose stream breaks off has been heard.
    if (this.#streams.has(call) || !this.outbound.unheard(call)) void this.#hangUp(call);
  }

  /** Of a leg its state names the transfer; of a caller it may be any. */
  #telnyxSaga(
    type: string,
    callId: string,
    { state, payload }: { readonly state: string; readonly payload: TelnyxEvent['payload'] },
  ): void {
    if (type === 'call.speak.ended') this.#telnyx?.spoken(callId);
    if (state.startsWith(marks.cold)) {
      const caller = state.slice(marks.cold.length);
      const isCallers = textAt(payload, 'hangup_cause') === 'originator_cancel';
      if (type === 'call.answered' || type === 'call.bridged') this.#cold.legAnswered(caller);
      else if (type === 'call.hangup') this.#cold.legOver(caller, { isCallers });
      return;
    }
    const handle = state.startsWith(marks.leg) ? state.slice(marks.leg.length) : undefined;
    if (type === 'call.machine.detection.ended' && handle !== undefined) {
      const isMachine = payload['result'] === 'machine';
      this.warm.told(handle, { type: isMachine ? 'leg.machine' : 'leg.answered', leg: callId });
    }
    if (type !== 'call.hangup') return;
    this.#streams.forget(callId);
    if (handle === undefined) this.#cold.callerGone(callId);
    if (handle === undefined) this.warm.toldOfCall(callId, { type: 'caller.gone' });
    else this.warm.told(handle, { type: 'leg.ended', leg: callId });
  }

  /** This supervisor serves. @throws when the folder of its state cannot be used. */
  open(): void {
    this.warm.open();
    this.outbound.open();
  }

  /** Telnyx is being asked for a call. */
  get isBusy(): boolean {
    return this.#asking > 0;
  }

  /** Another supervisor serves now. */
  leave(): void {
    this.#streams.leave();
    this.warm.leave();
  }

  async #did(
    command: 'answer' | 'reject' | 'stream' | 'hangup',
    call: string,
    asked: Promise<CarrierOutcome>,
  ): Promise<CarrierOutcome> {
    this.#asking += 1;
    const outcome = await asked.finally(() => (this.#asking -= 1));
    const isDone = command === 'hangup' && isGone(outcome);
    const code = outcome.kind === 'refused' && !isDone ? outcome.code : isDone ? 'ok' : outcome.kind;
    const { log, metrics } = this.#options;
    metrics.carrierCommands.inc({ carrier: 'carrier_b', command, outcome: code });
    log.info({ call, command, outcome: code }, 'the carrier was asked');
    return outcome;
  }

  close(): void {
    this.#closeRest();
  }

  async #perform(carrier: Carrier, command: CarrierCommand): Promise<CarrierOutcome> {
    const { callId, commandId } = command;
    if (command.type === 'keys') {
      if (!carrier.capabilities.keys) return unsupported;
      // The next stream may be here before the answer is.
      if (carrier.name === 'carrier_a') this.#away.returns(callId, command.carried);
      const digits = command.digits.replaceAll(/[a-d]/g, (key) => key.toUpperCase());
      const outcome = await carrier.pressKeys(callId, { commandId, digits });
      if (outcome.kind === 'refused') this.#away.forget(callId);
      return outcome;
    }
    if (command.mode === 'warm') {
      if (!carrier.capabilities.warm) return unsupported;
      return await this.#park(carrier, command);
    }
    const { to } = command;
    // The caller stays with the agent until the peer has somebody for them.
    if (carrier.name === 'sip')
      return carrier.capabilities.transfer ? await carrier.transfer(callId, { commandId, to }) : unsupported;
    return await this.#cold.give(carrier, command);
  }

  /** The agent's stream ends when the caller is parked, and another may come. */
  async #park(
    carrier: Carrier,
    command: Extract<CarrierCommand, { type: 'transfer' }>,
  ): Promise<CarrierOutcome> {
    const { callId, carried } = command;
    const mayReturn = carrier.name === 'carrier_b' || carrier.capabilities.keys;
    this.#away.leaves(callId, carried);
    this.#away.returns(callId, carried);
    const outcome = await this.warm.begin(command, { mayReturn });
    if (outcome.kind === 'refused' && this.warm.isFree(callId)) this.#away.forget(callId);
    return outcome;
  }
}
