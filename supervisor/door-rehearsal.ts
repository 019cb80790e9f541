/**
 * Refuses connections of its own, thousands of them, in the first seconds of service. The first hundreds of anything take
 * three times as long as later ones, because the engine compiles what it has seen often, and a burst of callers that finds
 * the service full is over by then. A listener that nobody else knows, a ledger without a slot and counts that nobody reads
 * make it the same code without another effect. Nothing waits for it, and its failure is no fault of the service.
 */
import type { IncomingMessage } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import type { ServerSettings } from '../shared/config/server.ts';
import type { Clock, WallClock } from '../shared/runtime/clock.ts';
import { errorFields, type Log } from '../shared/runtime/log.ts';
import { newSupervisorMetrics } from '../shared/runtime/metrics.ts';
import { Admission } from './admission.ts';
import { CallSeats } from './call-seats.ts';
import { FrontDoor } from './front-door.ts';
import { judge, openCallListener, stopAccepting, type OpenListener } from './listeners.ts';
import { TokenLedger } from './token-ledger.ts';
import { TokenStore } from './token-store.ts';

/** Until nothing is left to compile (decision 0018). */
const enoughConnections = 2_500;
/** A few at a time: a caller who comes meanwhile waits for a millisecond. */
const together = 10;
const pauseMs = 60;
/**
 * The engine throws compiled code away when it collects the last object of a shape that the code knows: that of a socket, of a
 * request. A service without connections would be slow again after its first collection. So some objects stay.
 */
const samplesKept = 60;
/** The same for shapes in between, of which no object can be kept, and for code that nobody ran for a while. */
const engineFlags = ['--retain-maps-for-n-gc=1000', '--no-flush-bytecode'];

export interface DoorRehearsalOptions {
  readonly settings: ServerSettings;
  readonly clock: Clock;
  readonly wallClock: WallClock;
  readonly log: Log;
  readonly connections?: number;
}

export class DoorRehearsal {
  readonly #options: DoorRehearsalOptions;
  readonly #samples: object[] = [];
  #listener: OpenListener | undefined;
  #left: number;
  #refused = 0;
  #isStopped = false;
  #over: (refused: number) => void = () => undefined;

  constructor(options: DoorRehearsalOptions) {
    this.#options = options;
    this.#left = options.connections ?? enoughConnections;
  }

  /** Takes some twenty seconds and a few percent of a core. Resolves with how many connections were refused as those of a full service are; never rejects. */
  async run(): Promise<number> {
    for (const flag of engineFlags) setFlagsFromString(flag);
    try {
      this.#listener = await this.#open();
    } catch (error) {
      this.#options.log.debug(errorFields(error), 'refusals are not rehearsed');
      return 0;
    }
    this.#listener.server.on('upgrade', (request: IncomingMessage) => {
      this.#keep(request, request.socket);
    });
    return new Promise((resolve) => {
      this.#over = resolve;
      this.#next();
    });
  }

  /** Ends it early. */
  stop(): void {
    this.#isStopped = true;
  }

  #open(): Promise<OpenListener> {
    const door = this.#newDoor();
    return openCallListener({
      at: { host: '127.0.0.1', port: 0 },
      arrived: (arrived) =>
        judge(arrived, {
          decide: (arrival) => door.decide(arrival),
          accepted: (_socket, _request, release) => release(),
          failed: () => this.stop(),
        }),
    });
  }

  #newDoor(): FrontDoor {
    const { settings, clock, wallClock, log } = this.#options;
    const { trustedProxies, clientIpHeader, maxCallsPerAddress } = settings.access;
    const access = { trustedProxies, clientIpHeader, maxCallsPerAddress, sessionSecrets: [] };
    const admission = new Admission({ maxSessions: 0, maxCalls: 0, acceptQueue: 0 });
    const ledger = new TokenLedger();
    return new FrontDoor({
      settings: { ...settings, access },
      wallClock,
      metrics: newSupervisorMetrics(),
      admission,
      seats: new CallSeats({
        clock,
        admission,
        providerLimits: settings.providerLimits,
        providers: () => [],
        maxCallsPerAddress,
        released: () => undefined,
      }),
      facts: () => noTrouble,
      tokenLedger: ledger,
      tokenStore: new TokenStore({ ledger, wallClock, log }),
    });
  }

  #next(): void {
    if (this.#isStopped || this.#left <= 0) {
      if (this.#listener !== undefined) stopAccepting(this.#listener.server);
      this.#over(this.#refused);
      return;
    }
    const count = Math.min(together, this.#left);
    this.#left -= count;
    let open = count;
    const closed = (): void => {
      open -= 1;
      if (open === 0) this.#options.clock.after(pauseMs, () => this.#next());
    };
    for (let n = 0; n < count; n += 1) this.#knock(closed);
  }

  #knock(closed: () => void): void {
    const { port } = this.#listener?.server.address() as AddressInfo;
    const socket = connect({ host: '127.0.0.1', port, noDelay: true });
    socket.on('error', () => socket.destroy());
    socket.on('close', closed);
    socket.on('data', (data) => {
      if (data.subarray(0, fullAnswer.length).equals(fullAnswer)) this.#refused += 1;
      socket.destroy();
    });
    socket.write(request);
    this.#keep(socket);
  }

  #keep(...samples: object[]): void {
    this.#samples.push(...samples);
    if (this.#samples.length > samplesKept) this.#samples.splice(0, samples.length);
  }
}

const noTrouble = {
  draining: false,
  readyWorkers: 1,
  inferenceBehind: false,
  workersLate: false,
  inHandOver: 0,
};

const fullAnswer = Buffer.from('HTTP/1.1 503 ');

const request = [
  'GET / HTTP/1.1',
  'Host: 127.0.0.1',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  '\r\n',
].join('\r\n');
