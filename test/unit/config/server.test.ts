import { inspect } from 'node:util';
import { describe, it, expect } from 'vitest';
import { describeServerSettings, parseServerSettings } from '../../../shared/config/server/server.ts';
import type { ServerSettings } from '../../../shared/config/server/server.ts';

type Env = Record<string, string>;

const facts = { cores: 2 };
const parse = (env: Env): ReturnType<typeof parseServerSettings> =>
  parseServerSettings({ SVC_AGENT_FILE: 'agent.toml', ...env }, facts);

function settingsOf(env: Env): ServerSettings {
  const result = parse(env);
  if (!result.ok) throw new Error(result.error.map(({ message }) => message).join('; '));
  return result.value.settings;
}

const warningsOf = (env: Env): string[] => {
  const result = parse(env);
  return result.ok ? result.value.warnings : [];
};

function problemsOf(env: Env): string[] {
  const result = parse(env);
  if (result.ok) return [];
  for (const { variable, message } of result.error) expect(message.startsWith(`${variable} `)).toBe(true);
  return result.error.map(({ variable }) => variable);
}

describe('server settings', () => {
  it('have the defaults of the specification', () => {
    expect(settingsOf({})).toEqual({
      agentFile: 'agent.toml',
      agents: { unknown: 'default' },
      agentLink: { allowInsecure: false },
      ws: {
        addr: { host: '127.0.0.1', port: 8080 },
        startTimeoutMs: 5000,
        pingIntervalMs: 10_000,
        pingTimeoutMs: 30_000,
        maxAudioBytes: 65_536,
        maxControlBytes: 16_384,
        writeTimeoutMs: 5000,
        sendTimeoutMs: 5000,
        closeGraceMs: 2000,
        maxCalls: 1024,
        acceptQueue: 128,
      },
      health: { addr: { host: '0.0.0.0', port: 8081 }, metrics: true },
      maxSessions: 512,
      access: {
        sessionSecrets: [],
        trustedProxies: [],
        clientIpHeader: 'x-forwarded-for',
        maxCallsPerAddress: 0,
      },
      providerLimits: new Map(),
      recording: { mostBytes: 10_000_000_000 },
      drain: { drainTimeoutMs: 30_000, cancelGraceMs: 5000, abortWaitMs: 1000 },
      modelIndex: 'https://pypi.org/simple',
      restartTimeoutMs: 60_000,
      hangTimeoutMs: 5000,
      callResume: true,
      spareWorker: true,
      telephony: { redactsNumbers: true },
      raisesPriority: true,
      insecureListeners: false,
      logLevel: 'info',
    });
    expect(warningsOf({})).toEqual([]);
  });

  it('drain in 43 seconds by default, the 7 seconds of the specification included', () => {
    const { drainTimeoutMs, cancelGraceMs, abortWaitMs } = settingsOf({}).drain;
    expect(drainTimeoutMs + cancelGraceMs + abortWaitMs + 7000).toBe(43_000);
  });

  it('allow twice as many connections as sessions unless told otherwise', () => {
    expect(settingsOf({ SVC_MAX_SESSIONS: '10' }).ws.maxCalls).toBe(20);
    expect(settingsOf({ SVC_MAX_SESSIONS: '10', SVC_WS_MAX_CALLS: '11' }).ws.maxCalls).toBe(11);
  });

  it.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['2m', 120_000],
    ['0s', 0],
  ])('read the duration %s', (text, drainTimeoutMs) => {
    expect(settingsOf({ SVC_DRAIN_TIMEOUT: text }).drain.drainTimeoutMs).toBe(drainTimeoutMs);
  });

  it.each([
    ['1', true],
    ['on', true],
    ['TRUE', true],
    ['0', false],
    ['Off', false],
    ['false', false],
  ])('read the switch %s', (text, metrics) => {
    expect(settingsOf({ SVC_METRICS: text }).health.metrics).toBe(metrics);
  });

  it.each([
    ['512', 512],
    ['32KiB', 32_768],
    ['1MiB', 1_048_576],
  ])('read the size %s', (text, maxControlBytes) => {
    expect(settingsOf({ SVC_WS_MAX_CONTROL_BYTES: text }).ws.maxControlBytes).toBe(maxControlBytes);
  });

  it.each([
    ['127.0.0.1:0', { host: '127.0.0.1', port: 0 }],
    ['[::1]:8080', { host: '::1', port: 8080 }],
    ['localhost:65535', { host: 'localhost', port: 65_535 }],
  ])('read the address %s', (text, addr) => {
    expect(settingsOf({ SVC_WS_ADDR: text }).ws.addr).toEqual(addr);
  });

  it.each(['SVC_RTVI_ADDR', 'SVC_WEBRTC_ADDR'])(
    'take no calls at 127.0.0.1:8080 beside %s, unless SVC_WS_ADDR says so',
    (other) => {
      const addr = { host: '127.0.0.1', port: 8080 };
      expect(settingsOf({}).ws.addr).toEqual(addr);
      expect(settingsOf({ SVC_PAGE_ADDR: '127.0.0.1:0' }).ws.addr).toEqual(addr);
      expect(settingsOf({ [other]: '127.0.0.1:0' }).ws).not.toHaveProperty('addr');
      expect(settingsOf({ [other]: '127.0.0.1:0', SVC_WS_ADDR: '127.0.0.1:8080' }).ws.addr).toEqual(addr);
    },
  );

  it.each([
    ['SVC_WS_ADDR', '8080'],
    ['SVC_WS_ADDR', '127.0.0.1:65536'],
    ['SVC_HEALTH_ADDR', ':8081'],
    ['SVC_MAX_SESSIONS', '0'],
    ['SVC_MAX_SESSIONS', '-1'],
    ['SVC_MAX_SESSIONS', '1e3'],
    ['SVC_WS_MAX_CALLS', '0'],
    ['SVC_WS_ACCEPT_QUEUE', '0'],
    ['SVC_INSECURE_LISTENERS', 'yes'],
    ['SVC_LOG_LEVEL', 'verbose'],
    ['SVC_DRAIN_TIMEOUT', '30'],
    ['SVC_DRAIN_TIMEOUT', '1.5s'],
    ['SVC_DRAIN_TIMEOUT', '25h'],
    ['SVC_WS_START_TIMEOUT', '0s'],
    ['SVC_WS_PING_INTERVAL', '9ms'],
    ['SVC_WS_PING_TIMEOUT', '0s'],
    ['SVC_WS_WRITE_TIMEOUT', '0ms'],
    ['SVC_WS_SEND_TIMEOUT', '0m'],
    ['SVC_WS_CLOSE_GRACE', '0s'],
    ['SVC_WS_MAX_AUDIO_BYTES', '1'],
    ['SVC_WS_MAX_CONTROL_BYTES', '511'],
    ['SVC_METRICS_TOKEN', 'two words'],
    ['SVC_AGENT_FILE', ''],
    ['SVC_METRICS', ''],
    ['SVC_PAGE_ADDR', '8088'],
    ['SVC_PAGE_TOKEN_URL', 'ftp://backend.example/token'],
    ['SVC_PAGE_TOKEN_URL', '//backend.example/token'],
    ['SVC_PAGE_TOKEN_URL', 'api/token'],
    ['SVC_PAGE_TOKEN_URL', 'https://user:word@backend.example/token'],
    ['SVC_PAGE_TOKEN_URL', 'https://backend.example/; script-src *'],
    ['SVC_PAGE_TOKEN_URL', "/token;script-src'self'"],
    ['SVC_MODEL_INDEX', 'http://index.example/simple'],
    ['SVC_MODEL_INDEX', 'https://user:word@index.example/simple'],
    ['SVC_MODEL_INDEX', 'https://index.example/simple?token=1'],
    ['SVC_MODEL_INDEX', 'index.example/simple'],
    ['SVC_MODEL_INDEX', ''],
    ['SVC_SIP_PUBLIC_IP', 'sip.example.com'],
    ['SVC_SIP_PUBLIC_IP', '0.0.0.0'],
    ['SVC_SIP_PUBLIC_IP', '::'],
  ])('refuse %s=%j', (name, value) => {
    expect(problemsOf({ [name]: value })).toEqual([name]);
  });

  it('accept the smallest values of the specification', () => {
    const env = { SVC_WS_PING_INTERVAL: '10ms', SVC_WS_PING_TIMEOUT: '11ms', SVC_WS_MAX_AUDIO_BYTES: '2' };
    expect(settingsOf(env).ws).toMatchObject({ pingIntervalMs: 10, pingTimeoutMs: 11, maxAudioBytes: 2 });
  });

  it('need a ping timeout longer than the interval', () => {
    expect(problemsOf({ SVC_WS_PING_INTERVAL: '30s' })).toEqual(['SVC_WS_PING_TIMEOUT']);
    expect(problemsOf({ SVC_WS_PING_INTERVAL: '29s' })).toEqual([]);
  });

  it('say once what is wrong with a variable that another one needs', () => {
    const env = { SVC_SIP_TLS_ADDR: '127.0.0.1:0', SVC_SIP_TLS_CERT: '', SVC_SIP_TLS_KEY: 'key.pem' };
    expect(problemsOf(env)).toEqual(['SVC_SIP_TLS_CERT']);
  });

  it.each([
    ['sip:trunk.example', ['SVC_SIP_TRUNK']],
    ['sip:trunk.example;transport=tls', []],
  ])('let no call out go in the clear where encryption is required: %s', (trunk, problems) => {
    const tls = { SVC_SIP_TLS_ADDR: '127.0.0.1:0', SVC_SIP_TLS_CERT: 'cert.pem', SVC_SIP_TLS_KEY: 'key.pem' };
    const env = { SVC_SIP_ADDR: '127.0.0.1:0', ...tls, SVC_SIP_SRTP: 'required', SVC_SIP_TRUNK: trunk };
    expect(problemsOf(env)).toEqual(problems);
  });

  it('need an agent file', () => {
    const result = parseServerSettings({}, facts);
    expect(result).toMatchObject({ ok: false, error: [{ variable: 'SVC_AGENT_FILE' }] });
  });

  it('take an index of packages, one on this machine in plain text, and none', () => {
    for (const index of ['https://index.example/root/pypi/+simple/', 'http://127.0.0.1:8080/simple'])
      expect(settingsOf({ SVC_MODEL_INDEX: index }).modelIndex).toBe(index);
    expect(settingsOf({ SVC_MODEL_INDEX: 'off' }).modelIndex).toBeUndefined();
  });

  it('report every bad variable at once', () => {
    expect(
      problemsOf({ SVC_MAX_SESSIONS: 'many', SVC_WS_ADDR: 'here', SVC_LOG_LEVEL: 'loud' }).toSorted(),
    ).toEqual(['SVC_LOG_LEVEL', 'SVC_MAX_SESSIONS', 'SVC_WS_ADDR']);
  });

  it('never repeat a value in messages or when printed', () => {
    const names = describeServerSettings().map(({ name }) => name);
    const bad = parseServerSettings(Object.fromEntries(names.map((name) => [name, 'can ary'])), facts);
    expect(inspect(bad, { depth: 9 })).not.toContain('can ary');
    const good = parse({ SVC_METRICS_TOKEN: 'canary' });
    expect(inspect(good, { depth: 9 }) + JSON.stringify(good)).not.toContain('canary');
    expect(settingsOf({ SVC_METRICS_TOKEN: 'canary' }).health.metricsToken?.reveal()).toBe('canary');
  });
});

