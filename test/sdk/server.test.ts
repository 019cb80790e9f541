/** The socket side of the TypeScript SDK: who is let in, what a hostile service can do, and how it stops. */
import { connect } from 'node:net';
import { once } from 'node:events';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { serve, type AgentServer, type ListenOptions } from '@voice-agent-service/agent';
import { limits } from '../../sdk/typescript/src/wire/constants.ts';
import { quietAgent, turnOfLoop } from './agents.ts';
import { offer, ServiceEnd } from './service-end.ts';

const servers: AgentServer[] = [];

async function listening(
  options: ListenOptions = {},
): Promise<{ server: AgentServer } & ReturnType<typeof quietAgent>> {
  const made = quietAgent();
  const server = await made.agent.listen({ port: 0, handleSignals: false, ...options });
  servers.push(server);
  return { server, ...made };
}

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
  vi.unstubAllEnvs();
});

const refusal = async (
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<number | undefined> => {
  const end = new ServiceEnd(url, { headers });
  await end.until(() => end.refused !== undefined || end.closed !== undefined || end.socket.readyState === 1);
  return end.refused;
};

describe('who is let in', () => {
  it('Authentication 1: only with the token, when there is one', async () => {
    const { server } = await listening({ token: 'secret' });
    expect(await refusal(server.url)).toBe(401);
    expect(await refusal(server.url, { authorization: 'Bearer other' })).toBe(401);
    expect(await refusal(server.url, { authorization: 'Bearer secret2' })).toBe(401);
    expect(await refusal(server.url, { authorization: 'Basic secret' })).toBe(401);
    expect(await refusal(server.url, { authorization: 'Bearer secret' })).toBeUndefined();
  });

  it('takes the token from SVC_AGENT_TOKEN, as the service does', async () => {
    vi.stubEnv('SVC_AGENT_TOKEN', 'of the environment');
    const { server } = await listening();
    expect(await refusal(server.url)).toBe(401);
  });

  it('no page of a browser, which would reach this machine by the name of its visitor', async () => {
    const { server } = await listening();
    expect(await refusal(server.url, { origin: 'https://a.example' })).toBe(403);
  });

  it('no service on a path that has no agent', async () => {
    const { agent } = quietAgent({ greeting: 'Pizza!' });
    const server = await serve({ '/pizza': agent }, { port: 0, handleSignals: false });
    servers.push(server);
    expect(await refusal(`${server.url}/salon`)).toBe(404);
    const end = await ServiceEnd.open(`${server.url}/pizza?x=1`);
    expect(await end.start()).toMatchObject({ greeting: 'Pizza!' });
  });

  it('no calls above the limit', async () => {
    const { server } = await listening({ maxCalls: 1 });
    const first = await ServiceEnd.open(server.url);
    await first.start();
    const second = await ServiceEnd.open(server.url);
    second.send({ type: 'session.start', ...offer, session_id: 's-2' });
    expect(await second.next('session.reject')).toMatchObject({ code: 'busy' });
  });

  it.each(['0.0.0.0', '::', '10.0.0.1'])('nobody without a token on %s, which others reach', async (host) => {
    await expect(quietAgent().agent.listen({ host, port: 0 })).rejects.toThrow(/^token: is required/);
  });

  it.each([
    ['port', { port: 70_000 }],
    ['maxCalls', { maxCalls: 0 }],
    ['graceMs', { graceMs: -1 }],
  ])('and nothing with a wrong %s', async (name, options) => {
    await expect(quietAgent().agent.listen({ port: 0, ...options })).rejects.toThrow(
      new RegExp(`^${name}: must`),
    );
  });

  it('says over HTTP that it is there, and that it wants a WebSocket', async () => {
    const { server } = await listening({ token: 'secret' });
    const http = server.url.replace('ws:', 'http:');
    expect((await fetch(`${http}/healthz`)).status).toBe(200);
    expect((await fetch(http)).status).toBe(426);
  });
});

describe('a hostile service', () => {
  it('message size: a larger message closes the link with 1009, and the server goes on', async () => {
    const { server } = await listening();
    const end = await ServiceEnd.open(server.url);
    end.socket.send('x'.repeat(limits.messageBytes + 1));
    await end.until(() => end.closed !== undefined);
    expect(end.closed).toBe(1009);
    const other = await ServiceEnd.open(server.url);
    expect(await other.start()).toMatchObject({ type: 'session.accept' });
  });

  it('a binary frame in place of the first message closes the link', async () => {
    const { server } = await listening();
    const end = await ServiceEnd.open(server.url);
    end.socket.send(Buffer.alloc(4));
    await end.until(() => end.closed !== undefined);
    expect(end.closed).toBe(1008);
  });

  it('bytes that are no WebSocket frame end that connection alone', async () => {
    const { server } = await listening();
    const raw = connect(server.port, '127.0.0.1');
    await once(raw, 'connect');
    const key = 'dGhlIHNhbXBsZSBub25jZQ==';
    const head = [
      'GET / HTTP/1.1',
      'Host: a',
      'Upgrade: websocket',
      'Connection: Upgrade',
      'Sec-WebSocket-Version: 13',
    ];
    raw.write(`${[...head, `Sec-WebSocket-Key: ${key}`].join('\r\n')}\r\n\r\n`);
    raw.write(Buffer.alloc(64, 0xff));
    raw.resume();
    await once(raw, 'close');
    const end = await ServiceEnd.open(server.url);
    expect(await end.start()).toMatchObject({ type: 'session.accept' });
  });

  it('a second session.start on a link is left out', async () => {
    const { server, log } = await listening();
    const end = await ServiceEnd.open(server.url);
    await end.start();
    end.send({ type: 'session.start', ...offer });
    await log.until(() => log.has('a message was left out'));
    expect(end.received).toHaveLength(1);
    expect(server.calls).toBe(1);
  });

  it('the same session started on another link takes the place of the first', async () => {
    const { server } = await listening();
    const first = await ServiceEnd.open(server.url);
    await first.start();
    const second = await ServiceEnd.open(server.url);
    await second.start();
    await first.until(() => first.closed !== undefined);
    expect(server.calls).toBe(1);
  });
});

describe('the end of a server', () => {
  it('lets running calls end and takes no new one', async () => {
    const { server } = await listening();
    const end = await ServiceEnd.open(server.url);
    await end.start();
    const waiting = await ServiceEnd.open(server.url);
    const closed = server.close({ graceMs: 60_000 });
    waiting.send({ type: 'session.start', ...offer, session_id: 's-2' });
    expect(await waiting.next('session.reject')).toMatchObject({ code: 'shutting_down' });
    end.send({ type: 'session.end', reason: 'hangup' });
    await closed;
    expect(server.calls).toBe(0);
  });

  it('ends calls that take longer than they are given, and tells their handlers', async () => {
    const { server, agent } = await listening();
    const reasons: string[] = [];
    agent.on('session.end', ({ reason }) => reasons.push(reason));
    const end = await ServiceEnd.open(server.url);
    await end.start();
    await server.close({ graceMs: 0 });
    await end.until(() => end.closed !== undefined);
    await turnOfLoop();
    expect(reasons).toEqual(['link_lost']);
  });
});
