/**
 * Agent processes that break the rules below the protocol, on raw sockets: whatever arrives, the call begins within the limits of the
 * handshake and goes on, nothing throws, and no more is kept than one message.
 */
import { createHash } from 'node:crypto';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readAgentUrl } from '../../shared/config/agent-url.ts';
import { agentLinkLimits, agentLinkTimes as times } from '../../shared/agent-link/limits.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { newLog } from '../../shared/runtime/log.ts';
import { newWorkerMetrics } from '../../shared/runtime/metrics.ts';
import { newDialer } from '../../worker/agent-link/agent-socket.ts';
import { AgentCallLink } from '../../worker/agent-link/call-link.ts';
import { newLink } from '../../worker/agent-link/link-state.ts';
import { linkSettings } from '../support/link-driver.ts';
import { Observed } from '../support/process/observed.ts';

const fin = 0x80;
const opcode = { text: 0x1, binary: 0x2, reserved: 0x3, ping: 0x9 } as const;

/** A frame of a server as it stands on the wire; `first` is its first byte. */
function frame(first: number, body: Buffer | string, claimed = Buffer.byteLength(body)): Buffer {
  const head = Buffer.alloc(10);
  head[0] = first;
  head[1] = 127;
  head.writeBigUInt64BE(BigInt(claimed), 2);
  return Buffer.concat([head, Buffer.from(body)]);
}

const text = (body: Buffer | string): Buffer => frame(fin | opcode.text, body);
const accept = text('{"type":"session.accept","version":1,"tools":[{"name":"t"}]}');

/** The process: `whenAsked` answers the request of the upgrade, `whenStarted` the first frame behind it. */
class HostileAgent extends Observed {
  readonly sockets: Socket[] = [];
  whenAsked: (socket: Socket, request: string) => void = upgrade;
  whenStarted: (socket: Socket) => void = () => undefined;
  readonly #server: Server = createServer((socket) => {
    this.sockets.push(socket);
    let request = '';
    let isUpgraded = false;
    socket.on('error', () => undefined);
    socket.on('close', () => this.changed());
    socket.on('data', (data: Buffer) => {
      if (isUpgraded) this.whenStarted(socket);
      else request += data.toString('latin1');
      if (isUpgraded || !request.includes('\r\n\r\n')) return;
      isUpgraded = true;
      this.whenAsked(socket, request);
    });
    this.changed();
  });

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

function upgrade(socket: Socket, request: string, more = ''): void {
  const key = /sec-websocket-key: (\S+)/i.exec(request)?.[1] ?? '';
  const answer = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${answer}\r\n${more}\r\n`,
  );
}

let agent: HostileAgent;

beforeEach(async () => {
  agent = await new HostileAgent().start();
});
afterEach(() => agent.close());

/** A call's link whose time stands still but for what a test says. */
function begin() {
  const url = readAgentUrl(`ws://127.0.0.1:${agent.port}`);
  if (!url.ok) throw new Error(url.error);
  let now = 0;
  const clock = { ...systemClock, now: () => now };
  const metrics = newWorkerMetrics();
  const link = new AgentCallLink({
    clock,
    log: newLog({ role: 'test', level: 'fatal' }),
    metrics,
    dial: (_, events) => newDialer({ url: url.value, callerIdentity: false }, [])(systemClock, events),
    site: { bind: (callback) => callback, command: () => undefined, farewell: '' },
    state: newLink(linkSettings, now),
  });
  const setup = link.prepare().then((given) => {
    link.equipped({ refused: [], isTool: () => true });
    return given;
  });
  const at = (ms: number): void => {
    now = ms;
    link.tick();
  };
  const news = async (what: string): Promise<number> =>
    (await metrics.agentLinks.get()).values.find(({ labels }) => labels.what === what)?.value ?? 0;
  return { link, setup, at, news };
}

