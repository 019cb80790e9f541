/** Agents and tenants that have as many calls as they may have: refused on every line as by a full service, in all workers, and through a restart. */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CallClient } from '../../../cli/commands/call/caller.ts';
import { mintSessionToken } from '../../../shared/auth/mint.ts';
import type { TokenAudience } from '../../../shared/auth/token-payload.ts';
import { carrierEnv, postVoice } from '../../support/fakes/fake-twilio.ts';
import { AgentFolder } from '../../support/process/agent-folder.ts';
import { beforeAskingAgain, Providers, TestService } from '../../support/process/service.ts';
import { restarted, stopAll } from '../../support/process/succession.ts';
import { FakeRtvi } from '../../support/rtvi/fake-rtvi.ts';
import { Phone } from '../../support/sip/phone.ts';
import { WeriftCaller } from '../../support/webrtc/werift-caller.ts';

const secret = 'a secret of at least thirty-two bytes';
const tenant = '[allow]\nprivate_addresses = true\n[limits]\n';
const desk = '[routing]\nnumbers = ["+15550100010", "100"]\nopen = true\n';
let service: TestService;
let folder: AgentFolder;
const close: (() => unknown)[] = [];

beforeEach(() => {
  folder = new AgentFolder();
});
afterEach(async () => {
  await Promise.all(close.splice(0).map((one) => one()));
  await stopAll(service);
  await folder.close();
});

async function start(
  files: Readonly<Record<string, string>>,
  { limits = '', env = {} }: { readonly limits?: string; readonly env?: Record<string, string> } = {},
): Promise<void> {
  const providers = await new Providers().start();
  folder.allow('clinic', `${tenant}${limits}`);
  for (const [id, more] of Object.entries(files)) await folder.put({ id, more }, providers);
  service = await TestService.start({
    workers: 2,
    providers,
    agentText: await folder.textOf({ id: 'own' }, providers),
    env: { SVC_AGENTS_DIR: folder.dir, SVC_SESSION_SECRET: secret, ...env },
  });
}

const token = (agent?: string, aud: TokenAudience = 'svc-ws'): string => {
  const minted = mintSessionToken(
    { aud, ttlS: 60, sid: randomUUID(), ...(agent !== undefined && { agent }) },
    { secret, nowS: Math.floor(Date.now() / 1000) },
  );
  if (!minted.ok) throw new Error(minted.error);
  return minted.value;
};

async function call(agent?: string, metadata: Readonly<Record<string, string>> = {}): Promise<CallClient> {
  const client = await service.call({ token: token(agent), metadata });
  close.push(() => client.hangUp());
  return client;
}

/** How a call was refused; undefined where it was not. */
const refusal = async (...given: Parameters<typeof call>): Promise<string | undefined> =>
  await call(...given).then(
    () => undefined,
    (error: unknown) => String(error),
  );

/** Resolves when the agent has room again. */
async function hangUp(client: CallClient): Promise<void> {
  await client.hangUp();
  await service.says('call ended', (line) => line['call'] === client.callId);
}

describe('an agent with as many calls as it may have', () => {
  it('is full on every line, and has room again when a call is over', async () => {
    await start(
      { 'clinic/desk': `${desk}[limits]\ncalls = 1`, 'clinic/night': '' },
      {
        env: {
          ...carrierEnv,
          SVC_SIP_ADDR: '127.0.0.1:0',
          SVC_SIP_RTP_PORTS: '34000-34998',
          SVC_RTVI_ADDR: '127.0.0.1:0',
          SVC_WEBRTC_ADDR: '127.0.0.1:0',
          SVC_WEBRTC_UDP_ADDR: '127.0.0.1:0',
        },
      },
    );
    const running = await call('clinic/desk');
    expect(await refusal('clinic/desk')).toContain('503');
    // What the client asks for by itself is known when it has begun to speak.
    expect(await refusal(undefined, { agent: 'clinic/desk' })).toContain('server_busy');
    const voice = await postVoice(service.address('carrier_a'), 'CA1', { to: '+15550100010' });
    expect(await voice.text()).toContain('<Reject reason="busy"');
    const port = Number(
      String(service.said('listening', (line) => line['listener'] === 'sip')?.['address'])
        .split(':')
        .at(-1),
    );
    const phone = await Phone.open(port);
    close.push(() => phone.close());
    phone.dials = '100';
    const refused = await phone.invite();
    expect([refused.status, refused.header('Retry-After')]).toEqual([503, '1']);
    const whip = new WeriftCaller();
    close.push(() => whip.close());
    const response = await whip.call(`http://${service.address('webrtc')}/whip`, {
      headers: { Authorization: `Bearer ${token('clinic/desk', 'svc-webrtc')}` },
    });
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await response.json()).toMatchObject({ code: 'agent_full' });
    const rtvi = new FakeRtvi(
      `ws://${service.address('rtvi')}/?token=${token('clinic/desk', 'svc-rtvi')}`,
      {},
    );
    close.push(() => rtvi.close());
    await rtvi.until(() => rtvi.status !== 0);
    expect(rtvi.status).toBe(503);
    expect(await service.metric('svc_agent_refusals_total{agent="clinic/desk",limit="calls"}')).toBe(6);
    expect(await service.metric('svc_agent_calls{agent="clinic/desk"}')).toBe(1);
    expect(await refusal('clinic/night')).toBeUndefined();
    await hangUp(running);
    expect(await refusal(undefined, { agent: 'clinic/desk' })).toBeUndefined();
  });

  it('is as full after its worker died, and after a restart without a gap', async () => {
    await start({ 'clinic/desk': desk, 'clinic/night': '' }, { limits: 'calls = 2\n' });
    const running = await call('clinic/desk');
    await call('clinic/night');
    expect(await refusal('clinic/night')).toContain('503');
    process.kill(await service.workerOf(running), 'SIGKILL');
    await service.says('call taken up', (line) => line['call'] === running.callId);
    expect(await refusal('clinic/desk')).toContain('503');
    await restarted(service);
    expect(await refusal('clinic/desk')).toContain('503');
    expect(await refusal(undefined, { agent: 'clinic/desk' })).toContain('server_busy');
    await hangUp(running);
    // The supervisor that drains tells of its calls once a second.
    while ((await refusal('clinic/desk')) !== undefined) await beforeAskingAgain();
  });

  it('has so many calls in a minute, also after a restart, and more as soon as its file says so', async () => {
    await start({ 'clinic/desk': desk }, { limits: 'calls_per_minute = 1\n' });
    await hangUp(await call(undefined, { agent: 'clinic/desk' }));
    expect(await refusal('clinic/desk')).toContain('503');
    await restarted(service);
    expect(await refusal('clinic/desk')).toContain('503');
    folder.allow('clinic', `${tenant}calls_per_minute = 2\n`, { anew: true });
    await service.says('an agent was changed: new calls get this version');
    expect(await refusal('clinic/desk')).toBeUndefined();
    expect(await refusal('clinic/desk')).toContain('503');
  });
});
