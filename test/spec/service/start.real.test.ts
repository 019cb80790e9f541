/** Settings at the start (docs/reference/server-settings.md): what is wrong is told by name, all of it at once, and nothing runs. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { canObeyModes, withoutLowPorts } from '../../support/process/less-power.ts';
import { TestService, type TestServiceOptions } from '../../support/process/service.ts';

let service: TestService | undefined;

afterEach(async () => {
  await service?.stop();
  service = undefined;
});

/** Starts a service that cannot start; everything that it printed. */
async function refusedStart(options: TestServiceOptions): Promise<string> {
  service = await TestService.launch(options);
  expect(await service.ended).toEqual({ code: 1, signal: null });
  expect(service.said('listening', (line) => line['listener'] === 'health')).toBeUndefined();
  return [...service.text, ...service.log.map((line) => JSON.stringify(line))].join('\n');
}

describe('the start is refused with status 1', () => {
  it.each([
    ['SVC_MAX_SESSIONS', '0'],
    ['SVC_MAX_SESSIONS', ''],
    ['SVC_WS_ADDR', 'nowhere'],
    ['SVC_WS_START_TIMEOUT', '0ms'],
    ['SVC_WS_MAX_AUDIO_BYTES', '1'],
    ['SVC_METRICS', 'perhaps'],
    ['SVC_WS_ACCEPT_QUEUE', '0'],
  ])('for %s=%s, named without its value', async (name, value) => {
    const said = await refusedStart({ env: { [name]: value } });
    expect(said).toContain(name);
    if (value.length > 3) expect(said).not.toContain(value);
  });

  it('for every bad variable at once', async () => {
    const said = await refusedStart({
      env: { SVC_MAX_SESSIONS: 'many', SVC_DRAIN_TIMEOUT: 'soon', SVC_WS_PING_INTERVAL: '1ms' },
    });
    expect(said).toMatch(/SVC_MAX_SESSIONS[^]*SVC_WS_PING_INTERVAL[^]*SVC_DRAIN_TIMEOUT/);
  });

  it('for a WebSocket listener off loopback without authentication', async () => {
    expect(await refusedStart({ env: { SVC_WS_ADDR: '0.0.0.0:0' } })).toContain('SVC_WS_ADDR');
  });

  it('for an agent file that is not there', async () => {
    expect(await refusedStart({ env: { SVC_AGENT_FILE: 'no-such-file.toml' } })).toContain('SVC_AGENT_FILE');
  });

  it('for an agent file with problems, with all of them and their lines', async () => {
    const agentText = `
[agent]
name = "not a name"
prompt = "x"
max_call_s = -1
[stt]
provider = "nobody"
[llm]
provider = "chat_compatible"
[llm.chat_compatible]
base_url = "http://127.0.0.1:1/v1"
model = "m"
[tts]
provider = "speech_compatible"
`;
    const said = await refusedStart({ agentText });
    expect(said).toMatch(/:3:\d+: error: agent\.name /);
    expect(said).toMatch(/:5:\d+: error: agent\.max_call_s /);
    expect(said).toMatch(/:7:\d+: error: stt\.provider /);
    expect(said).not.toContain('not a name');
  });

  it('for an agent file that is no TOML', async () => {
    expect(await refusedStart({ agentText: '[agent\n' })).toMatch(/agent\.toml:\d+:\d+: error: /);
  });

  it('for a key that is not in the environment', async () => {
    const said = await refusedStart({ llm: 'api_key_env = "TEST_KEY_THAT_IS_NOT_SET"' });
    expect(said).toMatch(/llm\.api_key_env .*TEST_KEY_THAT_IS_NOT_SET/);
  });

  it('for a key of a secondary that is not in the environment', async () => {
    const turn = `[llm.secondary]
provider = "chat_compatible"
api_key_env = "TEST_KEY_OF_A_SECONDARY"
[llm.secondary.chat_compatible]
base_url = "http://127.0.0.1:1/v1"
model = "m"`;
    expect(await refusedStart({ turn })).toMatch(/llm\.secondary\.api_key_env .*TEST_KEY_OF_A_SECONDARY/);
  });

  it('for an address that is in use', async () => {
    const holder = createServer();
    await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve));
    const { port } = holder.address() as AddressInfo;
    const said = await refusedStart({ env: { SVC_WS_ADDR: `127.0.0.1:${port}` } });
    expect(said).toContain(`SVC_WS_ADDR: cannot listen on 127.0.0.1:${port}: another program listens there`);
    expect(said).toContain('EADDRINUSE');
    expect(said).not.toContain('stack');
    holder.close();
  });

  it('for two listeners with one port, by the names of both', async () => {
    const holder = createServer();
    await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve));
    const address = `127.0.0.1:${(holder.address() as AddressInfo).port}`;
    await new Promise((resolve) => holder.close(resolve));
    const said = await refusedStart({ env: { SVC_WS_ADDR: address, SVC_HEALTH_ADDR: address } });
    expect(said).toContain(
      `SVC_HEALTH_ADDR: cannot listen on ${address}: SVC_WS_ADDR has this port; choose another one`,
    );
  });

  it.skipIf(!canObeyModes)('for a port that this user may not take (skipped without setpriv)', async () => {
    const said = await refusedStart({ env: { SVC_WS_ADDR: '127.0.0.1:81' }, through: withoutLowPorts });
    expect(said).toContain(
      'SVC_WS_ADDR: cannot listen on 127.0.0.1:81: this user may not; choose a port from 1024 on (EACCES)',
    );
    expect(said).not.toContain('stack');
  });

  it('for an address that this machine has not', async () => {
    const said = await refusedStart({ env: { SVC_HEALTH_ADDR: '192.0.2.1:8081' } });
    expect(said).toContain(
      'SVC_HEALTH_ADDR: cannot listen on 192.0.2.1:8081: this machine has no such address (EADDRNOTAVAIL)',
    );
    expect(said).not.toContain('stack');
  });
});

describe('the service starts', () => {
  it('with a warning for a name that it does not know', async () => {
    service = await TestService.start({ env: { SVC_MAX_SESIONS: '3' } });
    expect(
      service.log.some((line) => line['level'] === 40 && /SVC_MAX_SESIONS.*SVC_MAX_SESSIONS/.test(line.msg)),
    ).toBe(true);
  });

  it('with a key that never shows in what it prints', async () => {
    service = await TestService.start({
      llm: 'api_key_env = "TEST_KEY"',
      env: { TEST_KEY: 'a-secret-of-the-test', SVC_LOG_LEVEL: 'trace' },
    });
    const call = await service.call();
    call.sendDtmf('#');
    const { llm } = service.providers;
    await llm.until(() => llm.requests.length > 0);
    expect(llm.requests[0]?.headers.authorization).toBe('Bearer a-secret-of-the-test');
    await call.hangUp();
    await service.stop();
    expect(JSON.stringify([service.log, service.text])).not.toContain('a-secret-of-the-test');
  });
});
