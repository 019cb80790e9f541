import { describe, it, expect } from 'vitest';
import { formatHostPort, parseHostPort } from '../../../shared/net/address.ts';
import { isLoopbackHost } from '../../../shared/net/loopback.ts';

describe('listener addresses', () => {
  it.each(['127.0.0.1:8080', '0.0.0.0:0', '[::]:8081', '[fe80::1]:1', 'a-b.example:65535'])(
    '%s reads and prints the same',
    (text) => {
      const parsed = parseHostPort(text);
      expect(parsed.ok && formatHostPort(parsed.value)).toBe(text);
    },
  );

  it.each([
    '',
    ':1',
    'host',
    'host:',
    'host:x',
    'host:65536',
    'host:-1',
    '::1:80',
    '[::1]',
    '[::g]:1',
    '[1:2:3]:1',
    '256.0.0.1:1',
    '1.2.3:1',
    '01.2.3.4:1',
    'a b:1',
    '-a:1',
    'ws://host:1',
    'user@host:1',
  ])('%j is refused by a rule that does not repeat it', (text) => {
    const refusal = parseHostPort(text);
    expect(refusal).toEqual(parseHostPort('another bad address'));
    expect(refusal.ok).toBe(false);
  });
});

describe('loopback hosts', () => {
  it.each([
    'localhost',
    'LOCALHOST',
    '127.0.0.1',
    '127.0.0.255',
    '::1',
    '[::1]',
    '0:0:0:0:0:0:0:1',
    '[0::0001]',
  ])('include %s', (host) => {
    expect(isLoopbackHost(host)).toBe(true);
  });

  it.each([
    '',
    '0.0.0.0',
    '127.0.0.256',
    '127.0.1.1',
    '127.0.0.1.example',
    'localhost.example',
    '::',
    '[::]',
    '::11',
    '10.0.0.1',
  ])('do not include %j', (host) => {
    expect(isLoopbackHost(host)).toBe(false);
  });
});
