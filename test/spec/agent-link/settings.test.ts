/**
 * The rows of docs/reference/agent-file.md, `[agent_link]`, and the rule of docs/security.md, Unencrypted links: where an agent process is, and what
 * may lead there unencrypted.
 */
import { describe, expect, it } from 'vitest';
import { linkTargets } from '../../../shared/agent-link/agent-file.ts';
import { judgePlaintext, readAgentUrl } from '../../../shared/config/agent-url.ts';
import { loadAgentFile } from '../../../shared/config/load.ts';
import { parseServerSettings } from '../../../shared/config/server/server.ts';
import { certificateLimits, readCertificates } from '../../../shared/net/certificates.ts';
import { goodFile } from '../../unit/config/agent-text.ts';
import { selfSigned } from '../../support/self-signed.ts';

const base = goodFile;

type Env = Readonly<Record<string, string>>;

const load = (section: string, env: Env = {}) =>
  loadAgentFile(`${base}\n${section}`, {
    env,
    readFile: () => undefined,
    readBytes: () => undefined,
    requireSecrets: true,
  });
const problemsOf = (section: string, env: Env = {}): string[] =>
  load(section, env).problems.map(({ severity, message }) => `${severity}: ${message}`);

const server = (env: Env) => parseServerSettings({ SVC_AGENT_FILE: 'a.toml', ...env }, { cores: 2 });
const refusals = (env: Env): string[] => {
  const parsed = server(env);
  return parsed.ok ? [] : parsed.error.map(({ message }) => message);
};
const targetsOf = (section: string, env: Env = {}) => {
  const parsed = server(env);
  if (!parsed.ok) throw new Error(parsed.error.map(({ message }) => message).join());
  return linkTargets(load(section, env).definition?.agentLink, parsed.value.settings.agentLink);
};

describe('Authentication 2: ws:// is', () => {
  const verdictOf = (host: string, allowInsecure = false): string => {
    const read = readAgentUrl(`ws://${host}/calls`);
    if (!read.ok) throw new Error(read.error);
    return judgePlaintext(read.value, { allowInsecure }).kind;
  };

  it.each([
    ['a loopback address', ['127.0.0.1', '127.255.255.254', '127.1', '0x7f.0.0.1']],
    ['RFC 1918, 10/8', ['10.0.0.0', '10.255.255.255']],
    ['RFC 1918, 172.16/12', ['172.16.0.1', '172.31.255.255']],
    ['RFC 1918, 192.168/16', ['192.168.0.1', '192.168.255.255']],
    ['link-local, 169.254/16', ['169.254.0.1', '169.254.255.255']],
    ['IPv6 ::1', ['[::1]', '[0:0:0:0:0:0:0:1]']],
    ['unique-local, fc00::/7', ['[fc00::1]', '[fdff:ffff::1]']],
    ['link-local, fe80::/10', ['[fe80::1]', '[febf::1]']],
    ['IPv4-mapped IPv6 of a private address', ['[::ffff:10.0.0.1]', '[::ffff:7f00:1]']],
    ['a link-local address with a zone id', ['[fe80::1%25eth0]', '[fe80::1%eth0]']],
    ['localhost', ['localhost', 'LOCALHOST']],
    ['a name under .localhost, .internal or .local', ['a.localhost', 'b.c.internal', 'printer.LOCAL']],
  ])('accepted for %s', (_rule, hosts) => {
    for (const host of hosts) expect([host, verdictOf(host)]).toEqual([host, 'fine']);
  });

  it.each(['agent', 'Agent-1', 'internal'])('accepted with a warning for the single label %s', (host) => {
    expect(verdictOf(host)).toBe('warned');
  });

  it.each([
    ['other IPv4', ['8.8.8.8', '172.15.255.255', '172.32.0.0', '192.167.1.1', '11.0.0.1', '169.255.0.1']],
    ['addresses that are no host', ['0.0.0.0', '[::]', '100.64.0.1', '255.255.255.255']],
    ['other IPv6', ['[2001:db8::1]', '[fec0::1]', '[fbff::1]', '[::2]']],
    ['IPv4-mapped IPv6 of a public address', ['[::ffff:8.8.8.8]']],
    ['a zone id elsewhere', ['[fd00::1%25eth0]', '[::1%25lo]', '[2001:db8::1%25eth0]']],
    [
      'names with a dot',
      ['example.com', 'localhost.example.com', 'notlocal.alocal.x', 'agent.', 'localhost.'],
    ],
    ['names that end alike', ['a.notinternal', 'xlocalhost.com']],
  ])('refused for %s, and permitted by allow_insecure with a warning', (_rule, hosts) => {
    for (const host of hosts) {
      expect([host, verdictOf(host)]).toEqual([host, 'refused']);
      expect([host, verdictOf(host, true)]).toEqual([host, 'warned']);
    }
  });

  it('no question for wss://, whatever the host', () => {
    const read = readAgentUrl('wss://8.8.8.8/');
    expect(read.ok && judgePlaintext(read.value, { allowInsecure: false })).toEqual({ kind: 'fine' });
  });
});

