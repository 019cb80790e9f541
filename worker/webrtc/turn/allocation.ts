/**
 * One relay at a TURN server as a pure machine (RFC 8656): it is asked for, kept, opened for peers, and given back. Bytes and time come
 * in, bytes and facts go out; what carries them is the shell's. Pure.
 *
 * Invariant: nothing leaves for a peer before the relay is there; requests, permissions and channels are bounded; after `failed` or
 * `close` nothing happens any more. No action holds a credential.
 */
import {
  errorCodeOf,
  hasIntegrity,
  longTermKey,
  readStun,
  readXoredAddress,
  stunAttribute as attribute,
  stunType,
  writeStun,
  xoredAddress,
  type SocketAddress,
  type StunMessage,
} from '../../../shared/webrtc/stun.ts';
import type { Millis } from '../../../shared/base/units.ts';

export type AllocationAction =
  | { readonly type: 'send'; readonly bytes: Buffer }
  /** Where the relay is reached. */
  | { readonly type: 'allocated'; readonly address: SocketAddress }
  /** It cannot be had, or is lost. */
  | { readonly type: 'failed'; readonly reason: string }
  /** For whoever debugs: what happened, without addresses of clients. */
  | { readonly type: 'noted'; readonly what: string };

export interface FromPeer {
  readonly peer: SocketAddress;
  readonly data: Buffer;
}

export interface AllocationOptions {
  readonly username: string;
  readonly credential: string;
  /** The way to the server loses nothing: no request is sent twice. */
  readonly isReliable: boolean;
  /** 12 bytes that nobody can guess. */
  readonly newTransaction: () => Buffer;
}

type RequestKind =
  | { readonly name: 'allocate' }
  | { readonly name: 'refresh' }
  | { readonly name: 'permission'; readonly ip: string }
  | { readonly name: 'channel'; readonly channel: Channel };

interface Request {
  readonly kind: RequestKind;
  readonly bytes: Buffer;
  /** How often it was refused for its nonce. */
  readonly refusals: number;
  sent: number;
  againAt: Millis;
}

interface Channel {
  readonly number: number;
  readonly peer: SocketAddress;
  isBound: boolean;
  renewAt: Millis;
}

/** Peers that a call may hear through its relay: candidates of its client. */
const mostPeers = 16;
const firstChannel = 0x4000;
/** UDP, as REQUESTED-TRANSPORT says it. */
const overUdp = Buffer.from([17, 0, 0, 0]);
/** A server keeps permissions for 5 minutes and channels for 10. */
const permissionMs = 240_000;
const channelMs = 540_000;
/** A server that gives less is not asked more often than every five seconds. */
const shortestLifetimeS = 10;
/** The first wait for an answer by UDP, doubled each time (RFC 8489, 6.2.1). */
const firstWaitMs = 500;
const mostSent = 6;
const reliableWaitMs = 10_000;
/** Asked without a nonce, with one, and with a newer one. */
const mostRefusals = 2;
const unauthorized = 401;
const staleNonce = 438;

const keyOf = ({ ip, port }: SocketAddress): string => `${ip} ${port}`;

export class Allocation {
  readonly #options: AllocationOptions;
  readonly #requests = new Map<string, Request>();
  /** When each permission is to be renewed. */
  readonly #permissions = new Map<string, Millis>();
  readonly #channels = new Map<string, Channel>();
  readonly #channelsByNumber = new Map<number, Channel>();
  #auth: { readonly realm: Buffer; readonly nonce: Buffer; readonly key: Buffer } | undefined;
  #relayed: SocketAddress | undefined;
  #refreshAt: Millis = Number.POSITIVE_INFINITY;
  #isOver = false;

