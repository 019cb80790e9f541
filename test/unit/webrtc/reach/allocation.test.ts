/** The machine of a relay against a TURN server that is written from RFC 8656, in virtual time. */
import { describe, expect, it } from 'vitest';
import {
  hasIntegrity,
  longTermKey,
  readStun,
  readXoredAddress,
  stunAttribute as attribute,
  stunType as type,
  writeStun,
  xoredAddress,
  type StunMessage,
} from '../../../../shared/webrtc/stun.ts';
import { Allocation, type AllocationAction } from '../../../../worker/webrtc/turn/allocation.ts';
import { TurnReader } from '../../../../worker/webrtc/turn/turn-reader.ts';

const relay = { ip: '198.51.100.7', port: 50_000 };
const peer = { ip: '192.0.2.1', port: 4_711 };
const [realm, credential, username] = ['example.org', 'secret-canary', '1893456000:call'];
const key = longTermKey(username, realm, credential);

const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const errorCode = (code: number): Buffer => Buffer.from([0, 0, Math.floor(code / 100), code % 100]);

/** Answers each request as a server would whose nonce is `nonce`. */
class Server {
  nonce = 'nonce-1';
  lifetimeS = 600;
  /** Codes by which requests of a type are refused, whatever they hold. */
  readonly refuses = new Map<number, number>();
  readonly asked: StunMessage[] = [];

  answer(bytes: Buffer): Buffer | undefined {
    const message = readStun(bytes);
    if (message === undefined) throw new Error('what was sent is no message');
    this.asked.push(message);
    if (message.type === type.sendIndication) return undefined;
    const { transaction } = message;
    const refused = this.refuses.get(message.type) ?? this.#authFault(message);
    if (refused !== undefined)
      return writeStun(message.type + 0x0110, {
        transaction,
        attributes: [
          [attribute.errorCode, errorCode(refused)],
          [attribute.realm, Buffer.from(realm)],
          [attribute.nonce, Buffer.from(this.nonce)],
        ],
      });
    return writeStun(message.type + 0x0100, {
      ...{ transaction, key },
      attributes: [
        [attribute.relayedAddress, xoredAddress(relay, transaction)],
        [attribute.lifetime, uint32(this.lifetimeS)],
      ],
    });
  }

  #authFault(message: StunMessage): number | undefined {
    if (!hasIntegrity(message, key)) return 401;
    return message.attributes.get(attribute.nonce)?.toString() === this.nonce ? undefined : 438;
  }

  count(kind: number): number {
    return this.asked.filter((message) => message.type === kind).length;
  }
}

function newWorld({ isReliable = false } = {}) {
  let transactions = 0;
  const newTransaction = (): Buffer => Buffer.from(String((transactions += 1)).padStart(12, '0'));
  const allocation = new Allocation({ username, credential, isReliable, newTransaction });
  const server = new Server();
  const told: Exclude<AllocationAction, { type: 'send' }>[] = [];
  const world = { isDeaf: false, now: 0 };
  const perform = (orders: readonly AllocationAction[]): void => {
    for (const order of orders) {
      if (order.type !== 'send') told.push(order);
      else if (world.isDeaf) server.asked.push(readStun(order.bytes) as StunMessage);
      else {
        const answer = server.answer(order.bytes);
        if (answer !== undefined) perform(allocation.receive(answer, world.now));
      }
    }
  };
  /** Lets time pass, from one deadline to the next. */
  const pass = (ms: number): void => {
    const until = world.now + ms;
    while (allocation.deadline <= until) {
      world.now = Math.max(world.now, allocation.deadline);
      perform(allocation.wake(world.now));
    }
    world.now = until;
  };
  return { allocation, server, told, perform, pass, world };
}

function allocated(options = {}) {
  const made = newWorld(options);
  made.perform(made.allocation.start(0));
  expect(made.told).toEqual([{ type: 'allocated', address: relay }]);
  made.told.length = 0;
  return made;
}