describe('the call page', () => {
  const secret = { SVC_SESSION_SECRET: 's'.repeat(32) };
  const open = { SVC_PAGE_ADDR: '0.0.0.0:8088' };
  const elsewhere = { SVC_PAGE_TOKEN_URL: '/api/call-token' };
  const insecure = { SVC_INSECURE_LISTENERS: '1' };

  it('is not served unless it is asked for', () => {
    expect(settingsOf({}).page).toBeUndefined();
    expect(settingsOf({ SVC_PAGE_ADDR: '127.0.0.1:8088', ...elsewhere }).page).toEqual({
      addr: { host: '127.0.0.1', port: 8088 },
      tokenUrl: '/api/call-token',
    });
  });

  it.each([
    ['calls that need no token', open],
    ['calls that need no token, though tokens are given elsewhere', { ...open, ...elsewhere }],
    ['an endpoint that gives tokens to whoever asks', { ...open, ...secret }],
  ])('does not start off loopback with %s, unless it is told to', (_, env) => {
    expect(problemsOf(env)).toEqual(['SVC_PAGE_ADDR']);
    expect(warningsOf({ ...env, ...insecure })).toEqual([
      expect.stringMatching(/^SVC_PAGE_ADDR is not a loopback address .* SVC_INSECURE_LISTENERS/),
    ]);
  });

  it('starts off loopback where somebody else gives the tokens', () => {
    expect(parse({ ...open, ...secret, ...elsewhere })).toMatchObject({ ok: true, value: { warnings: [] } });
  });

  it('warns when it has no way to a token', () => {
    const page = { SVC_PAGE_ADDR: '127.0.0.1:8088', SVC_WS_TOKEN: 'static' };
    expect(warningsOf(page)).toContain(
      'the call page has no token to call with: it needs SVC_PAGE_TOKEN_URL or SVC_SESSION_SECRET',
    );
    expect(warningsOf({ ...page, ...elsewhere })).toHaveLength(1);
    expect(warningsOf({ ...page, ...secret })).toHaveLength(1);
  });
});

