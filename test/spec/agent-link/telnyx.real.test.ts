/**
 * The agent link (docs/reference/agent-link.md) on calls of Telnyx: who calls, `transfer` by the agent process, and the idempotency key that the
 * carrier gets.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestService } from '../../support/process/service.ts';
import { accepting, RawAgent, type AgentSession } from '../../support/raw-agent.ts';
import { FakeTelnyx } from '../../support/telephony/fake-telnyx.ts';

let agent: RawAgent;
let carrier: FakeTelnyx;
let service: TestService;

beforeAll(async () => {
  agent = await RawAgent.start(accepting());
  carrier = await new FakeTelnyx().start();
  service = await TestService.start({
    greeting: 'Hello.',
    turn: `[agent_link]\nurl = "${agent.url}"\ncaller_identity = true\n`,
    env: { ...carrier.env, SVC_REDACT_PHONE_NUMBERS: 'off' },
  });
  carrier.listener = service.address('carrier_b');
});
afterAll(async () => {
  await service.stop();
  await Promise.all([agent.close(), carrier.close()]);
});

/** A call that came in, and its link. */
async function ring(callId: string): Promise<AgentSession> {
  const at = agent.sessions.length;
  const incoming = { call_control_id: callId, direction: 'incoming', state: 'parked', from: '+15550100001' };
  expect(await carrier.tell('call.initiated', incoming)).toBe(200);
  const session = await agent.session(at);
  await session.says('turn.bot_ended');
  return session;
}

const transfer = { type: 'transfer', id: 't', destination: '+15550100077' };
const results = (session: AgentSession) => session.events.filter(({ type }) => type === 'command.result');
const transfersOf = (callId: string) =>
  carrier.of('transfer').filter(({ path }) => decodeURIComponent(path).includes(callId));

describe('carrier B', () => {
  it("session.start: from, to and the carrier's id, and the call can be transferred", async () => {
    const session = await ring('v3:first');
    expect(session.said('session.start')).toMatchObject({
      capabilities: { transfer: true, tools: true },
      call: { from: '+15550100001', to: '+15550100002', carrier_call_id: 'v3:first' },
    });
    carrier.streams.at(-1)?.stop();
    await session.closed();
  });

  it('outcome_unknown: the transfer is repeated by the same command id, and the carrier gets the same key', async () => {
    const session = await ring('v3:second');
    carrier.refusals.set('transfer', [{ status: 503, code: '10011' }]);
    session.send(transfer);
    await agent.until(() => results(session).length === 1);
    expect(results(session)[0]).toMatchObject({ id: 't', ok: false, error: { code: 'outcome_unknown' } });
    session.send({ ...transfer, id: 'another' });
    await agent.until(() => results(session).length === 2);
    expect(results(session)[1]).toMatchObject({ id: 'another', ok: false, error: { code: 'already_done' } });
    session.send(transfer);
    await agent.until(() => results(session).length === 3);
    expect(results(session)[2]).toMatchObject({ id: 't', ok: true });
    const keys = transfersOf('v3:second').map(({ fields }) => fields['command_id']);
    expect([keys.length, new Set(keys).size]).toEqual([2, 1]);
    expect(await session.says('session.end')).toMatchObject({ reason: 'transferred' });
  });

  it('transfer: the key derives from the call and the command id', async () => {
    const session = await ring('v3:third');
    session.send(transfer);
    await session.says('session.end');
    const [second] = transfersOf('v3:second');
    const [third] = transfersOf('v3:third');
    expect(third?.fields['command_id']).not.toBe(second?.fields['command_id']);
  });
});
