/**
 * The ways by which the client of one call may reach it: the worker's UDP port, TCP connections that the supervisor brings, and a relay. All
 * lead to the UDP port, where the library takes the media of all calls.
 *
 * Invariant: a call holds no connection and no relay after `close`. Only addresses that the client named get through its relay, and
 * nothing is sent to them before they have proven to know the call.
 */
import type { Socket } from 'node:net';
import type { Millis } from '../../../shared/base/units.ts';
import type { SignaledOffer, WebrtcSetup } from '../../../shared/protocol/ipc.ts';
import type { AnswerCandidate } from '../../../shared/webrtc/sdp.ts';
import type { TurnServer } from '../../../shared/webrtc/turn-url.ts';
import { Relay } from '../turn/relay.ts';
import type { MuxPort } from './loopback-socket.ts';
import { TcpWay } from './tcp-way.ts';

export interface WaysOptions {
  readonly setup: WebrtcSetup;
  /** UDP port of this worker. */
  readonly port: number;
  readonly now: () => Millis;
  readonly after: (delayMs: Millis, run: () => void) => { cancel(): void };
  /** A relay could not be had, or is lost. */
  readonly failed: (reason: string) => void;
  readonly noted: (what: string) => void;
}

/** So many servers are tried, each of them so long after the one before unless that one has refused. */
const mostServers = 4;
const nextServerMs = 500;
/** A client that comes back waits no longer for another relay: its call is silent meanwhile. */
const backWithinMs = 1_000;
/** The newest, and the one that the connection before may still go by. */
const mostRelays = 2;

export class CallWays {
  readonly #options: WaysOptions;
  readonly #tcpPort: number | undefined;
  readonly #ways = new Set<TcpWay>();
  /** The newest last. */
  #relays: readonly Relay[] = [];
  #isClosed = false;

  private constructor(options: WaysOptions, tcpPort: number | undefined) {
    this.#options = options;
    this.#tcpPort = tcpPort;
  }

  /** Resolves when the relay is there or is known not to be; undefined where the call cannot be without one. Never rejects. */
  static async open(
    options: WaysOptions,
    { tcpPort, turnServers = [] }: SignaledOffer,
  ): Promise<CallWays | undefined> {
    const ways = new CallWays(options, tcpPort);
    const { relay } = options.setup;
    if (relay === undefined) return ways;
    await ways.#openRelay(turnServers, relay.timeoutMs);
    return ways.#isReachable ? ways : undefined;
  }

  /**
   * The client comes back, maybe because its relay has lost its server: it gets another one. False where it cannot be reached without
   * one. Never rejects.
   */
  async renew({ turnServers = [] }: SignaledOffer): Promise<boolean> {
    const { relay } = this.#options.setup;
    if (relay !== undefined) await this.#openRelay(turnServers, Math.min(backWithinMs, relay.timeoutMs));
    return this.#isReachable;
  }

  get #isReachable(): boolean {
    return this.#relays.length > 0 || this.#options.setup.relay?.mode !== 'only';
  }

  /** Where the client may reach the call, the preferred first. */
  candidates(): readonly AnswerCandidate[] {
    const { setup, port } = this.#options;
    const { udp, tcp, candidateIps, relay } = setup;
    const told = (host: string): readonly string[] => (candidateIps.length > 0 ? candidateIps : [host]);
    const direct = relay?.mode === 'only' ? [] : told(udp.host);
    const relayed = this.#relays.at(-1)?.address;
    const byTcp = tcp === undefined || this.#tcpPort === undefined ? [] : told(tcp.host);
    return [
      ...direct.map((ip) => ({ ip, port, transport: 'udp', type: 'host' }) as const),
      ...(relayed === undefined ? [] : [{ ...relayed, transport: 'udp', type: 'relay' } as const]),
      ...byTcp.map((ip) => ({ ip, port: this.#tcpPort ?? 0, transport: 'tcp', type: 'host' }) as const),
    ];
  }

  /** Addresses of the client, whose packets its relay lets through. */
  permit(ips: readonly (string | undefined)[]): void {
    const known = ips.filter((ip) => ip !== undefined);
    for (const relay of this.#relays) relay.permit(known);
  }

  /** A TCP connection that has proven to belong to the call. */
  add(socket: Socket, { head, closed }: { readonly head: Buffer; readonly closed: () => void }): void {
    const { tcp } = this.#options.setup;
    if (tcp === undefined || this.#isClosed) {
      socket.destroy();
      closed();
      return;
    }
    const { maxFrameBytes, queue } = tcp;
    const way: TcpWay = new TcpWay({
      socket,
      head,
      maxFrameBytes,
      queue,
      mux: this.#mux,
      closed: () => {
        this.#ways.delete(way);
        closed();
      },
    });
    this.#ways.add(way);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const way of this.#ways) way.close();
    for (const relay of this.#relays) relay.close();
  }

  get #mux(): MuxPort {
    return { host: this.#options.setup.udp.host, port: this.#options.port };
  }

  /** Takes the first relay that can be had. Others that come later are given back. */
  async #openRelay(servers: readonly TurnServer[], timeoutMs: Millis): Promise<void> {
    const { after, failed } = this.#options;
    if (servers.length === 0) {
      failed('no TURN server has given credentials');
      return;
    }
    const cut = new AbortController();
    const timer = after(timeoutMs, () => cut.abort());
    const outcome = await this.#race(servers.slice(0, mostServers), cut);
    timer.cancel();
    cut.abort();
    if (typeof outcome === 'string') failed(outcome);
    else if (this.#isClosed) outcome.close();
    else this.#keep(outcome);
  }

  #keep(relay: Relay): void {
    const relays = [...this.#relays, relay];
    for (const old of relays.slice(0, -mostRelays)) old.close();
    this.#relays = relays.slice(-mostRelays);
  }

  #race(servers: readonly TurnServer[], cut: AbortController): Promise<Relay | string> {
    const { now, after, noted, failed } = this.#options;
    return new Promise((resolve) => {
      let open = servers.length;
      let isDecided = false;
      let next = 0;
      const tryNext = (): void => {
        const server = servers[next];
        if (server === undefined || isDecided) return;
        next += 1;
        const mine = next;
        let opened: Relay | undefined;
        const lost = (reason: string): void => {
          this.#relays = this.#relays.filter((one) => one !== opened);
          failed(reason);
        };
        void Relay.open({ server, mux: this.#mux, now, after, noted, lost }, cut.signal).then((outcome) => {
          if (typeof outcome !== 'string') opened = outcome;
          if (typeof outcome === 'string') {
            open -= 1;
            if (open === 0 || cut.signal.aborted) decide(outcome);
            else if (mine === next) tryNext();
          } else if (isDecided) outcome.close();
          else decide(outcome);
        });
        after(nextServerMs, () => {
          if (mine === next) tryNext();
        });
      };
      const decide = (outcome: Relay | string): void => {
        if (isDecided) return;
        isDecided = true;
        resolve(outcome);
      };
      tryNext();
    });
  }
}
