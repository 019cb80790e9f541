/** The limits of docs/call-protocol.md, A call and Errors. Fields at their limit are fine, one more is not. */
import { describe, expect, it } from 'vitest';
import { parseServerSettings } from '../../../shared/config/server/server.ts';
import { callSampleRates, decodeClientMessage } from '../../../shared/protocol/call.ts';
import { usualCallLimits } from '../../support/call-limits.ts';

const start = (fields: Readonly<Record<string, unknown>>): string =>
  JSON.stringify({ type: 'start', version: 1, sample_rate: 16_000, ...fields });

const isFine = (text: string): boolean => {
  const message = decodeClientMessage(text);
  return message.type === 'start' && message.fields.ok;
};

const entries = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'v']));

describe('defaults', () => {
  it('are those of the specification', () => {
    expect(usualCallLimits).toMatchObject({
      startTimeoutMs: 5_000,
      pingIntervalMs: 10_000,
      pingTimeoutMs: 30_000,
      maxAudioBytes: 65_536,
      maxControlBytes: 16_384,
      writeTimeoutMs: 5_000,
    });
  });
});

describe('bounds of the settings', () => {
  const problemsOf = (env: Readonly<Record<string, string>>): string[] => {
    const read = parseServerSettings({ SVC_AGENT_FILE: 'agent.toml', ...env }, { cores: 1 });
    return read.ok ? [] : read.error.map(({ message }) => message);
  };

  it.each([
    ['SVC_WS_START_TIMEOUT', '0ms'],
    ['SVC_WS_PING_INTERVAL', '9ms'],
    ['SVC_WS_PING_TIMEOUT', '10s'],
    ['SVC_WS_MAX_AUDIO_BYTES', '1'],
    ['SVC_WS_MAX_CONTROL_BYTES', '511'],
    ['SVC_WS_WRITE_TIMEOUT', '0ms'],
    ['SVC_WS_SEND_TIMEOUT', '0ms'],
    ['SVC_WS_CLOSE_GRACE', '0ms'],
  ])('%s below its bound is refused by name', (name, value) => {
    expect(problemsOf({ [name]: value })).toEqual([expect.stringMatching(new RegExp(`^${name} must be`))]);
  });

  it('the smallest allowed values are taken', () => {
    const timeouts = { SVC_WS_PING_INTERVAL: '10ms', SVC_WS_PING_TIMEOUT: '11ms' };
    const sizes = { SVC_WS_MAX_AUDIO_BYTES: '2', SVC_WS_MAX_CONTROL_BYTES: '512' };
    expect(problemsOf({ ...timeouts, ...sizes })).toEqual([]);
  });
});

describe('start', () => {
  it('takes exactly the listed rates', () => {
    expect(callSampleRates).toEqual([8000, 16000, 22050, 24000, 44100, 48000]);
    for (const sample_rate of callSampleRates) expect(isFine(start({ sample_rate }))).toBe(true);
    for (const sample_rate of [0, -8000, 7999, 11_025, 96_000]) {
      expect(decodeClientMessage(start({ sample_rate }))).toMatchObject({
        fields: { ok: false, error: { code: 'unsupported_sample_rate' } },
      });
    }
  });

  it('call_id: 128 bytes of UTF-8', () => {
    expect(isFine(start({ call_id: 'x'.repeat(128) }))).toBe(true);
    expect(isFine(start({ call_id: '😀'.repeat(32) }))).toBe(true);
    expect(isFine(start({ call_id: `${'😀'.repeat(32)}x` }))).toBe(false);
  });

  it('metadata: 32 entries', () => {
    expect(isFine(start({ metadata: entries(32) }))).toBe(true);
    expect(isFine(start({ metadata: entries(33) }))).toBe(false);
  });

  it('metadata: keys of 64 bytes', () => {
    expect(isFine(start({ metadata: { ['ü'.repeat(32)]: 'v' } }))).toBe(true);
    expect(isFine(start({ metadata: { [`${'ü'.repeat(32)}x`]: 'v' } }))).toBe(false);
  });

  it('metadata: values of 256 bytes', () => {
    expect(isFine(start({ metadata: { k: '€'.repeat(85) } }))).toBe(true);
    expect(isFine(start({ metadata: { k: '€'.repeat(86) } }))).toBe(false);
  });
});

describe('mark', () => {
  it('id: 256 bytes of UTF-8', () => {
    const fits = (id: string): unknown => decodeClientMessage(JSON.stringify({ type: 'mark', id }));
    expect(fits('😀'.repeat(64))).toMatchObject({ id: { ok: true } });
    expect(fits(`${'😀'.repeat(64)}x`)).toMatchObject({ id: { ok: false, error: { closeCode: 1008 } } });
  });
});
