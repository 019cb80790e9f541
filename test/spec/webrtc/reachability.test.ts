/** The variables of WebRTC in docs/reference/server-settings.md. One test for each row: its default, its bounds, what it needs. */
import { describe, expect, it } from 'vitest';
import { parseServerSettings } from '../../../shared/config/server/server.ts';

type Env = Readonly<Record<string, string>>;

const base = { SVC_AGENT_FILE: 'agent.toml', SVC_WEBRTC_ADDR: '127.0.0.1:8070' };
const tcp = { SVC_WEBRTC_TCP_ADDR: '127.0.0.1:8071' };
const selfHosted = {
  SVC_TURN_PROVIDER: 'self_hosted_turn',
  SVC_TURN_URLS: 'turn:turn.example.com:3478?transport=udp,turns:turn.example.com:5349',
  SVC_TURN_SECRET: 'canary-secret',
};
const cdn = { SVC_TURN_PROVIDER: 'cdn_turn', SVC_TURN_CDN_KEY_ID: 'key1', SVC_TURN_CDN_API_TOKEN: 'canary' };
const carrier = {
  SVC_TURN_PROVIDER: 'carrier_a_turn',
  SVC_TURN_CARRIER_A_ACCOUNT_SID: 'AC1',
  SVC_TURN_CARRIER_A_AUTH_TOKEN: 'canary',
};

const parse = (env: Env) => parseServerSettings({ ...base, ...env }, { cores: 2 });

function webrtc(env: Env = {}) {
  const parsed = parse(env);
  if (!parsed.ok) throw new Error(parsed.error.map(({ message }) => message).join());
  const { webrtc: settings } = parsed.value.settings;
  if (settings === undefined) throw new Error('the settings ask for WebRTC');
  return settings;
}

/** The variables that are refused; no message holds a value. */
function refused(env: Env): readonly string[] {
  const parsed = parse(env);
  if (parsed.ok) return [];
  for (const { message } of parsed.error) expect(message).not.toContain('canary');
  return parsed.error.map(({ variable }) => variable);
}

describe('ICE over TCP', () => {
  it('is off unless SVC_WEBRTC_TCP_ADDR is set; then each row has its default', () => {
    expect(webrtc().tcp).toBeUndefined();
    expect(webrtc(tcp).tcp).toEqual({
      addr: { host: '127.0.0.1', port: 8_071 },
      ...{ maxConnections: 256, maxPerIp: 16, idleMs: 10_000, maxFrameBytes: 2_048, queue: 20 },
    });
  });

  it('SVC_WEBRTC_TCP_ADDR: needs SVC_WEBRTC_CANDIDATE_IP when bound to an unspecified address', () => {
    for (const host of ['0.0.0.0', '[::]'])
      expect(refused({ SVC_WEBRTC_TCP_ADDR: `${host}:8071` })).toEqual(['SVC_WEBRTC_CANDIDATE_IP']);
    const told = { SVC_WEBRTC_TCP_ADDR: '0.0.0.0:8071', SVC_WEBRTC_CANDIDATE_IP: '203.0.113.7' };
    expect(refused(told)).toEqual([]);
    expect(refused({ SVC_WEBRTC_TCP_ADDR: 'media.example.com:8071' })).toEqual(['SVC_WEBRTC_TCP_ADDR']);
  });

  it.each(['0.0.0.0', '::', '203.0.113.7, ::ffff:0.0.0.0', 'media.example.com', ''])(
    'SVC_WEBRTC_CANDIDATE_IP: %o is refused once, whatever is bound: nobody can send to it',
    (ip) => {
      const env = { SVC_WEBRTC_CANDIDATE_IP: ip };
      expect(refused(env)).toEqual(['SVC_WEBRTC_CANDIDATE_IP']);
      expect(refused({ ...env, SVC_WEBRTC_UDP_ADDR: '0.0.0.0:0' })).toEqual(['SVC_WEBRTC_CANDIDATE_IP']);
    },
  );

  it.each([
    ['SVC_WEBRTC_TCP_CANDIDATE_PORT', ['1', '65535'], ['0', '65536', 'canary', '']],
    ['SVC_WEBRTC_TCP_MAX_CONNECTIONS', ['1', '65536'], ['0', '65537', '-1']],
    ['SVC_WEBRTC_TCP_MAX_PER_IP', ['0', '16', '65536'], ['-1', 'canary']],
    ['SVC_WEBRTC_TCP_IDLE_TIMEOUT', ['10ms', '10s'], ['10', '0s', 'canary']],
    ['SVC_WEBRTC_TCP_MAX_FRAME', ['512', '65535'], ['511', '65536']],
    ['SVC_WEBRTC_TCP_QUEUE', ['8', '4096'], ['7', '4097']],
  ])('%s: takes %s and refuses %s', (name, good, bad) => {
    for (const value of good) expect([value, refused({ ...tcp, [name]: value })]).toEqual([value, []]);
    for (const value of bad) expect([value, refused({ ...tcp, [name]: value })]).toEqual([value, [name]]);
  });

  it('SVC_WEBRTC_TCP_MAX_PER_IP: 0 means no limit', () => {
    expect(webrtc({ ...tcp, SVC_WEBRTC_TCP_MAX_PER_IP: '0' }).tcp?.maxPerIp).toBeUndefined();
  });
});

