/**
 * What one call asks of its carrier, through the supervisor, which outlives the call's stream. Every action is answered once: by the
 * carrier, or by the core's own time limit. A stream that ends while an answer is out may have ended because of what was asked, so the
 * call waits for the answer before it is over.
 */
import { mayCall, type AgentRef } from '../../shared/agents/version.ts';
import type { Millis } from '../../shared/base/units.ts';
import type { AgentDefinition } from '../../shared/config/agent-file.ts';
import type { TelephonyDefinition } from '../../shared/telephony/agent-file.ts';
import {
  carrierNames,
  type CarriedCall,
  type CarrierName,
  type CarrierOutcome,
  type ControlCommand,
  type ControlCapabilities,
} from '../../shared/telephony/call-control.ts';
import { broughtMetadata } from '../../shared/protocol/call.ts';
import { carrierKeys } from '../../shared/telephony/twilio/protocol.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { CallAction } from '../core/actions.ts';
import type { CallEvent } from '../core/events.ts';
import type { TransferSettings } from '../core/answer/transfer-claim.ts';
import type { CallControl as ControlTools } from '../tools/tool.ts';
import type { CallStart } from '../transports/transport.ts';
import type { AskCarrier } from './carrier-line.ts';
import { withKeysSent } from './carried.ts';

/** A stream that is gone is waited for this long: a carrier's answer follows the end of the stream at once. */
const longestLeaveMs: Millis = 15_000;

/** What calls of this build can be made to do, by carrier. */
export type CapabilitiesByCarrier = Partial<Readonly<Record<CarrierName, ControlCapabilities>>>;

export interface TelephonyServices {
  readonly capabilities: CapabilitiesByCarrier;
  readonly telephony: TelephonyDefinition;
  readonly language: string;
  readonly ask: AskCarrier;
  /** Whether a number may be called; absent: every one may. */
  readonly mayCall?: (number: string) => boolean;
}

export const telephonyServices = (
  { telephony, agent: { language }, reach }: Pick<AgentDefinition, 'telephony' | 'agent' | 'reach'>,
  capabilities: CapabilitiesByCarrier,
  ask: AskCarrier,
): TelephonyServices => ({
  telephony,
  language,
  capabilities,
  ask,
  ...(reach !== undefined && { mayCall: (number) => mayCall(reach, number) }),
});

type CarrierAction = Extract<CallAction, { type: `carrier.${string}` }>;

export interface CallControlOptions {
  readonly clock: Clock;
  readonly bind: <A extends readonly unknown[]>(callback: (...args: A) => void) => (...args: A) => void;
  readonly log: Log;
  readonly tell: (event: CallEvent) => void;
  /** The transport's own keys, where it has some. */
  readonly sendKeys: ((digits: string) => boolean) | undefined;
  /** The version of the call's agent; absent in a service of one. */
  readonly agent?: AgentRef | undefined;
  /** The conversation so far. */
  readonly context: () => CarriedCall['context'];
}

/** What the carrier of a call can do; undefined where it has none. */
export function capabilitiesOf(
  { metadata }: Pick<CallStart, 'metadata'>,
  capabilities: CapabilitiesByCarrier,
): ControlCapabilities | undefined {
  const carrier = carrierNames.find((name) => name === metadata[carrierKeys.transport]);
  const found = carrier === undefined ? undefined : capabilities[carrier];
  return found && metadata[carrierKeys.refer] === 'no' ? { ...found, transfer: false } : found;
}

/** The same as the tools of a call are offered by it; a transport may press keys itself. */
export const controlTools = (
  capabilities: ControlCapabilities | undefined,
  hasKeys: boolean,
): ControlTools => ({
  sendDtmf: capabilities?.keys === true || hasKeys,
  ...(capabilities?.transfer === true && { transfer: { warm: capabilities.warm } }),
});

/** And as its core decides by it. */
export const transferSettings = (
  capabilities: ControlCapabilities | undefined,
  { settleTimeoutMs, warmTransfer }: TelephonyDefinition,
): { readonly transfer?: TransferSettings } =>
  capabilities?.transfer === true
    ? { transfer: { settleMs: settleTimeoutMs, warm: capabilities.warm && warmTransfer } }
    : {};

