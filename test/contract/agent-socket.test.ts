/** Connections to agent processes on real sockets: TLS with a private CA, sessions that are gone on with, and what is never told. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocketServer, type WebSocket } from 'ws';
import { readAgentUrl } from '../../shared/config/agent-url.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { newDialer, type AgentSocket, type Dial } from '../../worker/agent-link/agent-socket.ts';
import { newLookup, type Lookup } from '../../worker/stages/lookup.ts';
import { Observed } from '../support/process/observed.ts';
import { selfSigned } from '../support/self-signed.ts';

/** An agent process behind a certificate that nobody knows but the clients that were given it. */
class SecureAgent extends Observed {
  readonly resumed: boolean[] = [];
  readonly identity = selfSigned();
  readonly #server: Server = createServer(this.identity);
  readonly #links = new WebSocketServer({ server: this.#server });

  constructor() {
    super();
    this.#server.on('secureConnection', (socket: TLSSocket) => {
      this.resumed.push(socket.isSessionReused());
      this.changed();
    });
    this.#server.on('tlsClientError', () => undefined);
    this.#links.on('connection', (socket) =>
      socket.on('message', (data: Buffer) => socket.send(data.toString())),
    );
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  dialer(certificates: readonly string[], host = '127.0.0.1', find?: Lookup): Dial {
    const { port } = this.#server.address() as AddressInfo;
    const url = readAgentUrl(`wss://${host}:${port}/calls`);
    if (!url.ok) throw new Error(url.error);
    return newDialer({ url: url.value, callerIdentity: false }, certificates, find);
  }

  async close(): Promise<void> {
    for (const socket of this.#links.clients) socket.terminate();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** One link: what came of it. */
class Link extends Observed {
  readonly texts: string[] = [];
  opened = false;
  why: string | undefined;
  readonly socket: AgentSocket;

  constructor(dial: Dial) {
    super();
    this.socket = dial(systemClock, {
      opened: () => {
        this.opened = true;
        this.changed();
      },
      text: (text) => {
        this.texts.push(text);
        this.changed();
      },
      binary: () => undefined,
      ping: () => undefined,
      pong: () => undefined,
      closed: (why) => {
        this.why = why;
        this.changed();
      },
    });
  }

  /** One message there and back: by then the session of TLS has come, too. */
  async talk(): Promise<void> {
    await this.until(() => this.opened || this.why !== undefined);
    this.socket.send('hello');
    await this.until(() => this.texts.length > 0 || this.why !== undefined);
    this.socket.close(1000, '');
  }
}

let agent: SecureAgent;

beforeEach(async () => {
  agent = await new SecureAgent().start();
});
afterEach(() => agent.close());

describe('wss:// with SVC_AGENT_TLS_CA', () => {
  it('trusts a private CA of the bundle, beside the public roots', async () => {
    const link = new Link(agent.dialer([selfSigned('another').cert, agent.identity.cert]));
    await link.talk();
    expect([link.texts, link.why]).toEqual([['hello'], undefined]);
  });

  it.each([
    ['no bundle', []],
    ['a bundle of others', [selfSigned().cert]],
  ])('trusts nobody else: %s', async (_, certificates) => {
    const link = new Link(agent.dialer(certificates));
    await link.until(() => link.why !== undefined);
    expect([link.opened, link.why]).toEqual([false, 'DEPTH_ZERO_SELF_SIGNED_CERT']);
  });

  it('connections to the same agent process go on with the TLS session of the one before', async () => {
    const dial = agent.dialer([agent.identity.cert]);
    for (let call = 0; call < 3; call += 1) await new Link(dial).talk();
    expect(agent.resumed).toEqual([false, true, true]);
  });

  it('the name of an agent process is looked up once per interval for the calls of all that come', async () => {
    const asked: string[] = [];
    let now = 0;
    const find = newLookup({
      clock: { ...systemClock, now: () => now },
      ask: (name, _, answered) => {
        asked.push(name);
        answered(null, [{ address: '127.0.0.1', family: 4 }]);
      },
    });
    // The certificate is for this name.
    const dial = agent.dialer([agent.identity.cert], 'localhost', find);
    const call = async (): Promise<void> => {
      const link = new Link(dial);
      await link.talk();
      expect(link.why).toBeUndefined();
    };
    for (let calls = 0; calls < 4; calls += 1) await call();
    await Promise.all(Array.from({ length: 8 }, call));
    expect([asked, agent.resumed.length]).toEqual([['localhost'], 12]);
    expect(agent.resumed.slice(1)).not.toContain(false);
    now += 30_000;
    await Promise.all(Array.from({ length: 8 }, call));
    expect(asked).toEqual(['localhost', 'localhost']);
  });
});

describe('how an agent process closed a link', () => {
  const whyOf = async (close: (socket: WebSocket) => void): Promise<string | undefined> => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    await once(server, 'listening');
    server.on('connection', close);
    const url = readAgentUrl(`ws://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    if (!url.ok) throw new Error(url.error);
    const link = new Link(newDialer({ url: url.value, callerIdentity: false }, []));
    await link.until(() => link.why !== undefined);
    server.close();
    return link.why;
  };

  it.each([
    ['code and reason', 4003, 'the quota is used up', 'closed with 4003: the quota is used up'],
    ['a code alone', 1011, '', 'closed with 1011'],
    [
      'what would break a line of a log',
      4000,
      'a\r\n{"msg":\u0007\u202e"b"}',
      'closed with 4000: a {"msg": "b"}',
    ],
    ['the longest reason there is', 4000, 'x'.repeat(123), `closed with 4000: ${'x'.repeat(123)}`],
  ])('%s', async (_, code, reason, why) => {
    expect(await whyOf((socket) => socket.close(code, reason))).toBe(why);
  });

  it('without a code, or without a word', async () => {
    expect(await whyOf((socket) => socket.close())).toBe('closed without a code');
    expect(await whyOf((socket) => socket.terminate())).toBe('the connection broke');
  });
});