describe('relays', () => {
  it('there are none unless SVC_TURN_PROVIDER is set; then each row has its default', () => {
    expect(webrtc().turn).toBeUndefined();
    expect(webrtc(selfHosted).turn).toMatchObject({
      ...{ ttlS: 600, relay: 'off', relayTimeoutMs: 3_000, isLogged: false },
    });
  });

  it.each([
    ['SVC_TURN_PROVIDER', ['cdn_turn', 'carrier_a_turn'], ['canary', 'Self_hosted_turn']],
    ['SVC_TURN_TTL', ['30', '86400'], ['29', '86401', '10m']],
    [
      'SVC_TURN_URLS',
      [
        'turn:a',
        'turn:a:1?transport=tcp',
        'turns:[2001:db8::1]:443',
        Array.from({ length: 16 }, () => 'turn:a').join(),
      ],
      [
        ...['canary', 'stun:a:1', 'turn:a:0', 'turn:a:70000', 'turn:a?transport=sctp', 'turn:a,,turn:b'],
        Array.from({ length: 17 }, () => 'turn:a').join(),
      ],
    ],
    ['SVC_WEBRTC_TURN_RELAY', ['on', 'only', 'off'], ['canary', '1', 'ON']],
    ['SVC_WEBRTC_TURN_RELAY_TIMEOUT', ['3s', '100ms'], ['3', 'canary']],
    ['SVC_LOG_TURN_CLIENT', ['1', '0'], ['canary']],
  ])('%s: takes %s and refuses %s', (name, good, bad) => {
    const all: Env = { ...carrier, ...cdn, ...selfHosted };
    for (const value of good) expect([value, refused({ ...all, [name]: value })]).toEqual([value, []]);
    for (const value of bad) expect([value, refused({ ...all, [name]: value })]).toEqual([value, [name]]);
  });

  it.each([
    ['self_hosted_turn', selfHosted, ['SVC_TURN_URLS', 'SVC_TURN_SECRET']],
    ['cdn_turn', cdn, ['SVC_TURN_CDN_KEY_ID', 'SVC_TURN_CDN_API_TOKEN']],
    ['carrier_a_turn', carrier, ['SVC_TURN_CARRIER_A_ACCOUNT_SID', 'SVC_TURN_CARRIER_A_AUTH_TOKEN']],
  ])('%s requires its variables, each named', (name, whole, needed) => {
    expect(refused(whole)).toEqual([]);
    expect(refused({ SVC_TURN_PROVIDER: name })).toEqual(needed);
  });

  it('SVC_TURN_CARRIER_A_API_KEY_SID: signs in instead of the account', () => {
    expect(webrtc(carrier).turn?.provider).toMatchObject({ user: 'AC1', accountSid: 'AC1' });
    const byKey = { ...carrier, SVC_TURN_CARRIER_A_API_KEY_SID: 'SK1' };
    expect(webrtc(byKey).turn?.provider).toMatchObject({ user: 'SK1', accountSid: 'AC1' });
  });

  it('SVC_WEBRTC_TURN_RELAY: requires SVC_TURN_PROVIDER, but for off', () => {
    expect(refused({ SVC_WEBRTC_TURN_RELAY: 'on' })).toEqual(['SVC_WEBRTC_TURN_RELAY']);
    expect(refused({ SVC_WEBRTC_TURN_RELAY: 'only' })).toEqual(['SVC_WEBRTC_TURN_RELAY']);
    expect(refused({ SVC_WEBRTC_TURN_RELAY: 'off' })).toEqual([]);
  });

  it('SVC_WEBRTC_TURN_RELAY=only: SVC_WEBRTC_CANDIDATE_IP is not required, and still is for TCP', () => {
    const open = { ...selfHosted, SVC_WEBRTC_UDP_ADDR: '0.0.0.0:9000' };
    expect(refused({ ...open, SVC_WEBRTC_TURN_RELAY: 'on' })).toEqual(['SVC_WEBRTC_CANDIDATE_IP']);
    const only = { ...open, SVC_WEBRTC_TURN_RELAY: 'only' };
    expect(refused(only)).toEqual([]);
    expect(refused({ ...only, SVC_WEBRTC_TCP_ADDR: '0.0.0.0:1' })).toEqual(['SVC_WEBRTC_CANDIDATE_IP']);
  });
});
