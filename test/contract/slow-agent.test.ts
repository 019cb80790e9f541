/** An agent that stops reading, on a real socket: what waits for it is bounded, and it costs no more than its own link. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readAgentUrl } from '../../shared/config/agent-url.ts';
import { agentLinkBacklog, agentLinkLimits } from '../../shared/agent-link/limits.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { newLog } from '../../shared/runtime/log.ts';
import { newWorkerMetrics } from '../../shared/runtime/metrics.ts';
import { newDialer, type AgentSocket } from '../../worker/agent-link/agent-socket.ts';
import { AgentCallLink } from '../../worker/agent-link/call-link.ts';
import { newLink } from '../../worker/agent-link/link-state.ts';
import { linkSettings } from '../support/link-driver.ts';
import { accepting, RawAgent } from '../support/raw-agent.ts';

let agent: RawAgent;

beforeEach(async () => {
  agent = await RawAgent.start(accepting());
});
afterEach(() => agent.close());

/** A link of a call to that agent, and its socket. */
async function linked() {
  const url = readAgentUrl(agent.url);
  if (!url.ok) throw new Error(url.error);
  const dialer = newDialer({ url: url.value, callerIdentity: false }, []);
  const sockets: AgentSocket[] = [];
  const metrics = newWorkerMetrics();
  const link = new AgentCallLink({
    clock: systemClock,
    log: newLog({ role: 'test', level: 'fatal' }),
    metrics,
    dial: (...args) => {
      const socket = dialer(...args);
      sockets.push(socket);
      return socket;
    },
    site: { bind: (callback) => callback, command: () => undefined, farewell: '' },
    state: newLink(linkSettings, systemClock.now()),
  });
  const at = agent.sessions.length;
  await link.prepare();
  link.equipped({ refused: [], isTool: () => true });
  const session = await agent.session(at);
  const waiting = (): number => sockets[0]?.bufferedBytes ?? 0;
  const gone = async (): Promise<number> => {
    const { values } = await metrics.agentLinks.get();
    return values.find(({ labels }) => labels.what === 'gone')?.value ?? 0;
  };
  return { link, session, waiting, gone };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const text = 'x'.repeat(4_000);

describe('An agent that stops reading', () => {
  it('has at most one message above the bound waiting for it, however much happens', async () => {
    const { link, session, waiting, gone } = await linked();
    session.socket.pause();
    let most = 0;
    for (let at = 0; at < 5_000; at += 1) {
      link.follow({ type: 'user.text', epoch: at, text });
      link.follow({ type: 'bot.text', epoch: at, text });
      most = Math.max(most, waiting());
      if (at % 50 === 0) await turn();
    }
    // It was too much for the buffers of the kernel, and no more than the bound waits here.
    expect(most).toBeGreaterThan(agentLinkBacklog.dropDeltasBytes);
    expect(most).toBeLessThan(agentLinkBacklog.dropEventsBytes + agentLinkLimits.messageBytes);
    expect(await gone()).toBe(0);
    session.socket.resume();
    while (waiting() > 0) await turn();
    link.ended('call_ended');
    await session.closed();
    const arrived = session.events.filter(({ type }) => type === 'user.text' || type === 'bot.text').length;
    const told = session.events.reduce((sum, event) => sum + Number(event['count'] ?? 0), 0);
    expect(told).toBeGreaterThan(1_000);
    expect(arrived + told).toBe(10_000);
  });

  it('is left where what it must be told would grow beyond the last bound', async () => {
    const { link, session, waiting, gone } = await linked();
    session.socket.pause();
    let most = 0;
    for (let at = 0; at < 5_000 && (await gone()) === 0; at += 1) {
      const fault = { type: 'fault.noticed', stage: 'stt', what: 'failed' } as const;
      for (let burst = 0; burst < 200; burst += 1) link.follow(fault);
      most = Math.max(most, waiting());
      await turn();
    }
    expect(await gone()).toBe(1);
    expect(most).toBeLessThan(agentLinkBacklog.closeBytes + agentLinkLimits.messageBytes);
    session.socket.resume();
    // By the close frame where the agent reads on in time, else without one.
    expect([1013, 1006]).toContain(await session.closed());
    link.ended('call_ended');
  });
});
