import { describe, it, expect } from 'vitest';
import { parseRedisUrl } from '../../../shared/net/redis-url.ts';

describe('the URL of a token store', () => {
  it.each([
    ['redis://localhost', { host: 'localhost', port: 6379, isTls: false, database: 0 }],
    ['valkey://10.0.0.1:7000/3', { host: '10.0.0.1', port: 7000, isTls: false, database: 3 }],
    ['rediss://[::1]/0', { host: '::1', port: 6379, isTls: true, database: 0 }],
    ['valkeys://u@h/', { host: 'h', port: 6379, isTls: true, database: 0, username: 'u' }],
  ])('%s is understood', (text, target) => {
    expect(parseRedisUrl(text)).toEqual({ ok: true, value: target });
  });

  it('gives the password to whoever asks for it, and to nobody else', () => {
    const target = parseRedisUrl('redis://:p%40ss@h');
    expect(target.ok && target.value.password?.reveal()).toBe('p@ss');
    expect(JSON.stringify(target)).not.toContain('p@ss');
  });

  it.each([
    'http://canary',
    'canary',
    'redis:canary',
    'redis://canary:canary',
    'redis://',
    'redis://canary/x',
    'redis://canary/1/2',
    'redis://canary?db=1',
    'redis://canary#x',
    'redis://canary:%zz@h',
    `redis://${'canary'.repeat(400)}`,
  ])('%s is refused without being repeated', (text) => {
    const target = parseRedisUrl(text);
    expect(target.ok).toBe(false);
    expect(JSON.stringify(target)).not.toContain('canary');
  });
});
