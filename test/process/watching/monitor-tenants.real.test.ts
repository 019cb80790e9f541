/** Operators of one tenant: they see, hear and take over the calls of that tenant alone; those of others do not exist for them. */
import { afterEach, expect, it } from 'vitest';
import { tenantToken, type TenantAccess } from '../../../shared/auth/tenant-token.ts';
import type { LiveState } from '../../../shared/protocol/live.ts';
import type { CallClient } from '../../../cli/commands/call/caller.ts';
import { AgentFolder } from '../../support/process/agent-folder.ts';
import { TestOperator } from '../../support/process/operator.ts';
import { beforeAskingAgain, Providers, TestService } from '../../support/process/service.ts';

const secrets = {
  live: 'a-live-token-of-thirty-two-bytes-or-more',
  listen: 'a-listen-token-of-thirty-two-bytes-or-more',
  take_over: 'a-take-over-token-of-thirty-two-bytes-or-more',
};
let service: TestService;
let folder: AgentFolder;

afterEach(async () => {
  await service.stop();
  await folder.close();
});

const tokenOf = (tenant: string, to: keyof typeof secrets & TenantAccess): string =>
  tenantToken({ to, tenant, expiresS: Math.floor(Date.now() / 1000) + 600 }, secrets[to]);

const operator = (call: string, token: string): TestOperator =>
  new TestOperator(`ws://${service.address('health')}/live/calls/${call}/monitor`, token, { by: 'Maria' });

async function stateOf(token: string): Promise<LiveState> {
  const answer = await service.get('/live/state', { authorization: `Bearer ${token}` });
  return (await answer.json()) as LiveState;
}

/** Asks again until the worker that has taken the call up tells of it. */
async function comesBack(call: string, token: string): Promise<TestOperator> {
  for (;;) {
    const one = operator(call, token);
    await one.until(() => one.closed !== undefined || one.told.length > 0);
    if (one.closed === undefined) return one;
    await beforeAskingAgain();
  }
}

/** A call of each tenant, and one of an agent of the operator's own. */
async function start(): Promise<CallClient> {
  folder = new AgentFolder();
  const providers = await new Providers().start();
  for (const id of ['clinic/desk', 'garage/desk'])
    await folder.put({ id, more: '[routing]\nopen = true' }, providers);
  service = await TestService.start({
    providers,
    workers: 2,
    agentText: await folder.textOf({ id: 'own' }, providers),
    env: {
      ...{ SVC_AGENTS_DIR: folder.dir, SVC_LIVE_TOKEN: secrets.live },
      ...{ SVC_MONITOR_LISTEN_TOKEN: secrets.listen, SVC_MONITOR_TAKE_OVER_TOKEN: secrets.take_over },
    },
  });
  const clinic = await service.call({ callId: 'of-clinic', metadata: { agent: 'clinic/desk' } });
  const garage = await service.call({ callId: 'of-garage', metadata: { agent: 'garage/desk' } });
  const own = await service.call({ callId: 'of-own' });
  for (const call of [clinic, garage, own]) await call.next(({ type }) => type === 'audio');
  return clinic;
}

it('sees and hears its own calls, finds no other, and stands in the audit log with its tenant', async () => {
  await start();
  const all = await stateOf(secrets.live);
  expect(all.calls.map(({ call, tenant }) => [call, tenant]).toSorted()).toEqual([
    ['of-clinic', 'clinic'],
    ['of-garage', 'garage'],
    ['of-own', undefined],
  ]);
  const seen = await stateOf(tokenOf('clinic', 'live'));
  expect(seen).toMatchObject({ agent: 'clinic', sessions: 1, workers: [], providers: [] });
  expect(seen.calls.map(({ call }) => call)).toEqual(['of-clinic']);
  expect(seen).not.toHaveProperty('maxSessions');

  const one = operator('of-clinic', tokenOf('clinic', 'take_over'));
  expect(await one.ready()).toMatchObject({ call: 'of-clinic', role: 'take_over' });
  for (const [call, token] of [
    ['of-garage', tokenOf('clinic', 'take_over')],
    ['of-own', tokenOf('clinic', 'listen')],
    ['of-clinic', tokenOf('garage', 'listen')],
    ['nobody', tokenOf('clinic', 'listen')],
  ] as const) {
    const other = operator(call, token);
    await other.until(() => other.closed !== undefined);
    expect([call, other.closed]).toEqual([call, 404]);
  }
  const stranger = operator('of-clinic', tokenOf('clinic', 'live'));
  await stranger.until(() => stranger.closed !== undefined);
  expect(stranger.closed).toBe(401);
  const everywhere = operator('of-garage', secrets.listen);
  expect(await everywhere.ready()).toMatchObject({ call: 'of-garage', role: 'listen' });

  const audit = service.log.filter((line) => line['audit'] === true);
  const asked = audit.filter(({ msg }) => msg === 'an operator has asked for a call');
  expect(asked.map(({ call, may, tenant, code }) => [call, may, tenant, code])).toEqual([
    ['of-clinic', 'take_over', 'clinic', undefined],
    ['of-garage', 'take_over', 'clinic', 'no_such_call'],
    ['of-own', 'listen', 'clinic', 'no_such_call'],
    ['of-clinic', 'listen', 'garage', 'no_such_call'],
    ['nobody', 'listen', 'clinic', 'no_such_call'],
    ['of-garage', 'listen', undefined, undefined],
  ]);
  const used = await service.says('an operator and a call', ({ call }) => call === 'of-clinic');
  expect(used).toMatchObject({ what: 'listens', may: 'take_over', tenant: 'clinic', by: 'Maria' });
});

it('keeps its own call in the next worker, and ends no other', async () => {
  const clinic = await start();
  const one = operator('of-clinic', tokenOf('clinic', 'take_over'));
  await one.ready();
  one.send({ type: 'take_over', at: 'once' });
  await one.takeover('operator');
  process.kill(await service.workerOf(clinic), 'SIGKILL');
  await service.says('call taken up', ({ call }) => call === 'of-clinic');
  const again = await comesBack('of-clinic', tokenOf('clinic', 'take_over'));
  expect(await again.ready()).toMatchObject({ call: 'of-clinic', role: 'take_over' });
  const other = operator('of-clinic', tokenOf('garage', 'take_over'));
  await other.until(() => other.closed !== undefined);
  expect(other.closed).toBe(404);

  const end = async (call: string): Promise<number> => {
    const headers = { authorization: `Bearer ${tokenOf('clinic', 'live')}` };
    const url = `http://${service.address('health')}/live/calls/${call}/end`;
    return (await fetch(url, { method: 'POST', headers })).status;
  };
  expect(await end('of-garage')).toBe(404);
  expect(await end('of-clinic')).toBe(202);
  await clinic.closed;
  expect((await stateOf(secrets.live)).calls.map(({ call }) => call).toSorted()).toEqual([
    'of-garage',
    'of-own',
  ]);
});
