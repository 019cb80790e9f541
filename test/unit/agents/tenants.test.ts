/** What the files of a tenant may do, tried by one who wants more: secrets, addresses, programs, packages, and the file that says so. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listAgents, readAgentAt, type AgentReading } from '../../../shared/installation/agents-folder.ts';

let dir: string;
let secretsDir: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-tenants-'));
  secretsDir = mkdtempSync(join(tmpdir(), 'svc-secrets-'));
});
afterEach(() => {
  for (const one of [dir, secretsDir]) rmSync(one, { recursive: true, force: true });
});

const text = (more = '', { base = 'https://llm.example.com', key = '' } = {}): string => `
[agent]
name = "desk"
prompt = "You are under test."
[stt]
provider = "stt_local_ws"
[stt.stt_local_ws]
base_url = "wss://stt.example.com"
[llm]
provider = "chat_compatible"
${key === '' ? '' : `api_key_env = "${key}"`}
[llm.chat_compatible]
base_url = "${base}"
model = "fake"
[tts]
provider = "speech_compatible"
[tts.speech_compatible]
base_url = "https://tts.example.com"
preset = "generic"
model = "fake"
${more}
`;

const put = (root: string, name: string, content: string): void => {
  mkdirSync(join(root, name, '..'), { recursive: true });
  writeFileSync(join(root, name), content);
};

const env = { LLM_KEY: 'of-the-service', SVC_SESSION_SECRET: 'signs every token of the service' };

async function readTenant(tenant = 'clinic'): Promise<AgentReading & { readonly errors: readonly string[] }> {
  const place = listAgents(dir).places.find((one) => one.tenant === (tenant === '' ? undefined : tenant));
  const reading = await readAgentAt(place!, env, { requireSecrets: true, secretsDir });
  const errors = reading.problems
    .filter(({ severity }) => severity === 'error')
    .map(({ message }) => message);
  return { ...reading, errors };
}

const keyOf = ({ definition }: AgentReading): string | undefined => definition?.llm?.apiKey?.reveal();

describe('secrets of a tenant', () => {
  it('are the files of its own folder, and travel with the version, whose name follows from them', async () => {
    put(dir, 'clinic/desk.toml', text('', { key: 'LLM_KEY' }));
    put(secretsDir, 'clinic/LLM_KEY', 'of-the-clinic\n');
    const before = await readTenant();
    expect([before.errors, keyOf(before)]).toEqual([[], 'of-the-clinic']);
    expect(before.version?.files.secrets).toEqual({ LLM_KEY: 'of-the-clinic' });
    expect(before.named).toContain(join(secretsDir, 'clinic/LLM_KEY'));
    put(secretsDir, 'clinic/LLM_KEY', 'another-one');
    const after = await readTenant();
    expect(after.version?.hash).not.toBe(before.version?.hash);
  });

  it.each(['LLM_KEY', 'SVC_SESSION_SECRET', 'PATH', '__PROTO__'])(
    'are never a variable of the service: %s',
    async (key) => {
      put(dir, 'clinic/desk.toml', text('', { key }));
      put(secretsDir, key, 'of the operator');
      put(secretsDir, `diner/${key}`, 'of the diner');
      const reading = await readTenant();
      expect(reading.errors).toEqual([expect.stringContaining('is not set')]);
      expect(JSON.stringify(reading)).not.toMatch(/of.the.(?:operator|diner|service)|signs every/);
    },
  );

  it.each(['../diner/LLM_KEY', 'diner/LLM_KEY', '..%2Fdiner%2FLLM_KEY', '/etc/hostname'])(
    'have no way out of its folder in their names: %s',
    async (key) => {
      put(dir, 'clinic/desk.toml', text('', { key }));
      put(secretsDir, 'diner/LLM_KEY', 'of the diner');
      const reading = await readTenant();
      expect(reading.definition).toBeUndefined();
      expect(reading.named.filter((path) => path.startsWith(secretsDir))).toEqual([]);
    },
  );

  it('are a variable of the service where the operator says so', async () => {
    put(dir, 'clinic/desk.toml', text('', { key: 'LLM_KEY' }));
    put(dir, 'clinic.tenant.toml', '[allow]\nenv = ["LLM_KEY"]\n');
    expect(keyOf(await readTenant())).toBe('of-the-service');
  });

  it('of the operator come from a file before the environment', async () => {
    put(dir, 'desk.toml', text('', { key: 'LLM_KEY' }));
    expect(keyOf(await readTenant(''))).toBe('of-the-service');
    put(secretsDir, 'LLM_KEY', 'of-a-file');
    expect(keyOf(await readTenant(''))).toBe('of-a-file');
  });
});

describe('a file of a tenant', () => {
  const tool = (url: string, more = ''): string => `
[[tools]]
name = "ask"
description = "Asks."
[tools.http]
url = "${url}"
${more}`;

  it.each([
    ['a provider on this machine', text('', { base: 'http://127.0.0.1:8081' })],
    ['a provider by a name of this machine', text('', { base: 'http://localhost.:8081' })],
    ['a provider by a name below localhost', text('', { base: 'http://a.localhost' })],
    ['a provider by a number', text('', { base: 'http://2130706433' })],
    ['a provider by an address in an address', text('', { base: 'http://[::ffff:127.0.0.1]' })],
    ['the addresses of the cloud', text('', { base: 'http://169.254.169.254/latest' })],
    ['a tool in the network of the operator', text(tool('http://10.0.0.1/{id}', 'allow_private = true'))],
    ['a tool that may go anywhere', text(tool('https://a.example.com/', 'allow_private = true'))],
    ['a tool server', text('[[mcp]]\nname = "m"\nurl = "http://127.0.0.1:9/mcp"')],
    ['a look-up', text('[before_call]\nurl = "http://127.0.0.1:8084/calls"\nallow_private = true')],
    ['an agent process', text('[agent_link]\nurl = "ws://127.0.0.1:9"')],
  ])('leads to no private address: %s', async (_, content) => {
    put(dir, 'clinic/desk.toml', content);
    const { errors, version } = await readTenant();
    expect(version).toBeUndefined();
    expect(errors).toContainEqual(expect.stringContaining('allow.private_addresses of its tenant file'));
    put(dir, 'clinic.tenant.toml', '[allow]\nprivate_addresses = true\n');
    expect((await readTenant()).errors.filter((error) => error.includes('tenant file'))).toEqual([]);
  });

  it('hands calls to no number that the operator does not allow', async () => {
    put(dir, 'clinic.tenant.toml', '[allow]\nnumbers = ["+1555", "+4930"]\n');
    const destinations = (number: string): string =>
      text(`[telephony]\ndestinations = { desk = "+15550100001", other = "${number}" }`);
    put(dir, 'clinic/desk.toml', destinations('+882160000000'));
    expect((await readTenant()).errors).toEqual([
      'telephony.destinations.other begins like no number in allow.numbers of its tenant file',
    ]);
    put(dir, 'clinic/desk.toml', destinations('+493012345678'));
    const { errors, version } = await readTenant();
    expect(errors).toEqual([]);
    expect(version?.files.reach).toEqual({ isPublicOnly: true, numbers: ['+1555', '+4930'] });
  });

  it.each([
    ['a number of another tenant', 'numbers = ["+15550100021"]', 'routing.numbers[0]'],
    ['every number', 'numbers = ["*"]', 'routing.numbers[0]'],
    ['a shorter beginning', 'numbers = ["+1555010001", "+15550*"]', 'routing.numbers[1]'],
    ['a host', 'hosts = ["Clinic.example.com", "diner.example.com"]', 'routing.hosts[1]'],
    ['a host below it', 'hosts = ["a.clinic.example.com"]', 'routing.hosts[0]'],
    ['a network', 'trunks = ["0.0.0.0/0"]', 'routing.trunks[0]'],
  ])('claims nothing that the operator does not give it: %s', async (_, claim, place) => {
    put(dir, 'clinic/desk.toml', text(`[routing]\n${claim}`));
    expect((await readTenant()).errors).toEqual([]);
    put(
      dir,
      'clinic.tenant.toml',
      '[allow]\nrouting = ["+1555010001", "clinic.example.com", "10.0.0.0/8"]\n',
    );
    expect((await readTenant()).errors).toEqual([`${place} is nothing of allow.routing of its tenant file`]);
  });

  it('claims what the operator gives it', async () => {
    put(
      dir,
      'clinic/desk.toml',
      text(
        '[routing]\nnumbers = ["+15550100011", "+1555010001*"]\nhosts = ["clinic.example.com"]\ntrunks = ["10.0.0.0/8"]',
      ),
    );
    put(
      dir,
      'clinic.tenant.toml',
      '[allow]\nrouting = ["+1555010001", "clinic.example.com", "10.0.0.0/8"]\n',
    );
    expect((await readTenant()).errors).toEqual([]);
  });

  it('leaves room for other tenants, and for the operator, however many it has', () => {
    for (let at = 0; at < 1_100; at += 1) put(dir, `a-greedy/a${at}.toml`, '');
    put(dir, 'clinic/desk.toml', '');
    put(dir, 'z-own.toml', '');
    const { places, unusable } = listAgents(dir);
    expect(places.filter(({ tenant }) => tenant === 'a-greedy')).toHaveLength(1_000);
    expect(places.map(({ shown }) => shown)).toEqual(
      expect.arrayContaining(['clinic/desk.toml', 'z-own.toml']),
    );
    expect(unusable).toHaveLength(100);
    expect(unusable[0]?.why).toContain('its tenant has more than 1000 agents');
  });

  it.each(['"1555"', '"+"', '"+1555*"', '7'])('refuses %s as the beginning of a number', async (number) => {
    put(dir, 'clinic/desk.toml', text());
    put(dir, 'clinic.tenant.toml', `[allow]\nnumbers = [${number}]\n`);
    expect((await readTenant()).errors.join('; ')).toContain('allow.numbers[0]');
  });

  it.each([
    ['a tool server that is a command', text('[[mcp]]\nname = "m"\ncommand = ["sh", "-c", "id"]')],
    ['a package beside it', text().replace('provider = "chat_compatible"', 'provider = "npm:evil"')],
  ])('starts no program: %s', async (_, content) => {
    put(dir, 'clinic/desk.toml', content);
    put(dir, 'clinic/node_modules/evil/package.json', '{"name":"evil","type":"module","exports":"./a.js"}');
    put(dir, 'clinic/node_modules/evil/a.js', 'globalThis.evilHasRun = true; export const llm = {};');
    const { errors, version } = await readTenant();
    expect(version).toBeUndefined();
    expect(errors).toContainEqual(expect.stringContaining('allow.programs of its tenant file'));
    expect(Reflect.get(globalThis, 'evilHasRun')).toBeUndefined();
  });

  it('says nothing of what it may itself', async () => {
    put(dir, 'clinic/desk.toml', text('', { key: 'LLM_KEY' }));
    const allowed = '[allow]\nenv = ["LLM_KEY"]\n';
    for (const name of ['clinic.tenant.toml', 'tenant.toml', 'desk.tenant.toml'])
      put(dir, `clinic/${name}`, allowed);
    const { unusable, places } = listAgents(dir);
    expect(unusable.map(({ shown }) => shown)).toEqual([
      'clinic/clinic.tenant.toml',
      'clinic/desk.tenant.toml',
    ]);
    expect(places.map(({ shown }) => shown)).toEqual(['clinic/desk.toml', 'clinic/tenant.toml']);
    expect((await readTenant()).errors).toEqual([expect.stringContaining('is not set')]);
  });
});

describe('the file of a tenant', () => {
  it.each([
    ['an unknown key', '[allow]\nall = true\n', 'clinic.tenant.toml:2:1: error: allow.all'],
    ['an unknown table', '[allowed]\n', 'clinic.tenant.toml:1:1: error: allowed'],
    ['no TOML', 'allow', 'clinic.tenant.toml:1:'],
    [
      'a variable of the service itself',
      '[allow]\nenv = ["SVC_SESSION_SECRET"]\n',
      'allow.env[0] is a variable',
    ],
    ['a limit of nothing', '[limits]\ncalls = 0\n', 'limits.calls must be at least 1'],
  ])('that is wrong lets its agents be nothing: %s', async (_, content, said) => {
    put(dir, 'clinic/desk.toml', text());
    put(dir, 'clinic.tenant.toml', content);
    const { errors, version, named } = await readTenant();
    expect(errors).toContainEqual(expect.stringContaining(said));
    expect(version).toBeUndefined();
    expect(named).toContain(join(dir, 'clinic.tenant.toml'));
  });

  it('gives its limits to every version of its agents', async () => {
    put(dir, 'clinic/desk.toml', text('[limits]\ncalls = 2\n'));
    const before = await readTenant();
    put(dir, 'clinic.tenant.toml', '[limits]\ncalls = 5\nminutes_per_day = 100\n');
    const { version } = await readTenant();
    expect([version?.limits, version?.tenantLimits]).toEqual([
      { calls: 2 },
      { calls: 5, minutesPerDay: 100 },
    ]);
    expect(version?.hash).not.toBe(before.version?.hash);
  });

  it('of a tenant that is not there is told of', () => {
    put(dir, 'clinc.tenant.toml', '');
    expect(listAgents(dir).unusable).toEqual([
      { shown: 'clinc.tenant.toml', why: 'there is no folder of this tenant' },
    ]);
  });
});
