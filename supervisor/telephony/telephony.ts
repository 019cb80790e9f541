/**
 * Telephone calls beyond their streams: performs what calls ask of their carriers, once for each id, and remembers what a call that
 * comes back on another stream goes on with. It lives in the supervisor because it outlives streams and workers (decision 0049).
 * No number, digit or text of a conversation is logged.
 */
import type { ServerSettings } from '../../shared/config/server/server.ts';
import {
  carrierNames,
  type CarriedCall,
  type CarrierName,
  type CarrierOutcome,
  type ControlCommand,
} from '../../shared/protocol/call-control.ts';
import { carrierKeys } from '../../shared/protocol/carrier-a.ts';
import type { CallOffer } from '../../shared/protocol/ipc.ts';
import type { Clock, WallClock } from '../../shared/runtime/clock.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { SupervisorMetrics } from '../../shared/runtime/metrics.ts';
import { CarrierAControl } from './carrier-a/control.ts';
import type { Carrier } from './carrier.ts';
import { CommandBook } from './commands.ts';
import { callMeans } from './means.ts';
import { newRest } from './rest.ts';

/** Calls whose next stream is expected; of more, the oldest begin anew when they come. */
const mostReturning = 4_096;

export interface TelephonyOptions {
  readonly settings: ServerSettings;
  readonly clock: Clock;
  readonly wallClock: WallClock;
  readonly log: Log;
  readonly metrics: Pick<SupervisorMetrics, 'carrierCommands'>;
}

type StreamRequest = Omit<CallOffer, 'type' | 'offer'>;

export class Telephony {
  readonly #options: TelephonyOptions;
  readonly #carriers = new Map<CarrierName, Carrier>();
  readonly #commands = new CommandBook();
  /** By the carrier's id of the call. */
  readonly #returning = new Map<string, CarriedCall>();
  readonly #closeRest: () => void;

  constructor(options: TelephonyOptions) {
    this.#options = options;
    const { settings, wallClock } = options;
    const rest = newRest();
    this.#closeRest = rest.close;
    const means = callMeans(settings);
    const { carrierA } = settings;
    const nowS = (): number => wallClock.now() / 1000;
    if (carrierA?.control !== undefined && means.carrier_a !== undefined) {
      const given = { means: means.carrier_a, ask: rest.ask, nowS };
      this.#carriers.set('carrier_a', new CarrierAControl(carrierA, carrierA.control, given));
    }
  }

  /** A call wants something of its carrier. */
  ask(command: ControlCommand, reply: (outcome: CarrierOutcome) => void): void {
    this.#commands.take(command.commandId, reply, async () => {
      const carrier = this.#carriers.get(command.carrier);
      const outcome: CarrierOutcome =
        carrier === undefined
          ? { kind: 'refused', code: 'unsupported' }
          : await this.#perform(carrier, command);
      const { log, metrics } = this.#options;
      const code = outcome.kind === 'refused' ? outcome.code : outcome.kind;
      metrics.carrierCommands.inc({ carrier: command.carrier, command: command.type, outcome: code });
      log.info({ call: command.callId, command: command.type, outcome: code }, 'the carrier was asked');
      return outcome;
    });
  }

  /** A stream is let in: what its call goes on with, where it was here before. */
  greet(request: StreamRequest): StreamRequest {
    const callId = callOf(request);
    const carried = callId === undefined ? undefined : this.#returning.get(callId);
    if (callId === undefined || carried === undefined) return request;
    this.#returning.delete(callId);
    return { ...request, carried };
  }

  close(): void {
    this.#closeRest();
  }

  async #perform(carrier: Carrier, command: ControlCommand): Promise<CarrierOutcome> {
    const { callId, commandId } = command;
    if (command.type === 'keys') {
      if (!carrier.means.keys) return { kind: 'refused', code: 'unsupported' };
      // The next stream may be here before the answer is.
      this.#expect(callId, command.carried);
      const digits = command.digits.replaceAll(/[a-d]/g, (key) => key.toUpperCase());
      const outcome = await carrier.pressKeys(callId, { commandId, digits });
      if (outcome.kind === 'refused') this.#returning.delete(callId);
      return outcome;
    }
    if (command.mode === 'warm') return { kind: 'refused', code: 'unsupported' };
    const { to, from } = command;
    return await carrier.transfer(callId, { commandId, to, ...(from !== undefined && { from }) });
  }

  #expect(callId: string, carried: CarriedCall): void {
    this.#returning.set(callId, carried);
    for (const oldest of this.#returning.keys()) {
      if (this.#returning.size <= mostReturning) return;
      this.#returning.delete(oldest);
    }
  }
}

/** The carrier's id of the call whose stream this is. */
function callOf({ transport, signedMetadata }: StreamRequest): string | undefined {
  return carrierNames.some((name) => name === transport) ? signedMetadata[carrierKeys.callId] : undefined;
}
