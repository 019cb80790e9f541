/** What SVC_WS_ORIGINS may hold, and what of an `Origin` header compares with it. */
import { describe, expect, it } from 'vitest';
import { canonicalOrigin, parseOrigins } from '../../../shared/net/origin.ts';

describe('an origin', () => {
  it.each([
    ['http://localhost:8088', 'http://localhost:8088'],
    ['HTTPS://App.Example', 'https://app.example'],
    ['https://app.example:443', 'https://app.example'],
    ['http://[0:0:0:0:0:0:0:1]:8088', 'http://[::1]:8088'],
    ['capacitor://localhost', 'capacitor://localhost'],
  ])('%s is %s', (text, origin) => {
    expect(canonicalOrigin(text)).toBe(origin);
  });

  it.each([
    'null',
    '',
    'app.example',
    'https://',
    'https://app.example/',
    'https://user@app.example',
    'https://a.example, https://b.example',
    'https://*.example',
    `https://${'a'.repeat(600)}`,
  ])('%s is none', (text) => {
    expect(canonicalOrigin(text)).toBeUndefined();
  });
});

describe('SVC_WS_ORIGINS', () => {
  it('is a list, or * alone', () => {
    expect(parseOrigins('https://a.example , http://localhost:8088')).toEqual({
      ok: true,
      value: ['https://a.example', 'http://localhost:8088'],
    });
    expect(parseOrigins('*')).toEqual({ ok: true, value: 'any' });
  });

  it.each(['canary', 'https://a.example,', 'https://a.example,*', 'https://canary.example/path', 'null'])(
    '%s is refused without its value',
    (text) => {
      const parsed = parseOrigins(text);
      expect(parsed.ok ? '' : parsed.error).toMatch(/^must be origins/);
      expect(JSON.stringify(parsed)).not.toContain('canary');
    },
  );

  it('has a bound', () => {
    const list = Array.from({ length: 65 }, (_, index) => `https://a${index}.example`).join(',');
    expect(parseOrigins(list)).toEqual({ ok: false, error: 'must have at most 64 entries' });
  });
});
