/** TCP connections for media, on real sockets: which are brought to their calls, and what becomes of the others. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { framed, FrameReader } from '../../../../shared/webrtc/framing.ts';
import { stunAttribute, stunType, writeStun } from '../../../../shared/webrtc/stun.ts';
import { startReading } from '../../../../shared/runtime/reading.ts';
import { IceTcp } from '../../../../supervisor/webrtc/ice-tcp/ice-tcp.ts';
import { TcpWay } from '../../../../worker/webrtc/ways/tcp-way.ts';
import { newVirtualClock } from '../../../support/core/virtual-clock.ts';
import { Observed } from '../../../support/process/observed.ts';

const answer = 'v=0\r\na=ice-ufrag:abcd1234\r\na=ice-pwd:0123456789012345678901\r\n';
const check = (ufrag = 'abcd1234', key = '0123456789012345678901', type: number = stunType.bindingRequest) =>
  writeStun(type, {
    ...{ transaction: Buffer.alloc(12, 5), key },
    attributes: [[stunAttribute.username, Buffer.from(`${ufrag}:client`)]],
  });

const closing: (() => void)[] = [];
afterEach(() => closing.splice(0).forEach((close) => close()));

class World extends Observed {
  readonly clock = newVirtualClock();
  readonly brought: { call: number; socket: Socket; way: number; head: Buffer }[] = [];
  readonly iceTcp: IceTcp;
  readonly #server: Server;
  arrivals = 0;

  constructor(limits: { maxConnections?: number; maxPerIp?: number } = {}) {
    super();
    this.iceTcp = new IceTcp({
      settings: {
        ...{ addr: { host: '127.0.0.1', port: 0 }, idleMs: 10_000, maxFrameBytes: 512, queue: 8 },
        ...{ maxConnections: 4, ...limits },
      },
      clock: this.clock,
      bring: (call, socket, { way, head }) => {
        this.brought.push({ call, socket, way, head });
        this.changed();
        return call === 7;
      },
    });
    this.iceTcp.names.add(7, answer);
    this.#server = createServer((socket) => {
      this.arrivals += 1;
      this.iceTcp.arrived(socket);
      this.changed();
    });
    closing.push(() => this.#server.close());
  }

  async client(): Promise<Socket> {
    if (!this.#server.listening) await once(this.#server.listen(0, '127.0.0.1'), 'listening');
    const socket = connect((this.#server.address() as AddressInfo).port, '127.0.0.1');
    socket.on('error', () => undefined);
    closing.push(() => socket.destroy());
    const before = this.arrivals;
    await once(socket, 'connect');
    await this.until(() => this.arrivals > before);
    return socket;
  }
}

const closed = (socket: Socket): Promise<unknown> => {
  socket.resume();
  return new Promise((resolve) => {
    if (socket.closed) resolve(undefined);
    socket.once('close', resolve);
  });
};

describe('a TCP connection for media', () => {
  it('is brought to the call that it names, with everything that was read of it', async () => {
    const world = new World();
    const socket = await world.client();
    const sent = Buffer.concat([framed(Buffer.alloc(0)), framed(check()), framed(Buffer.from('more'))]);
    for (const byte of sent) socket.write(Buffer.from([byte]));
    await world.until(() => world.brought.length === 1);
    const [{ call, head, socket: given } = { call: 0, head: Buffer.alloc(0), socket }] = world.brought;
    expect(call).toBe(7);
    const parts = [head];
    given.on('data', (chunk: Buffer) => parts.push(chunk));
    startReading(given);
    given.resume();
    await expect.poll(() => Buffer.concat(parts).length).toBe(sent.length);
    expect(Buffer.concat(parts)).toEqual(sent);
    given.destroy();
  });

  it.each([
    ['names a call that is none', framed(check('zzzz1234'))],
    ['does not know the password', framed(check('abcd1234', 'wrong'))],
    ['begins with another message', framed(check('abcd1234', '0123456789012345678901', 0x0101))],
    ['speaks something else', Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n')],
    ['sends a frame that is too long', Buffer.from([0x02, 0x01])],
    ['sends empty frames without end', Buffer.alloc(600)],
  ])('that %s is closed without a byte', async (_, bytes) => {
    const world = new World();
    const socket = await world.client();
    const heard: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => heard.push(chunk));
    socket.write(bytes);
    await closed(socket);
    expect([heard.length, world.brought.length]).toEqual([0, 0]);
    await expect.poll(() => world.iceTcp.open).toBe(0);
  });

  it('that names nothing is closed at its deadline, whatever it sends meanwhile', async () => {
    const world = new World();
    const socket = await world.client();
    world.clock.advance(9_999);
    socket.write(framed(check()).subarray(0, 10));
    expect(world.iceTcp.waiting).toBe(1);
    world.clock.advance(1);
    await closed(socket);
    await expect.poll(() => world.iceTcp.open).toBe(0);
    expect(world.clock.pending).toBe(0);
  });

  it('whose call is over before it is brought there is closed', async () => {
    const world = new World();
    world.iceTcp.names.forget(7);
    world.iceTcp.names.add(8, answer);
    const socket = await world.client();
    socket.write(framed(check()));
    await closed(socket);
    expect([world.brought.length, world.iceTcp.open]).toEqual([1, 0]);
  });

  it('is one of so many in all, those with workers among them; more are closed unanswered', async () => {
    const world = new World({ maxConnections: 2 });
    const first = await world.client();
    first.write(framed(check()));
    await world.until(() => world.brought.length === 1);
    await world.client();
    await closed(await world.client());
    world.iceTcp.closed(world.brought[0]?.way ?? 0);
    const next = await world.client();
    next.write(framed(check()));
    await world.until(() => world.brought.length === 2);
    world.iceTcp.lost(7);
    expect(world.iceTcp.open).toBe(1);
  });

  it('is one of so many of its address', async () => {
    const world = new World({ maxPerIp: 1 });
    await world.client();
    await closed(await world.client());
    expect(world.iceTcp.open).toBe(1);
  });
});

describe('the names of calls', () => {
  it('are those of the last two answers of a call, and none after its end', () => {
    const { names } = new World().iceTcp;
    const renamed = (ufrag: string): string => answer.replace('abcd1234', ufrag);
    names.add(7, renamed('second12'));
    expect([names.judge(check()), names.judge(check('second12')), names.size]).toEqual([7, 7, 2]);
    names.add(7, renamed('third123'));
    expect([names.judge(check()), names.judge(check('third123')), names.size]).toEqual([undefined, 7, 2]);
    names.forget(7);
    expect([names.judge(check('third123')), names.size]).toEqual([undefined, 0]);
  });
});

describe('a TCP connection with its call', () => {
  async function carried(queue = 8) {
    const mux = createSocket('udp4');
    await new Promise<void>((resolve) => mux.bind(0, '127.0.0.1', resolve));
    const server = createServer();
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const [socket] = (await once(server, 'connection')) as [Socket];
    let isClosed = false;
    const head = framed(Buffer.from('head'));
    const { port } = mux.address();
    const way = new TcpWay({
      ...{ socket, head, queue, maxFrameBytes: 512, mux: { host: '0.0.0.0', port } },
      closed: () => (isClosed = true),
    });
    closing.push(
      () => mux.close(),
      () => server.close(),
      () => client.destroy(),
      () => socket.destroy(),
    );
    return { mux, client, socket, way, isClosed: () => isClosed };
  }

  it('brings frames to the port of media as packets, and packets back as frames', async () => {
    const { mux, client } = await carried();
    const [first, from] = (await once(mux, 'message')) as [Buffer, AddressInfo];
    expect(first.toString()).toBe('head');
    client.write(framed(Buffer.from('one')));
    expect(String((await once(mux, 'message'))[0])).toBe('one');
    mux.send(Buffer.from('back'), from.port, from.address);
    const frames = new FrameReader(512).push(((await once(client, 'data')) as [Buffer])[0]);
    expect(frames?.map(String)).toEqual(['back']);
  });

  it('closes over a frame that is too long, and says so once', async () => {
    const { client, isClosed } = await carried();
    client.write(Buffer.from([0x02, 0x01]));
    await closed(client);
    await expect.poll(isClosed).toBe(true);
  });

  it('is closed with its call', async () => {
    const { client, way, isClosed } = await carried();
    way.close();
    await closed(client);
    await expect.poll(isClosed).toBe(true);
  });
});