describe('a relay', () => {
  it('is asked for, with credentials once the server names its realm', () => {
    const { server } = allocated();
    expect(server.asked.map((message) => hasIntegrity(message, key))).toEqual([false, true]);
  });

  it('is kept at a server that gives it for seconds', () => {
    const { allocation, server, perform, pass } = newWorld();
    server.lifetimeS = 20;
    perform(allocation.start(0));
    pass(19_000);
    expect(server.count(type.refreshRequest)).toBe(1);
  });

  it('is not had with credentials that the server does not take', () => {
    const { allocation, server, told, perform } = newWorld();
    server.refuses.set(type.allocateRequest, 401);
    perform(allocation.start(0));
    expect(told).toEqual([{ type: 'failed', reason: 'the server refused with 401' }]);
    expect(server.asked).toHaveLength(2);
    expect(JSON.stringify(told)).not.toContain('canary');
  });

  it('is given up when nobody answers, and by UDP asked for again until then', () => {
    const { allocation, server, told, perform, pass, world } = newWorld();
    world.isDeaf = true;
    perform(allocation.start(0));
    pass(60_000);
    expect(told).toEqual([{ type: 'failed', reason: 'the server does not answer' }]);
    expect(server.count(type.allocateRequest)).toBe(6);
    expect(allocation.deadline).toBe(Number.POSITIVE_INFINITY);
  });

  it('is asked for once where nothing is lost', () => {
    const { allocation, server, told, perform, pass, world } = newWorld({ isReliable: true });
    world.isDeaf = true;
    perform(allocation.start(0));
    pass(60_000);
    expect([told.length, server.asked.length]).toEqual([1, 1]);
  });

  it('is kept for hours, with a newer nonce where the server wants one, and its permissions and channels with it', () => {
    const { allocation, server, told, perform, pass } = allocated();
    perform(allocation.permit(peer.ip, 0));
    for (const bytes of allocation.wrap(peer, Buffer.from('hello'), 0)) perform([{ type: 'send', bytes }]);
    server.nonce = 'nonce-2';
    pass(3 * 3_600_000);
    expect(told.filter((order) => order.type === 'failed')).toEqual([]);
    // 540 s, 240 s and 540 s apart; the first with the old nonce is asked twice.
    expect(server.count(type.refreshRequest)).toBeGreaterThanOrEqual(20);
    expect(server.count(type.permissionRequest)).toBeGreaterThanOrEqual(45);
    expect(server.count(type.channelRequest)).toBeGreaterThanOrEqual(20);
  });

  it('is lost when the server no longer keeps it, and says so once', () => {
    const { server, told, pass } = allocated();
    server.refuses.set(type.refreshRequest, 437);
    pass(3_600_000);
    expect(told).toEqual([{ type: 'failed', reason: 'the server refused with 437' }]);
  });

  it('is given back', () => {
    const { allocation, server, perform } = allocated();
    perform(allocation.close());
    const last = server.asked.at(-1);
    expect([last?.type, last?.attributes.get(attribute.lifetime)?.readUInt32BE(0)]).toEqual([
      ...[type.refreshRequest, 0],
    ]);
    expect([
      allocation.close(),
      allocation.permit(peer.ip, 1),
      allocation.wrap(peer, Buffer.alloc(1), 1),
    ]).toEqual([[], [], []]);
  });

  it('lets no more peers in than it may, and none of another family', () => {
    const { allocation, server, perform } = allocated();
    for (let host = 1; host <= 64; host += 1) perform(allocation.permit(`192.0.2.${host}`, 0));
    perform(allocation.permit('2001:db8::1', 0));
    perform(allocation.permit('192.0.2.1', 0));
    expect(server.count(type.permissionRequest)).toBe(16);
  });

  it('does without a peer that the server refuses', () => {
    const { allocation, server, told, perform } = allocated();
    server.refuses.set(type.permissionRequest, 403);
    perform(allocation.permit('127.0.0.1', 0));
    expect(told).toEqual([{ type: 'noted', what: 'the server refused with 403 for a permission' }]);
    expect(allocation.isOver).toBe(false);
  });

  it('takes no answer that does not prove the key', () => {
    const { allocation, server, told, perform, world } = allocated();
    world.isDeaf = true;
    perform(allocation.permit(peer.ip, 0));
    const { transaction } = server.asked.at(-1) as StunMessage;
    const forged = writeStun(type.permissionSuccess, { transaction, attributes: [] });
    expect(allocation.receive(forged, 0)).toEqual([]);
    expect(told).toEqual([]);
  });
});

describe('packets through a relay', () => {
  it('go as an indication until the channel is bound, and as channel data then', () => {
    const { allocation, server, perform } = allocated();
    const [first, bind] = allocation.wrap(peer, Buffer.from('hello'), 0);
    const indication = readStun(first as Buffer);
    expect(indication?.type).toBe(type.sendIndication);
    expect(indication?.attributes.get(attribute.data)?.toString()).toBe('hello');
    const told = indication?.attributes.get(attribute.peerAddress);
    expect(readXoredAddress(told, indication?.transaction ?? Buffer.alloc(12))).toEqual(peer);
    perform([{ type: 'send', bytes: bind as Buffer }]);
    expect(server.count(type.channelRequest)).toBeGreaterThan(0);
    const [data, ...more] = allocation.wrap(peer, Buffer.from('hello'), 0);
    expect([data?.toString('hex'), more]).toEqual([`40000005${Buffer.from('hello').toString('hex')}`, []]);
    expect(allocation.unwrap(data as Buffer)).toEqual({ peer, data: Buffer.from('hello') });
  });

  it('come as an indication or on a channel; what is neither is nobody’s', () => {
    const { allocation } = allocated();
    const transaction = Buffer.from('0123456789ab');
    const attributes = [
      [attribute.peerAddress, xoredAddress(peer, transaction)],
      [attribute.data, Buffer.from('hi')],
    ] as const;
    const bytes = writeStun(type.dataIndication, { transaction, attributes });
    expect(allocation.unwrap(bytes)).toEqual({ peer, data: Buffer.from('hi') });
    for (const other of ['', '4000', '40050001ff', '0017', 'ffffffff'])
      expect(allocation.unwrap(Buffer.from(other, 'hex'))).toBeUndefined();
  });

  it('are padded where they go by a connection, and cut out of it however they come', () => {
    const { allocation, perform } = allocated({ isReliable: true });
    for (const bytes of allocation.wrap(peer, Buffer.from('x'), 0)) perform([{ type: 'send', bytes }]);
    const [one] = allocation.wrap(peer, Buffer.from('hello'), 0);
    expect(one).toHaveLength(12);
    const stun = writeStun(type.refreshRequest, { transaction: Buffer.alloc(12), attributes: [] });
    const stream = Buffer.concat([one as Buffer, stun, one as Buffer]);
    for (let size = 1; size <= stream.length; size += 1) {
      const reader = new TurnReader();
      const read: Buffer[] = [];
      for (let at = 0; at < stream.length; at += size)
        read.push(...(reader.push(stream.subarray(at, at + size)) ?? []));
      expect(read).toEqual([one, stun, one]);
    }
    expect(new TurnReader().push(Buffer.from('SSH-2.0'))).toBeUndefined();
  });
});
