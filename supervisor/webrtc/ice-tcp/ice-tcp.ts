/**
 * TCP connections that are to carry the media of WebRTC calls: each has to name a live call by its first frame, and is brought to the
 * worker that has it. A connection that does not is closed without a byte.
 *
 * Invariant: as many connections are open, in all and of one address, as the settings allow, those that workers have among them. A
 * connection is counted until it is closed, wherever that is.
 */
import type { Socket } from 'node:net';
import type { IceTcpSettings } from '../../../shared/config/server/reach/ice-tcp-variables.ts';
import { clientAddress } from '../../../shared/net/client-address.ts';
import { FrameReader } from '../../../shared/webrtc/framing.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { stopReading } from '../../../shared/runtime/reading.ts';
import type { SignaledCalls } from '../../handover/signaled-calls.ts';
import { hasIntegrity, readStun, stunAttribute, stunType } from '../../../shared/webrtc/stun.ts';

export interface IceTcpOptions {
  readonly settings: IceTcpSettings;
  readonly clock: Clock;
  readonly bring: SignaledCalls['bring'];
}

interface Connection {
  readonly address: string;
  /** Where it went; undefined until it has named its call. */
  call: number | undefined;
}

export class IceTcp {
  readonly names = new CallNames();
  /** In candidates; undefined before the listener is open. */
  port: number | undefined;
  readonly #options: IceTcpOptions;
  readonly #connections = new Map<number, Connection>();
  readonly #perAddress = new Map<string, number>();
  #last = 0;

  constructor(options: IceTcpOptions) {
    this.#options = options;
  }

  /** Connections that have not named a call yet. */
  get waiting(): number {
    let count = 0;
    for (const { call } of this.#connections.values()) if (call === undefined) count += 1;
    return count;
  }

  get open(): number {
    return this.#connections.size;
  }

  /** A connection has come. */
  arrived(socket: Socket): void {
    socket.on('error', () => undefined);
    const id = this.#take(socket);
    if (id === undefined) socket.destroy();
    else this.#listen(socket, id);
  }

  /** A worker says that a connection is closed. */
  closed(id: number): void {
    const connection = this.#connections.get(id);
    if (connection === undefined) return;
    this.#connections.delete(id);
    const left = (this.#perAddress.get(connection.address) ?? 1) - 1;
    if (left > 0) this.#perAddress.set(connection.address, left);
    else this.#perAddress.delete(connection.address);
  }

  /** The call is over, or its worker is gone: its connections are closed. */
  lost(call: number): void {
    for (const [id, connection] of this.#connections) if (connection.call === call) this.closed(id);
  }

  #take({ remoteAddress }: Socket): number | undefined {
    const { maxConnections, maxPerIp = Number.POSITIVE_INFINITY } = this.#options.settings;
    const address = clientAddress(
      { peer: remoteAddress, headers: {} },
      { trustedProxies: [], header: 'x-forwarded-for' },
    );
    const count = this.#perAddress.get(address) ?? 0;
    if (this.#connections.size >= maxConnections || count >= maxPerIp) return undefined;
    this.#last += 1;
    this.#connections.set(this.#last, { address, call: undefined });
    this.#perAddress.set(address, count + 1);
    return this.#last;
  }

  #listen(socket: Socket, id: number): void {
    const { settings, clock } = this.#options;
    const reader = new FrameReader(settings.maxFrameBytes);
    const read: Buffer[] = [];
    let bytes = 0;
    const deadline = clock.after(settings.idleMs, () => socket.destroy());
    const hear = (chunk: Buffer): void => {
      read.push(chunk);
      bytes += chunk.length;
      const frames = reader.push(chunk);
      const first = frames?.[0];
      const call = first === undefined ? undefined : this.names.judge(first);
      if (call !== undefined) {
        socket.off('data', hear).off('close', gone);
        deadline.cancel();
        this.#bring(socket, { id, call, head: Buffer.concat(read) });
        return;
      }
      // The first frame is too long or of no call, or nothing but empty ones come.
      if (frames === undefined || first !== undefined || bytes > settings.maxFrameBytes + 2) socket.destroy();
    };
    const gone = (): void => {
      deadline.cancel();
      this.closed(id);
    };
    socket.on('data', hear).once('close', gone);
    socket.on('end', () => socket.destroy());
  }

  #bring(socket: Socket, { id, call, head }: { id: number; call: number; head: Buffer }): void {
    // Before anything else: Node reads on while it sends a socket to another process, and throws away what it read.
    stopReading(socket);
    const connection = this.#connections.get(id);
    if (connection !== undefined) connection.call = call;
    if (this.#options.bring(call, socket, { way: id, head })) return;
    this.closed(id);
    socket.destroy();
  }
}

/**
 * The calls that a TCP connection can name by its first packet, a STUN request: who knows the password of a call's ICE session belongs to
 * the call (RFC 8445, 7.3; RFC 6544).
 *
 * Invariant: a call is known from its answer to its end, under the names of its last two answers, because a client that makes another
 * connection still has the one before.
 */
interface Named {
  readonly call: number;
  readonly pwd: string;
}

const mostNames = 2;

class CallNames {
  readonly #byUfrag = new Map<string, Named>();
  readonly #ufrags = new Map<number, string[]>();

  get size(): number {
    return this.#byUfrag.size;
  }

  /** Remembers what the answer of a call says of its ICE session. */
  add(call: number, answer: string): void {
    const ufrag = /^a=ice-ufrag:(\S+)\r?$/m.exec(answer)?.[1];
    const pwd = /^a=ice-pwd:(\S+)\r?$/m.exec(answer)?.[1];
    if (ufrag === undefined || pwd === undefined) return;
    const ufrags = [...(this.#ufrags.get(call) ?? []), ufrag];
    for (const old of ufrags.splice(0, ufrags.length - mostNames)) this.#byUfrag.delete(old);
    this.#ufrags.set(call, ufrags);
    this.#byUfrag.set(ufrag, { call, pwd });
  }

  forget(call: number): void {
    for (const ufrag of this.#ufrags.get(call) ?? []) this.#byUfrag.delete(ufrag);
    this.#ufrags.delete(call);
  }

  /** The call that a packet names and proves to know; undefined for any other. */
  judge(packet: Buffer): number | undefined {
    const message = readStun(packet);
    if (message?.type !== stunType.bindingRequest) return undefined;
    const username = message.attributes.get(stunAttribute.username);
    if (username === undefined || username.length > 513) return undefined;
    const named = this.#byUfrag.get(username.toString('utf8').split(':')[0] ?? '');
    return named !== undefined && hasIntegrity(message, named.pwd) ? named.call : undefined;
  }
}