describe('exposed listeners', () => {
  it.each(['0.0.0.0:8080', '[::]:8080', '10.0.0.7:8080', 'voice.example:8080'])(
    'are refused on %s',
    (address) => {
      expect(problemsOf({ SVC_WS_ADDR: address })).toEqual(['SVC_WS_ADDR']);
    },
  );

  it('start with SVC_INSECURE_LISTENERS and a warning', () => {
    const env = { SVC_WS_ADDR: '0.0.0.0:8080', SVC_INSECURE_LISTENERS: '1' };
    expect(settingsOf(env)).toMatchObject({ insecureListeners: true, ws: { addr: { host: '0.0.0.0' } } });
    expect(warningsOf(env)).toHaveLength(1);
    expect(warningsOf(env)[0]).toContain('SVC_WS_ADDR');
  });

  it.each(['127.0.0.1:1', '[::1]:1', '[0:0:0:0:0:0:0:1]:1', 'localhost:1', '127.0.0.9:1'])(
    'need nothing on %s',
    (address) => {
      expect(warningsOf({ SVC_WS_ADDR: address })).toEqual([]);
      expect(problemsOf({ SVC_WS_ADDR: address })).toEqual([]);
    },
  );

  it.each([
    ['SVC_WS_TOKEN', {}],
    ['SVC_RTVI_TOKEN', { SVC_RTVI_ADDR: '127.0.0.1:0' }],
    ['SVC_WEBRTC_TOKEN', { SVC_WEBRTC_ADDR: '127.0.0.1:0' }],
    ['SVC_METRICS_TOKEN', {}],
    ['SVC_LIVE_TOKEN', {}],
    ['SVC_CALLS_TOKEN', { SVC_CALLS_DB: 'calls.db' }],
    ['SVC_CARRIER_B_STREAM_TOKEN', { SVC_CARRIER_B_ADDR: '127.0.0.1:0' }],
  ])('give a warning for %s, which is static', (name, env) => {
    expect(warningsOf({ ...env, [name]: 'token-of-test' })).toEqual([
      `${name} is a static token: every client shares it and it never expires`,
    ]);
  });
});