  constructor(options: AllocationOptions) {
    this.#options = options;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** When `wake` is wanted next; infinite where nothing waits. */
  get deadline(): Millis {
    if (this.#isOver) return Number.POSITIVE_INFINITY;
    const waits = [...this.#requests.values()].map(({ againAt }) => againAt);
    const channels = [...this.#channels.values()].map(({ renewAt }) => renewAt);
    return Math.min(this.#refreshAt, ...waits, ...this.#permissions.values(), ...channels);
  }

  start(now: Millis): readonly AllocationAction[] {
    return [this.#ask({ name: 'allocate' }, now)];
  }

  /** Lets packets of this address through to us. */
  permit(ip: string, now: Millis): readonly AllocationAction[] {
    const isSix = this.#relayed?.ip.includes(':') === true;
    if (this.#isOver || this.#relayed === undefined || ip.includes(':') !== isSix) return [];
    if (this.#permissions.has(ip) || this.#permissions.size >= mostPeers) return [];
    this.#permissions.set(ip, now + permissionMs);
    return [this.#ask({ name: 'permission', ip }, now)];
  }

  /** What the server passes on of a peer; undefined for everything else. */
  unwrap(bytes: Buffer): FromPeer | undefined {
    if (this.#isOver || bytes.length < 4) return undefined;
    const first = bytes.readUInt16BE(0);
    if (first >= firstChannel && first < 0x5000) {
      const channel = this.#channelsByNumber.get(first);
      const length = bytes.readUInt16BE(2);
      if (channel === undefined || bytes.length < 4 + length) return undefined;
      return { peer: channel.peer, data: bytes.subarray(4, 4 + length) };
    }
    if (first !== stunType.dataIndication) return undefined;
    const message = readStun(bytes);
    const peer =
      message && readXoredAddress(message.attributes.get(attribute.peerAddress), message.transaction);
    const data = message?.attributes.get(attribute.data);
    return peer === undefined || data === undefined ? undefined : { peer, data };
  }

  /** A packet for a peer as it goes to the server. The first one to a peer asks for a channel, which costs fewer bytes from then on. */
  wrap(peer: SocketAddress, data: Buffer, now: Millis): readonly Buffer[] {
    if (this.#isOver || this.#relayed === undefined) return [];
    const channel = this.#channels.get(keyOf(peer));
    if (channel?.isBound === true) {
      const padding = this.#options.isReliable ? (4 - (data.length % 4)) % 4 : 0;
      const bytes = Buffer.alloc(4 + data.length + padding);
      bytes.writeUInt16BE(channel.number, 0);
      bytes.writeUInt16BE(data.length, 2);
      data.copy(bytes, 4);
      return [bytes];
    }
    const transaction = this.#options.newTransaction();
    const attributes = [
      [attribute.peerAddress, xoredAddress(peer, transaction)],
      [attribute.data, data],
    ] as const;
    const sent = writeStun(stunType.sendIndication, { transaction, attributes });
    const bound = channel === undefined ? this.#bind(peer, now) : undefined;
    return bound === undefined ? [sent] : [sent, bound];
  }

  #bind(peer: SocketAddress, now: Millis): Buffer | undefined {
    if (this.#channels.size >= mostPeers) return undefined;
    const number = firstChannel + this.#channels.size;
    const channel: Channel = { number, peer, isBound: false, renewAt: now + channelMs };
    this.#channels.set(keyOf(peer), channel);
    this.#channelsByNumber.set(number, channel);
    return this.#ask({ name: 'channel', channel }, now).bytes;
  }

  /** Everything else that the server sends. */
  receive(bytes: Buffer, now: Millis): readonly AllocationAction[] {
    const message = this.#isOver ? undefined : readStun(bytes);
    const id = message?.transaction.toString('hex') ?? '';
    const request = this.#requests.get(id);
    if (message === undefined || request === undefined) return [];
    // An answer to a request that proved the key has to prove it, too.
    const isError = (message.type & 0x0110) === 0x0110;
    if (!isError && this.#auth !== undefined && !hasIntegrity(message, this.#auth.key)) return [];
    this.#requests.delete(id);
    return isError ? this.#refused(request, message, now) : this.#granted(request, message, now);
  }

  /** Sends again what was not answered, and renews what runs out. */
  wake(now: Millis): readonly AllocationAction[] {
    if (this.#isOver) return [];
    const actions: AllocationAction[] = [];
    for (const [id, request] of this.#requests) {
      if (now < request.againAt) continue;
      if (this.#options.isReliable || request.sent >= mostSent) {
        this.#requests.delete(id);
        actions.push(...this.#missed(request.kind, 'the server does not answer'));
        if (this.#isOver) return actions;
      } else {
        request.againAt = now + firstWaitMs * 2 ** request.sent;
        request.sent += 1;
        actions.push({ type: 'send', bytes: request.bytes });
      }
    }
    return [...actions, ...this.#renew(now)];
  }

  #renew(now: Millis): AllocationAction[] {
    const actions: AllocationAction[] = [];
    if (now >= this.#refreshAt) {
      this.#refreshAt = Number.POSITIVE_INFINITY;
      actions.push(this.#ask({ name: 'refresh' }, now));
    }
    for (const [ip, renewAt] of this.#permissions) {
      if (now < renewAt) continue;
      this.#permissions.set(ip, now + permissionMs);
      actions.push(this.#ask({ name: 'permission', ip }, now));
    }
    for (const channel of this.#channels.values()) {
      if (now < channel.renewAt) continue;
      channel.renewAt = now + channelMs;
      actions.push(this.#ask({ name: 'channel', channel }, now));
    }
    return actions;
  }

  /** Gives the relay back. */
  close(): readonly AllocationAction[] {
    const isHeld = !this.#isOver && this.#relayed !== undefined;
    const last = isHeld ? this.#write({ name: 'refresh' }, { lifetimeS: 0 }) : undefined;
    this.#isOver = true;
    return last === undefined ? [] : [{ type: 'send', bytes: last.bytes }];
  }

  // ---- Requests ----

  #ask(kind: RequestKind, now: Millis, refusals = 0): { readonly type: 'send'; readonly bytes: Buffer } {
    const { id, bytes } = this.#write(kind);
    const againAt = now + (this.#options.isReliable ? reliableWaitMs : firstWaitMs);
    this.#requests.set(id, { kind, bytes, refusals, sent: 1, againAt });
    return { type: 'send', bytes };
  }

  #write(kind: RequestKind, { lifetimeS }: { lifetimeS?: number } = {}): { id: string; bytes: Buffer } {
    const transaction = this.#options.newTransaction();
    const auth = this.#auth;
    const attributes: (readonly [number, Buffer])[] = [...attributesOf(kind, transaction)];
    if (lifetimeS !== undefined) attributes.push([attribute.lifetime, uint32(lifetimeS)]);
    if (auth !== undefined)
      attributes.push(
        [attribute.username, Buffer.from(this.#options.username)],
        [attribute.realm, auth.realm],
        [attribute.nonce, auth.nonce],
      );
    const bytes = writeStun(typeOf[kind.name], { transaction, attributes, key: auth?.key });
    return { id: transaction.toString('hex'), bytes };
  }

  #granted({ kind }: Request, { attributes, transaction }: StunMessage, now: Millis): AllocationAction[] {
    const lifetime = attributes.get(attribute.lifetime);
    switch (kind.name) {
      case 'allocate': {
        const address = readXoredAddress(attributes.get(attribute.relayedAddress), transaction);
        if (address === undefined) return this.#fail('the server names no relay');
        this.#relayed = address;
        this.#refreshLater(lifetime, now);
        return [{ type: 'allocated', address }];
      }
      case 'refresh':
        this.#refreshLater(lifetime, now);
        return [{ type: 'noted', what: 'the relay was kept for longer' }];
      case 'permission':
        return [{ type: 'noted', what: 'a peer may send to the relay' }];
      case 'channel':
        kind.channel.isBound = true;
        return [{ type: 'noted', what: 'a peer has a channel' }];
    }
  }

  #refreshLater(lifetime: Buffer | undefined, now: Millis): void {
    const seconds = lifetime?.length === 4 ? lifetime.readUInt32BE(0) : 600;
    // A minute before its end, and where it is short after half of it.
    const lifetimeS = Math.max(shortestLifetimeS, Math.min(seconds, 86_400));
    this.#refreshAt = now + Math.max(lifetimeS - 60, lifetimeS / 2) * 1000;
  }

  #refused({ kind, refusals }: Request, message: StunMessage, now: Millis): AllocationAction[] {
    const code = errorCodeOf(message);
    const nonce = message.attributes.get(attribute.nonce);
    const realm = message.attributes.get(attribute.realm) ?? this.#auth?.realm;
    const mayAskAgain = refusals < mostRefusals && nonce !== undefined && realm !== undefined;
    // Refused with the key at hand: the credentials are wrong, and another nonce changes nothing.
    const isFirst = code === unauthorized && this.#auth === undefined;
    if (!mayAskAgain || (!isFirst && code !== staleNonce))
      return this.#missed(kind, `the server refused with ${code}`);
    const { username, credential } = this.#options;
    this.#auth = {
      realm: Buffer.from(realm),
      nonce: Buffer.from(nonce),
      key: longTermKey(username, realm.toString('utf8'), credential),
    };
    return [this.#ask(kind, now, refusals + 1)];
  }

  /** A request has come to nothing. Without its relay the call has none; without one peer it has the others. */
  #missed(kind: RequestKind, reason: string): AllocationAction[] {
    if (kind.name === 'allocate' || kind.name === 'refresh') return this.#fail(reason);
    return [{ type: 'noted', what: `${reason} for a ${kind.name}` }];
  }

  #fail(reason: string): AllocationAction[] {
    this.#isOver = true;
    return [{ type: 'failed', reason }];
  }
}

const typeOf = {
  allocate: stunType.allocateRequest,
  refresh: stunType.refreshRequest,
  permission: stunType.permissionRequest,
  channel: stunType.channelRequest,
} as const;

function attributesOf(kind: RequestKind, transaction: Buffer): readonly (readonly [number, Buffer])[] {
  switch (kind.name) {
    case 'allocate':
      return [[attribute.requestedTransport, overUdp]];
    case 'refresh':
      return [];
    case 'permission':
      return [[attribute.peerAddress, xoredAddress({ ip: kind.ip, port: 0 }, transaction)]];
    case 'channel':
      return [
        [attribute.channelNumber, uint32(kind.channel.number * 0x1_0000)],
        [attribute.peerAddress, xoredAddress(kind.channel.peer, transaction)],
      ];
  }
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value, 0);
  return bytes;
}
