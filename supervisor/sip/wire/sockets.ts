/**
 * Every socket that SIP comes by: bound here, or given by the supervisor before this one, and left to the one after it. A message
 * comes in with the way that it came, and its answer goes that way back.
 */
import type { Socket as DatagramSocket } from 'node:dgram';
import type { Server } from 'node:net';
import type { SipSettings } from '../../../shared/sip/variables.ts';
import { formatHostPort, type HostPort } from '../../../shared/net/address.ts';
import { parseIp, isInRange, parseCidr } from '../../../shared/net/cidr.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { Log } from '../../../shared/runtime/log.ts';
import { startReceiving, stopReceiving } from '../../../shared/runtime/reading.ts';
import type { Flow } from '../../../shared/sip/agent/state.ts';
import { parseDatagram, type Parsed } from '../../../shared/sip/message/parse.ts';
import type { Source } from '../../../shared/sip/message/write.ts';
import { Certificate } from './certificate.ts';
import { Connections, type StreamFlow } from './connections.ts';
import { datagramsOf, openDatagrams, type Datagrams } from './datagrams.ts';
import { networkInterfaces } from 'node:os';

/** Names of the listeners in logs, and towards the supervisor that takes over. */
const names = { TCP: 'sip', TLS: 'sips' } as const;
/** Ports of the system's choice that are tried. */
const mostAttempts = 10;
export const isSipListener = (name: string): boolean => name === names.TCP || name === names.TLS;

export interface SipSocketsOptions {
  readonly settings: SipSettings;
  readonly clock: Clock;
  readonly log: Log;
  /** `size` is what the peer has sent for it; infinite where it has shown that its address is its own. */
  readonly received: (parsed: Parsed, flow: Flow, size: number) => void;
  readonly closed: (connection: number) => void;
  /** A call runs over it: its silence is no idleness. */
  readonly isNeeded: (connection: number) => boolean;
  readonly late: () => void;
  readonly full: () => void;
}

/** Where sockets go. */
export interface SocketTaker {
  readonly giveListener: (name: string, server: Server) => void;
  readonly giveSocket: (socket: DatagramSocket) => void;
}

export class SipSockets {
  readonly #options: SipSocketsOptions;
  readonly #connections: Connections;
  readonly #ports = { TCP: 0, TLS: 0 };
  #datagrams: Datagrams | undefined;

