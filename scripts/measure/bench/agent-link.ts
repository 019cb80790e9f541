/**
 * What an agent link adds between an event of a call and the socket: links as a worker has them, on real sockets to an agent process that
 * reads everything. Events come as in lively calls, every 20 ms for each link. Measured from the event to the moment at which the kernel
 * has the message.
 */
import { WebSocketServer } from 'ws';
import type { AddressInfo } from 'node:net';
import { readAgentUrl } from '../../../shared/config/agent-url.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { newLog } from '../../../shared/runtime/log.ts';
import { newWorkerMetrics } from '../../../shared/runtime/metrics.ts';
import { newDialer, type AgentSocket, type Dial } from '../../../worker/agent-link/agent-socket.ts';
import { AgentCallLink } from '../../../worker/agent-link/call-link.ts';
import { newLink } from '../../../worker/agent-link/link-state.ts';
import type { FloorRow } from './report/statistics.ts';
import { Distribution, type Summary } from './report/statistics.ts';

const eventEveryMs = 20;
const mostMs = 1;

export interface AgentLinkResult {
  readonly links: number;
  readonly events: number;
  readonly received: number;
  /** Events that the kernel had not taken when the link was done with them. */
  readonly buffered: number;
  readonly latency: Summary;
}

const pause = (delayMs: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, delayMs);
  });

/** An agent process that takes every call and reads. With `reacts` it answers each measured turn with a command that changes nothing. */
export async function startAgent({ reacts }: { readonly reacts: boolean }) {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  const found = { received: 0 };
  server.on('connection', (socket) => {
    socket.once('message', () => socket.send('{"type":"session.accept","version":1}'));
    socket.on('message', (data: Buffer) => {
      found.received += 1;
      if (!reacts) return;
      const { type, seq } = JSON.parse(data.toString('utf8')) as {
        readonly type: string;
        readonly seq: number;
      };
      if (type === 'turn.metrics') socket.send(JSON.stringify({ type: 'tools.set', enabled: null, re: seq }));
    });
  });
  await new Promise((resolve) => server.once('listening', resolve));
  return { server, found, port: (server.address() as AddressInfo).port };
}

export async function agentLinks(options: { calls: number; seconds: number }): Promise<AgentLinkResult> {
  const agent = await startAgent({ reacts: false });
  const url = readAgentUrl(`ws://127.0.0.1:${agent.port}`);
  if (!url.ok) throw new Error(url.error);
  const dialer = newDialer({ url: url.value, callerIdentity: false }, []);
  const sockets: AgentSocket[] = [];
  const dial: Dial = (clock, events) => {
    const socket = dialer(clock, events);
    sockets.push(socket);
    return socket;
  };
  const log = newLog({ role: 'bench', level: 'fatal' });
  const metrics = newWorkerMetrics();
  const links = Array.from({ length: options.calls }, (_, at) => {
    const settings = {
      sessionId: `bench-${at}`,
      agent: 'bench',
      capabilities: { transfer: false, tools: true },
      farewell: '',
    };
    const site = {
      bind: <A extends readonly unknown[]>(callback: (...args: A) => void) => callback,
      command: () => undefined,
      farewell: '',
    };
    const state = newLink(settings, systemClock.now());
    return new AgentCallLink({ clock: systemClock, log, metrics, dial, site, state });
  });
  await Promise.all(links.map((link) => link.prepare()));
  for (const link of links) link.equipped({ refused: [], isTool: () => true });
  const before = agent.found.received;
  const latency = new Distribution();
  let [events, buffered] = [0, 0];
  const endAt = systemClock.now() + options.seconds * 1_000;
  for (let next = systemClock.now(); next < endAt; next += eventEveryMs) {
    await pause(Math.max(0, next - systemClock.now()));
    links.forEach((link, at) => {
      const startedAt = performance.now();
      link.follow({ type: 'bot.text', epoch: 1, text: 'a few words of an answer ' });
      latency.add(performance.now() - startedAt);
      events += 1;
      if ((sockets[at]?.bufferedBytes ?? 0) > 0) buffered += 1;
    });
  }
  for (const link of links) link.ended('call_ended');
  await pause(500);
  agent.server.close();
  const received = agent.found.received - before - options.calls;
  return { links: options.calls, events, received, buffered, latency: latency.summary() };
}

const ms = (value: number): string => `${value.toFixed(3)} ms`;

export function judgeAgentLinks({ latency, events, received, buffered }: AgentLinkResult): FloorRow[] {
  return [
    {
      rule: `event to socket, p99, at most ${mostMs} ms`,
      found: ms(latency.p99Ms),
      passed: latency.p99Ms <= mostMs,
    },
    { rule: 'every event arrives', found: `${received} of ${events}`, passed: received === events },
    { rule: 'the kernel has each at once', found: `${buffered} later`, passed: buffered === 0 },
  ];
}

export function describeAgentLinks(result: AgentLinkResult): string {
  const { links, events, latency } = result;
  const rows = judgeAgentLinks(result).map(
    ({ rule, found, passed }) => `${passed ? 'ok    ' : 'FAILED'} ${rule}: ${found}`,
  );
  return [
    `${links} links, ${events} events: event to socket p50 ${ms(latency.p50Ms)}, p99 ${ms(latency.p99Ms)}, most ${ms(latency.maxMs)}`,
    ...rows,
  ].join('\n');
}
