/** Spec 01, Limits: the rows of the WebSocket call protocol. Fields at their limit are fine, one more is not. */
import { describe, expect, it } from 'vitest';
import { callSampleRates, decodeClientMessage, wsCallLimits } from '../../../shared/protocol/call.ts';

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
    const limits = wsCallLimits();
    expect(limits).toMatchObject({
      ok: true,
      value: {
        startTimeoutMs: 5_000,
        pingIntervalMs: 10_000,
        pingTimeoutMs: 30_000,
        maxAudioBytes: 65_536,
        maxControlBytes: 16_384,
        writeTimeoutMs: 5_000,
      },
    });
  });
});

describe('bounds of the settings', () => {
  const refused: readonly (readonly [string, Readonly<Record<string, number>>])[] = [
    ['startTimeoutMs', { startTimeoutMs: 0 }],
    ['pingIntervalMs', { pingIntervalMs: 9 }],
    ['pingTimeoutMs', { pingIntervalMs: 100, pingTimeoutMs: 100 }],
    ['maxAudioBytes', { maxAudioBytes: 1 }],
    ['maxControlBytes', { maxControlBytes: 511 }],
    ['writeTimeoutMs', { writeTimeoutMs: 0 }],
    ['sendTimeoutMs', { sendTimeoutMs: 0 }],
    ['closeGraceMs', { closeGraceMs: 0 }],
  ];
  for (const [key, given] of refused) {
    it(`${key} below its bound is refused by name`, () => {
      const limits = wsCallLimits(given);
      expect(limits.ok ? '' : limits.error).toMatch(new RegExp(`^${key}: must (exceed|be)`));
    });
  }

  it('the smallest allowed values are taken', () => {
    const given = { pingIntervalMs: 10, pingTimeoutMs: 11, maxAudioBytes: 2, maxControlBytes: 512 };
    expect(wsCallLimits(given).ok).toBe(true);
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
