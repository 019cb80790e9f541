/** A client, or a tenant's own server, that wants an agent which is not for it; and calls that are more than an agent may have. */
import pino from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import type { AgentAsked } from '../../../shared/agents/messages.ts';
import { noRouting } from '../../../shared/agents/routing.ts';
import type { AgentVersion } from '../../../shared/agents/version.ts';
import { newWorkerMetrics } from '../../../shared/runtime/metrics.ts';
import { WorkerAgents } from '../../../worker/agents/agents.ts';
import { AgentQuestions } from '../../../worker/agents/agents-limited.ts';
import type { CallAgents, CalledAgent } from '../../../worker/call/services.ts';
import { loadAgent } from '../../../worker/host/agent.ts';
import { RetryBudgets } from '../../../worker/stages/failover/retry-budget.ts';
import { newFailureLog } from '../../../worker/stages/failure-log.ts';
import type { CallStart } from '../../../worker/transports/transport.ts';
import { newMailboxes } from '../../support/audio/mailboxes.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';

const silent = pino({ level: 'silent' });

function versionOf(id: string): AgentVersion {
  const [tenant, name = id] = id.includes('/') ? id.split('/') : [undefined, id];
  const text = `
[agent]
name = "${name}"
prompt = "You are under test."
[stt]
provider = "stt_local_ws"
[stt.stt_local_ws]
base_url = "wss://stt.example.com"
[llm]
provider = "chat_compatible"
[llm.chat_compatible]
base_url = "https://llm.example.com"
model = "fake"
[tts]
provider = "speech_compatible"
[tts.speech_compatible]
base_url = "https://tts.example.com"
preset = "generic"
model = "fake"
`;
  const files = { texts: {}, recordings: {} };
  const routing = { ...noRouting, open: id === 'diner/host' };
  return { id, hash: `of ${id}`, name, ...(tenant && { tenant }), text, files, routing };
}

const ids = ['own', 'clinic/desk', 'clinic/night', 'diner/host', 'diner/bar'] as const;
const limited = ['clinic/night', 'diner/host'];
const asked: AgentAsked[] = [];
let agents: WorkerAgents;
let questions: AgentQuestions;
let ofCall: CallAgents;

beforeEach(async () => {
  asked.length = 0;
  const clock = newVirtualClock();
  const versions = ids.map(versionOf);
  const own = versions[0]!;
  agents = new WorkerAgents({
    site: {
      ...{ clock, machineMs: () => clock.now(), log: silent, metrics: newWorkerMetrics() },
      ...{
        boxes: newMailboxes(),
        worker: 0,
        failures: newFailureLog(clock, silent),
        budgets: new RetryBudgets(),
      },
      observation: {
        ...{ observerOf: () => () => [], accountsOf: () => undefined, traceOf: undefined, noted: undefined },
        ...{ monitors: undefined, liveCalls: () => [], endCall: () => undefined },
        close: () => Promise.resolve(),
      },
      ...{ agentCa: [], callControl: {}, askCarrier: () => undefined },
    },
    own: await loadAgent({ agentText: own.text, files: own.files }),
    many: {
      versions,
      inForce: versions.map(({ id, hash }) => ({ id, hash })),
      kept: [],
      fallback: { id: own.id, hash: own.hash },
      unknown: 'default',
      limited,
    },
  });
  questions = new AgentQuestions((message) => asked.push(message));
  ofCall = questions.of(agents, 7);
});

const start = (metadata: Readonly<Record<string, string>>): CallStart => ({
  callId: 'c',
  sampleRate: 16_000,
  encoding: 'pcm16',
  metadata,
});

const idOf = async (found: ReturnType<CallAgents['of']>): Promise<string | undefined> => {
  const called = await found;
  return typeof called === 'string' ? called : called.chosen?.id;
};

describe('a client', () => {
  it.each([
    ['names an agent that is not open', { agent: 'clinic/desk' }],
    ['says that the supervisor has chosen', { agent_chosen: 'signed clinic/desk' }],
    ['names an agent of another one by a long way', { agent: 'diner/../clinic/desk' }],
    ['names no agent', { agent: '__proto__' }],
    ['names a tenant', { agent: 'clinic/' }],
    ['names half an agent', { agent: '/desk' }],
  ])('gets the default where it %s', async (_, metadata) => {
    expect(await idOf(agents.of(start(metadata)))).toBe('own');
  });

  it('gets what was chosen for the call of a carrier', async () => {
    const metadata = { 'session.carrier_call_id': 'CA1', agent_chosen: 'number clinic/desk' };
    expect(await idOf(agents.of(start(metadata)))).toBe('clinic/desk');
  });
});

describe('the server before calls', () => {
  it.each(['diner/host', 'host', '../diner/host', 'clinic/night', 'own', '', '__proto__'])(
    'cannot give a call to another tenant: %j',
    async (name) => {
      const metadata = { 'session.carrier_call_id': 'CA1', agent_chosen: 'number clinic/desk' };
      const called = (await agents.of(start(metadata))) as CalledAgent;
      expect(agents.other(called, name)).toBeUndefined();
    },
  );
});

describe('a call on an agent with limits', () => {
  it('begins when the supervisor says so, and nobody is asked about others', async () => {
    const found = ofCall.of(start({ agent: 'diner/host' }));
    // The agent is made ready first.
    while (asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(asked).toMatchObject([{ offer: 7, agent: { id: 'diner/host' }, isExpected: false }]);
    questions.answered(asked[0]!.ask, true);
    expect(await idOf(found)).toBe('diner/host');
    const carried = { 'session.carrier_call_id': 'CA1', agent_chosen: 'number clinic/desk' };
    expect(await idOf(ofCall.of(start(carried)))).toBe('clinic/desk');
    expect(asked).toHaveLength(1);
  });

  it('is refused otherwise, also where it is handed on, and holds nothing then', async () => {
    const metadata = { 'session.carrier_call_id': 'CA1', agent_chosen: 'number clinic/desk' };
    const called = (await ofCall.of(start(metadata))) as CalledAgent;
    const other = ofCall.other(called, 'night');
    while (asked.length === 0) await new Promise((resolve) => setImmediate(resolve));
    questions.answered(asked[0]!.ask, false);
    expect(await other).toBe('full');
    expect(asked[0]?.isExpected).toBe(false);
  });
});