  constructor(options: SipSocketsOptions) {
    this.#options = options;
    const { settings } = options;
    this.#connections = new Connections({
      ...settings,
      ...options,
      received: (parsed, flow) => options.received(parsed, this.#streamFlow(flow), Infinity),
    });
  }

  #streamFlow({ localAddress, ...flow }: StreamFlow): Flow {
    const address = this.#options.settings.publicIp ?? localAddress;
    return { ...flow, local: { address, port: this.#ports[flow.protocol] } };
  }

  /** Binds what is not open yet. Rejects when an address cannot be bound. */
  async bind(): Promise<void> {
    const { settings, log } = this.#options;
    const { addr, tls } = settings;
    if (addr !== undefined) await this.#bindBoth(addr);
    if (tls !== undefined && this.#ports.TLS === 0)
      this.#opened('TLS', tls.addr, await this.#connections.listen(tls.addr, new Certificate(tls, log)));
  }

  /** One port for both, also where the system chooses it: among those that are free for UDP, which TCP may have given to somebody. */
  async #bindBoth({ host, port }: HostPort): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const datagrams = (this.#datagrams ??= await openDatagrams({ host, port }, this.#received));
      if (this.#ports.TCP !== 0) return;
      try {
        const at = { host, port: datagrams.port };
        this.#opened('TCP', at, await this.#connections.listen(at));
        return;
      } catch (error) {
        if (port !== 0 || attempt === mostAttempts) throw error;
        datagrams.close();
        this.#datagrams = undefined;
      }
    }
  }

  /** A listening socket that another process gave. */
  take(name: string, given: Server): void {
    const { settings, log } = this.#options;
    const { addr, tls } = settings;
    if (name === names.TCP && addr !== undefined) this.#opened('TCP', addr, this.#connections.accept(given));
    else if (name === names.TLS && tls !== undefined)
      this.#opened('TLS', tls.addr, this.#connections.accept(given, new Certificate(tls, log)));
    else given.close();
  }

  takeSocket(given: DatagramSocket): void {
    if (this.#options.settings.addr === undefined || this.#datagrams !== undefined) given.close();
    else this.#datagrams = datagramsOf(given, this.#received);
  }

  #opened(protocol: 'TCP' | 'TLS', { host }: HostPort, port: number): void {
    this.#ports[protocol] = port;
    const address = formatHostPort({ host, port });
    this.#options.log.info({ listener: names[protocol], address }, 'listening');
  }

  /** From here on datagrams wait in the kernel for the process that reads next. */
  give(to: SocketTaker): void {
    if (this.#datagrams !== undefined) {
      stopReceiving(this.#datagrams.socket);
      to.giveSocket(this.#datagrams.socket);
    }
    for (const [protocol, server] of this.#connections.servers) to.giveListener(names[protocol], server);
  }

  /** Nobody reads but this process. */
  takeBack(): void {
    if (this.#datagrams !== undefined) startReceiving(this.#datagrams.socket);
  }

  /** Another process accepts and reads. Connections stay, and so does the socket, to send by. */
  leave(): void {
    this.#connections.leave();
  }

  close(): void {
    this.#datagrams?.close();
    this.#connections.close();
  }

  datagram(bytes: Buffer, to: Source): void {
    this.#datagrams?.send(bytes, to);
  }

  /** False where the connection is gone. */
  send(connection: number, bytes: Buffer): boolean {
    return this.#connections.send(connection, bytes);
  }

  /** Sends to a peer that has let go of its own connection. */
  call(at: Source, what: { readonly protocol: 'TCP' | 'TLS'; readonly bytes: Buffer }): void {
    this.#connections.call(at, what);
  }

  /** The way to a peer that has not spoken yet; undefined where there is none. */
  async wayTo(
    at: Source,
    { protocol, name }: { readonly protocol: Flow['protocol']; readonly name: string },
  ): Promise<Flow | undefined> {
    if (protocol === 'UDP') return this.#udpFlow(at);
    const flow = await this.#connections.dial(at, { protocol, name });
    return flow && this.#streamFlow(flow);
  }

  readonly #received = (bytes: Buffer, source: Source): void => {
    // Keep-alives of phones behind a translation.
    if (bytes.length < 16) return;
    const parsed = parseDatagram(bytes);
    if (parsed.ok) this.#options.received(parsed.value, this.#udpFlow(source), bytes.length);
  };

  #udpFlow(source: Source): Flow {
    const { settings } = this.#options;
    const bound = settings.addr?.host ?? '';
    const isAny = parseIp(bound)?.every((byte) => byte === 0) !== false;
    const own = isAny ? localAddressFor(source.address, ownAddresses()) : bound;
    const local = { address: settings.publicIp ?? own ?? bound, port: this.#datagrams?.port ?? 0 };
    return { connection: 0, protocol: 'UDP', source, local };
  }
}

/** Which of this machine's addresses a peer reaches: the one of the network that it is in, else the first one that leads outside. */
interface OwnAddress {
  readonly address: string;
  /** With its network: `192.0.2.7/24`. */
  readonly cidr: string | null;
  readonly internal: boolean;
}

const ownAddresses = (): readonly OwnAddress[] =>
  Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);

function localAddressFor(peer: string, own: readonly OwnAddress[]): string | undefined {
  const ip = parseIp(peer);
  if (ip === undefined) return undefined;
  const family = own.filter(({ address }) => parseIp(address)?.length === ip.length);
  const near = family.find(({ cidr }) => {
    const range = parseCidr(cidr ?? '');
    return range.ok && isInRange(ip, range.value);
  });
  const outer = family.find(({ internal, address }) => !internal && !address.startsWith('fe80:'));
  return (near ?? outer ?? family[0])?.address;
}