const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`;
const halfAnswer = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: webs';
const redirect = (socket: Socket): void =>
  void socket.end(
    `HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:${agent.port}/other\r\nContent-Length: 0\r\n\r\n`,
  );

/** What a process answers to the upgrade; the call begins alone in each case. */
const answers: readonly (readonly [what: string, whenAsked: HostileAgent['whenAsked']])[] = [
  ['dies with the request read', (socket) => socket.destroy()],
  ['dies in the middle of its answer', (socket) => socket.end(halfAnswer)],
  ['answers 500', (socket) => socket.end('HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n')],
  ['answers 200', (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')],
  ['sends it elsewhere', redirect],
  [
    'answers with headers of 1 MB',
    (socket, request) => upgrade(socket, request, `X: ${'x'.repeat(1 << 20)}\r\n`),
  ],
  ['answers another key', (socket) => upgrade(socket, '')],
  ['speaks no HTTP', (socket) => socket.end('\u0016\u0003\u0001 hello')],
];

/** What it sends below the messages: the connection ends. */
const frames: readonly (readonly [what: string, bytes: Buffer | undefined])[] = [
  ['dies', undefined],
  ['sends a frame of 1 MB', text('x'.repeat(1 << 20))],
  ['claims a frame of 2^53 bytes', frame(fin | opcode.text, 'x', 2 ** 53)],
  ['sends bytes that are no UTF-8', text(Buffer.from([0x22, 0xff, 0xfe, 0x22]))],
  ['sends a frame of no known kind', frame(fin | opcode.reserved, 'x')],
  ['sends a compressed frame', frame(fin | 0x40 | opcode.text, 'x')],
  ['sends a ping of 200 bytes', frame(fin | opcode.ping, 'x'.repeat(200))],
];

/** What it sends in place of its answer to `session.start`. */
const firsts: typeof frames = [
  ...frames,
  ['sends a list', text('[1]')],
  ['sends an accept nested without end', text(`{"type":"session.accept","version":1,"context":${deep}}`)],
];

describe('An agent process that', () => {
  it('closes each connection at once: the call begins alone', async () => {
    agent.whenAsked = (socket) => socket.destroy();
    const { setup, news } = begin();
    await agent.until(() => agent.sockets.length > 0);
    agent.sockets[0]?.destroy();
    expect(await setup).toEqual({});
    expect(await news('fallback')).toBe(1);
  });

  it.each(answers)('%s: the call begins alone, and nobody is asked again', async (_, whenAsked) => {
    agent.whenAsked = whenAsked;
    const { setup, news } = begin();
    expect(await setup).toEqual({});
    expect([await news('fallback'), agent.sockets.length]).toEqual([1, 1]);
  });

  it('takes the connection and says nothing: the call begins alone after the time of a connection', async () => {
    agent.whenAsked = () => undefined;
    const { setup, at, news } = begin();
    await agent.until(() => agent.sockets.length > 0);
    at(times.connectMs - 1);
    expect(await news('fallback')).toBe(0);
    at(times.connectMs);
    expect(await setup).toEqual({});
    await agent.until(() => agent.sockets[0]?.destroyed === true);
  });

  it('sends half of its accept: the call begins alone after the time of the handshake', async () => {
    let isStarted = false;
    agent.whenStarted = (socket) => {
      socket.write(accept.subarray(0, 30));
      isStarted = true;
      agent.changed();
    };
    const { setup, at } = begin();
    await agent.until(() => isStarted);
    at(times.handshakeMs);
    expect(await setup).toEqual({});
  });

  it.each(firsts)('%s in place of its accept: the call begins alone', async (_, bytes) => {
    agent.whenStarted = (socket) => (bytes === undefined ? socket.destroy() : socket.write(bytes));
    const { setup, news } = begin();
    expect(await setup).toEqual({});
    expect(await news('fallback')).toBe(1);
  });

  it.each(frames)(
    '%s in the middle of a call: the call goes on, and its tool has an outcome',
    async (_, bytes) => {
      let sent = 0;
      agent.whenStarted = (socket) => {
        sent += 1;
        if (sent === 1) socket.write(accept);
        else if (bytes === undefined) socket.destroy();
        else socket.write(bytes);
      };
      const { link, setup } = begin();
      expect((await setup).remoteTools?.map(({ name }) => name)).toEqual(['t']);
      const report = await new Promise((resolve) => {
        const request = { id: 'a', name: 't', arguments: {}, kind: 'read_only', epoch: 1 } as const;
        const asked = { ...request, idempotencyKey: '0'.repeat(16), timeoutMs: 5_000 };
        const context = { bind: <T>(callback: T): T => callback } as never;
        link.run(context, asked as never, resolve);
      });
      expect(report).toMatchObject({ kind: 'failed', transport: true });
      link.follow({ type: 'bot.text', epoch: 1, text: 'and on we go' });
      link.ended('call_ended');
    },
  );

  it('sends a message without end is left as soon as that is larger than a message may be', async () => {
    const part = frame(opcode.text, 'x'.repeat(30_000));
    const more = frame(0, 'x'.repeat(30_000));
    agent.whenStarted = (socket) => {
      socket.write(part);
      for (let at = 0; at * 30_000 < agentLinkLimits.messageBytes; at += 1) socket.write(more);
    };
    const { setup } = begin();
    expect(await setup).toEqual({});
    await agent.until(() => agent.sockets[0]?.destroyed === true);
  });
});