describe('Authentication 3: the address of an agent', () => {
  it('is shown as scheme, host and port', () => {
    const shown = (text: string): unknown => {
      const read = readAgentUrl(text);
      return read.ok ? [read.value.shown, read.value.host, read.value.port] : read.error;
    };
    expect(shown('wss://a.example/secret?key=secret')).toEqual(['wss://a.example:443', 'a.example', 443]);
    expect(shown('ws://[fe80::1%25eth0]:9/x')).toEqual(['ws://[fe80::1%eth0]:9', 'fe80::1%eth0', 9]);
    expect(shown('ws://localhost')).toEqual(['ws://localhost:80', 'localhost', 80]);
  });

  it.each([
    'http://a',
    'ws:/a',
    'ws://',
    'ws://a b',
    'ws://u:canary@localhost',
    'ws://localhost/#canary',
    'ws://a:0',
  ])('is refused as %s without being repeated', (text) => {
    const read = readAgentUrl(text);
    expect(read.ok).toBe(false);
    expect(JSON.stringify(read)).not.toContain('canary');
  });
});

describe('Link settings', () => {
  it('url: calls run on the agent file alone without it', () => {
    expect(targetsOf('')).toBeUndefined();
    expect(targetsOf('[agent_link]\n')).toBeUndefined();
    expect(targetsOf('[agent_link]\nurl = "ws://localhost:1"')?.fallback?.url.port).toBe(1);
  });

  it('SVC_AGENT_URL stands above the file', () => {
    const section = '[agent_link]\nurl = "ws://localhost:1"';
    expect(targetsOf(section, { SVC_AGENT_URL: 'ws://localhost:2' })?.fallback?.url.port).toBe(2);
    expect(targetsOf('', { SVC_AGENT_URL: 'ws://localhost:2' })?.fallback?.url.port).toBe(2);
  });

  it('token: from token_env, and SVC_AGENT_TOKEN stands above it', () => {
    const section = '[agent_link]\nurl = "ws://localhost:1"\ntoken_env = "TOKEN"';
    const token = (env: Env) => targetsOf(section, env)?.fallback?.token?.reveal();
    expect(token({ TOKEN: 'one' })).toBe('one');
    expect(token({ TOKEN: 'one', SVC_AGENT_TOKEN: 'two' })).toBe('two');
  });

  it('token: a named token_env that is unset fails the start', () => {
    const rule = 'token_env names the environment variable TOKEN, which is not set';
    expect(problemsOf('[agent_link]\nurl = "ws://localhost:1"\ntoken_env = "TOKEN"')).toEqual([
      `error: agent_link.${rule}`,
    ]);
    expect(
      problemsOf('[[agent_link.routes]]\nname = "a"\nurl = "ws://localhost:1"\ntoken_env = "TOKEN"'),
    ).toEqual([`error: agent_link.routes[0].${rule}`]);
  });

  it('routes: each has a name of its own, at most 32', () => {
    const route = (name: string): string =>
      `[[agent_link.routes]]\nname = "${name}"\nurl = "ws://localhost:1"\n`;
    expect(problemsOf(route('a') + route('a'))).toEqual([
      'error: agent_link.routes[1].name is the name of another route',
    ]);
    const name = 'must be 1 to 32 letters, digits, _ or -';
    for (const wrong of ['', 'a b', 'a'.repeat(33)])
      expect(problemsOf(route(wrong))).toEqual([`error: agent_link.routes[0].name ${name}`]);
    const many = (count: number): string =>
      Array.from({ length: count }, (_, at) => route(`r${at}`)).join('');
    expect(problemsOf(many(32))).toEqual([]);
    expect(problemsOf(many(33))).toEqual([
      'error: agent_link.routes must be at most 32 tables written [[agent_link.routes]]',
    ]);
  });

  it('routes: one needs its url, and none is called without a name', () => {
    expect(problemsOf('[[agent_link.routes]]\nname = "a"')).toEqual([
      'error: agent_link.routes[0].url is required',
    ]);
    const alone = targetsOf('[[agent_link.routes]]\nname = "a"\nurl = "ws://localhost:1"');
    expect(alone?.fallback).toBeUndefined();
    expect(alone?.routes.get('a')?.url.port).toBe(1);
  });

  it('allow_insecure: refuses without, warns with: of the section, of one route, or of the environment', () => {
    const url = 'url = "ws://a.example"\n';
    const refused = expect.stringMatching(/^error: agent_link\.\S*url must be a wss:\/\/ address/) as unknown;
    const warned = expect.stringMatching(/^warning: agent_link\.\S*url is a ws:\/\/ address off/) as unknown;
    const route = `[[agent_link.routes]]\nname = "a"\n${url}`;
    expect(problemsOf(`[agent_link]\n${url}`)).toEqual([refused]);
    expect(problemsOf(`[agent_link]\n${url}allow_insecure = true`)).toEqual([warned]);
    expect(problemsOf(route)).toEqual([refused]);
    expect(problemsOf(`${route}allow_insecure = true`)).toEqual([warned]);
    expect(problemsOf(`[agent_link]\nallow_insecure = true\n${route}`)).toEqual([warned]);
    expect(problemsOf(`${route}allow_insecure = true\n${route.replace('"a"', '"b"')}`)).toEqual([
      warned,
      refused,
    ]);
    expect(problemsOf(route, { SVC_AGENT_ALLOW_INSECURE: '1' })).toEqual([warned]);
    expect(refusals({ SVC_AGENT_URL: 'ws://a.example' })).toEqual([
      expect.stringMatching(/^SVC_AGENT_URL must be a wss/),
    ]);
    const parsed = server({ SVC_AGENT_URL: 'ws://a.example', SVC_AGENT_ALLOW_INSECURE: '1' });
    expect(parsed.ok && parsed.value.warnings).toEqual([expect.stringMatching(/^SVC_AGENT_URL is a ws/)]);
  });

  it('caller_identity: false by default; a route has its own value and never inherits', () => {
    const section = (own: string): string =>
      `[agent_link]\nurl = "ws://localhost:1"\n${own}[[agent_link.routes]]\nname = "a"\nurl = "ws://localhost:2"\n`;
    const both = (text: string, env: Env = {}) => {
      const targets = targetsOf(text, env);
      return [targets?.fallback?.callerIdentity, targets?.routes.get('a')?.callerIdentity];
    };
    expect(both(section(''))).toEqual([false, false]);
    expect(both(section('caller_identity = true\n'))).toEqual([true, false]);
    expect(both(section(''), { SVC_AGENT_CALLER_IDENTITY: '1' })).toEqual([true, false]);
    expect(both(section('caller_identity = true\n'), { SVC_AGENT_CALLER_IDENTITY: '0' })).toEqual([
      false,
      false,
    ]);
    expect(both(`${section('')}caller_identity = true\n`)).toEqual([false, true]);
  });

  it('signed: a route may demand that its name is signed; with session tokens one that does not is warned of', () => {
    const route = (own: string): string =>
      `[[agent_link.routes]]\nname = "a"\nurl = "ws://localhost:2"\n${own}`;
    expect(targetsOf(route(''), {})?.routes.get('a')?.signed).toBe(false);
    expect(targetsOf(route('signed = true\n'), {})?.routes.get('a')?.signed).toBe(true);
    const sessions = { SVC_SESSION_SECRET: 'x'.repeat(32) };
    expect(problemsOf(route(''))).toEqual([]);
    expect(problemsOf(route(''), sessions)).toEqual([
      expect.stringMatching(/^warning: .*can be chosen by any client/),
    ]);
    expect(problemsOf(route('signed = true\n'), sessions)).toEqual([]);
  });

  it('a tool that nothing provides may come from the agent: a note and no error', () => {
    const named = base.replace('name = "desk"', 'name = "desk"\ntools = ["book"]');
    const options = {
      env: {},
      readFile: () => undefined,
      readBytes: () => undefined,
      requireSecrets: true,
    };
    const said = (text: string) => loadAgentFile(text, options).problems.map(({ severity }) => severity);
    expect(said(named)).toEqual(['error']);
    expect(said(`${named}\n[agent_link]\nurl = "ws://localhost:1"`)).toEqual(['note']);
  });
});

describe('SVC_AGENT_TLS_CA: a bundle', () => {
  const pem = selfSigned().cert;
  const read = (text: string) => readCertificates(Buffer.from(text));

  it('of up to 16 certificates is taken, with words around them', () => {
    expect(read(pem)).toMatchObject({ ok: true, value: { length: 1 } });
    expect(read(`# ours\n${pem}\n`.repeat(16))).toMatchObject({ ok: true, value: { length: 16 } });
  });

  it.each([
    ['that is empty', '', 'it holds none'],
    ['of 17', pem.repeat(17), 'at most 16 certificates'],
    ['that is malformed', pem.replace('MII', 'AAA'), 'number 1 is malformed'],
    ['with one cut short', pem + pem.slice(0, 100), 'each of them whole'],
    ['with a private key', `${pem}-----BEGIN PRIVATE KEY-----\nMC4=\n-----END PRIVATE KEY-----\n`, 'alone'],
    ['of more than 256 KiB', pem + ' '.repeat(certificateLimits.bytes), 'at most 262144 bytes'],
  ])('%s fails the start', (_what, text, rule) => {
    const result = read(text);
    expect(result.ok).toBe(false);
    if (!result.ok) expect(result.error).toContain(rule);
  });
});