describe('unknown variables', () => {
  it('give a warning with the nearest name', () => {
    expect(warningsOf({ SVC_MAX_SESSION: '5' })).toEqual([
      'SVC_MAX_SESSION is not a known variable; did you mean SVC_MAX_SESSIONS?',
    ]);
    expect(warningsOf({ SVC_UTTERLY_DIFFERENT_FROM_ALL: '5' })).toEqual([
      'SVC_UTTERLY_DIFFERENT_FROM_ALL is not a known variable; this version ignores it',
    ]);
  });

  it('without the prefix are nobody’s business', () => {
    expect(warningsOf({ PATH: '/bin', svc_ws_addr: 'x' })).toEqual([]);
  });
});

describe('who may call', () => {
  const secret = 's'.repeat(32);

  it.each([
    [{ SVC_SESSION_SECRET: 'é'.repeat(15) }, 'SVC_SESSION_SECRET must have at least 32 bytes'],
    [{ SVC_SESSION_SECRET_PREV: secret }, 'SVC_SESSION_SECRET_PREV needs SVC_SESSION_SECRET beside it'],
    [{ SVC_TRUSTED_PROXIES: '10.0.0.0/33' }, 'SVC_TRUSTED_PROXIES '],
    [{ SVC_CLIENT_IP_HEADER: 'cf-connecting-ip' }, 'SVC_CLIENT_IP_HEADER must be one of '],
    [{ SVC_PROVIDER_LIMITS: 'nobody:rpm=3' }, 'SVC_PROVIDER_LIMITS entry 1 must begin with one of '],
    [{ SVC_TOKEN_STORE_URL: 'http://user:secret@host' }, 'SVC_TOKEN_STORE_URL must have the form redis://'],
    [{ SVC_WS_ADDR: '0.0.0.0:8080' }, 'SVC_WS_ADDR must be a loopback address without SVC_SESSION_SECRET'],
  ])('is refused with %o', (env, message) => {
    const parsed = parseServerSettings({ SVC_AGENT_FILE: 'a.toml', ...env }, { cores: 2 });
    expect(parsed.ok).toBe(false);
    const messages = parsed.ok ? [] : parsed.error.map((problem) => problem.message);
    expect(messages).toEqual([expect.stringContaining(message)]);
    expect(messages.join()).not.toMatch(/secret@|nobody/);
  });

  it.each([{ SVC_SESSION_SECRET: secret }, { SVC_WS_TOKEN: 'static' }])(
    'may listen off loopback with %o',
    (env) => {
      const parsed = parseServerSettings(
        { SVC_AGENT_FILE: 'a.toml', SVC_WS_ADDR: '0.0.0.0:8080', ...env },
        { cores: 2 },
      );
      expect(parsed.ok).toBe(true);
      const warnings = parsed.ok ? parsed.value.warnings : [];
      expect(warnings.some((warning) => warning.includes('static token'))).toBe('SVC_WS_TOKEN' in env);
    },
  );
});
