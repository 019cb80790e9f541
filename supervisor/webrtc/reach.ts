/**
 * How the clients of the signaling port reach their calls beside UDP: the TCP port for media, and relays (docs/webrtc.md, Reachability).
 *
 * Invariant: what a provider of relays does costs an offer at most the time that the settings allow, and nothing where no relay is asked for.
 */
import { randomBytes } from 'node:crypto';
import type { Millis } from '../../shared/base/units.ts';
import type { WebrtcSettings } from '../../shared/webrtc/variables.ts';
import type { SignaledOffer } from '../../shared/protocol/ipc.ts';
import { turnServersOf, type IceServer } from '../../shared/webrtc/turn-url.ts';
import type { Clock, WallClock } from '../../shared/runtime/clock.ts';
import type { Log } from '../../shared/runtime/log.ts';
import type { SignaledCalls } from '../handover/signaled-calls.ts';
import { IceTcp } from './ice-tcp/ice-tcp.ts';
import { IceServers } from './relays/ice-servers.ts';

export interface ReachOptions {
  readonly webrtc: WebrtcSettings;
  readonly clock: Clock;
  readonly wallClock: WallClock;
  readonly bring: SignaledCalls['bring'];
  readonly log: Log;
}

/** An answer to an offer does not wait longer for relays that its client may do without. */
const linksWithinMs = 300;

export class Reach {
  readonly iceTcp: IceTcp | undefined;
  readonly #servers: IceServers | undefined;
  readonly #options: ReachOptions;

  constructor(options: ReachOptions) {
    this.#options = options;
    const { webrtc, clock, wallClock, bring, log } = options;
    this.iceTcp = webrtc.tcp && new IceTcp({ settings: webrtc.tcp, clock, bring });
    this.#servers =
      webrtc.turn &&
      new IceServers({
        settings: webrtc.turn,
        clock,
        wallClock,
        fetch,
        newId: () => randomBytes(6).toString('hex'),
        failed: (reason) => log.warn({ reason }, 'no relays can be given'),
      });
  }

  /** Clients get credentials for relays here. */
  get givesRelays(): boolean {
    return this.#servers !== undefined;
  }

  /** What a worker has to know of an offer. */
  async offered(sdp: string, clientIp: string | undefined): Promise<SignaledOffer> {
    const { turn } = this.#options.webrtc;
    const port = this.iceTcp?.port;
    const own =
      turn === undefined || turn.relay === 'off' || this.#servers === undefined
        ? undefined
        : await this.#within(this.#servers.forService(), turn.relayTimeoutMs);
    return {
      sdp,
      ...(clientIp !== undefined && { clientIp }),
      ...(port !== undefined && { tcpPort: port }),
      ...(own !== undefined && { turnServers: turnServersOf(own) }),
    };
  }

  /** As GET /whip/ice gives them. */
  forClient(): Promise<readonly IceServer[]> {
    return this.#servers?.forClient() ?? Promise.resolve([]);
  }

  /** The same as headers of an answer (RFC 9725, 4.6). */
  async links(): Promise<readonly string[]> {
    if (this.#servers === undefined) return [];
    const servers = await this.#within(this.#servers.forClient(), linksWithinMs);
    return servers.flatMap(({ urls, username, credential }) =>
      urls.map((url) =>
        username === undefined || credential === undefined
          ? `<${url}>; rel="ice-server"`
          : `<${url}>; rel="ice-server"; username="${username}"; credential="${credential}"; credential-type="password"`,
      ),
    );
  }

  #within(servers: Promise<readonly IceServer[]>, withinMs: Millis): Promise<readonly IceServer[]> {
    return new Promise((resolve) => {
      const timer = this.#options.clock.after(withinMs, () => resolve([]));
      void servers.then((given) => {
        timer.cancel();
        resolve(given);
      });
    });
  }
}