export class CallControl {
  readonly #services: TelephonyServices;
  readonly #start: CallStart;
  readonly #options: CallControlOptions;
  readonly #out = new Set<string>();
  #leave: (() => void) | undefined;
  #isMoved = false;

  constructor(services: TelephonyServices, start: CallStart, options: CallControlOptions) {
    this.#services = services;
    this.#start = start;
    this.#options = options;
  }

  perform(action: CarrierAction): void {
    const { bind, sendKeys } = this.#options;
    if (action.type === 'carrier.keys' && sendKeys?.(action.digits) === true) {
      this.#answered(action, { kind: 'ok' });
      return;
    }
    const command = this.#command(action);
    if (command === undefined) {
      this.#answered(action, { kind: 'refused', code: 'unsupported' });
      return;
    }
    if (command.type === 'transfer' && this.#services.mayCall?.(command.to) === false) {
      this.#options.log.warn(
        'a transfer is refused: no beginning in allow.numbers of the tenant fits the number',
      );
      this.#answered(action, { kind: 'refused', code: 'rejected' });
      return;
    }
    this.#out.add(action.commandId);
    this.#services.ask(
      command,
      bind((outcome: CarrierOutcome) => {
        this.#out.delete(action.commandId);
        if (command.type === 'keys' && command.carrier === 'carrier_a' && outcome.kind !== 'refused')
          this.#isMoved = true;
        this.#answered(action, outcome);
        this.#leaveNow();
      }),
    );
  }

  /** The call goes on in another stream: Twilio presses keys between two. */
  get isMoved(): boolean {
    return this.#isMoved;
  }

  /** The stream has ended. True when an answer is out: `leave` is called when it is there, or when it has had its time. */
  holds(leave: () => void): boolean {
    if (this.#out.size === 0) return false;
    this.#leave = leave;
    const { clock, bind } = this.#options;
    clock.after(
      longestLeaveMs,
      bind(() => {
        this.#out.clear();
        this.#leaveNow();
      }),
    );
    return true;
  }

  #leaveNow(): void {
    if (this.#out.size > 0) return;
    const leave = this.#leave;
    this.#leave = undefined;
    leave?.();
  }

  #command(action: CarrierAction): ControlCommand | undefined {
    const { metadata, callId: ownId } = this.#start;
    const carrier = carrierNames.find((name) => name === metadata[carrierKeys.transport]);
    if (carrier === undefined) return undefined;
    const { telephony, language } = this.#services;
    const { commandId } = action;
    const callId = metadata[carrierKeys.callId] ?? ownId;
    const common = { commandId, carrier, callId };
    const [context, brought] = [this.#options.context(), broughtMetadata(metadata)];
    const { agent } = this.#options;
    const along = { metadata: brought, ...(agent !== undefined && { agent }) };
    if (action.type === 'carrier.keys') {
      const { digits } = action;
      const carried = { context: withKeysSent(context, digits), after: 'keys', ...along } as const;
      return { ...common, carried, type: 'keys', digits };
    }
    const { attempt, destination, isNumber, mode, summary } = action;
    const to = isNumber ? destination : telephony.destinations.get(destination)?.reveal();
    if (to === undefined) return undefined;
    const from = telephony.callerId?.reveal();
    return {
      ...common,
      carried: { context, after: 'transfer', ...along },
      type: 'transfer',
      attempt,
      mode,
      to,
      ...(!isNumber && { destination }),
      ...(from !== undefined && { from }),
      summary,
      language,
    };
  }

  #answered(action: CarrierAction, outcome: CarrierOutcome): void {
    const { tell } = this.#options;
    const { commandId } = action;
    if (action.type === 'carrier.transfer') {
      tell({ type: 'carrier.answered', commandId, outcome });
      return;
    }
    const { key, attempt } = action;
    const text = '{"status":"sent"}';
    const message = outcome.kind === 'refused' ? `the keys were not sent (${outcome.code})` : 'no answer';
    tell({
      type: 'tool.settled',
      key,
      attempt,
      outcome:
        outcome.kind === 'ok'
          ? { kind: 'result', text }
          : { kind: 'failed', message, transport: outcome.kind === 'unknown' },
    });
  }
}
