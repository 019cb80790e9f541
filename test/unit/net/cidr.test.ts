import { isIP } from 'node:net';
import { describe, it, expect } from 'vitest';
import { newPrng } from '../../../shared/base/prng.ts';
import { formatIp, isInRange, parseCidr, parseCidrList, parseIp } from '../../../shared/net/cidr.ts';

const contains = (range: string, ip: string): boolean => {
  const [cidr, address] = [parseCidr(range), parseIp(ip)];
  if (!cidr.ok || address === undefined) throw new Error('the test is wrong');
  return isInRange(address, cidr.value);
};

describe('addresses', () => {
  it.each([
    ['1.2.3.4', '1.2.3.4'],
    ['::', '0:0:0:0:0:0:0:0'],
    ['::1', '0:0:0:0:0:0:0:1'],
    ['1::', '1:0:0:0:0:0:0:0'],
    ['2001:DB8::a:1.2.3.4', '2001:db8:0:0:0:a:102:304'],
    ['::ffff:1.2.3.4', '1.2.3.4'],
    ['::ffff:102:304', '1.2.3.4'],
    ['1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7:8'],
    ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0'],
  ])('%s is read as %s', (text, shown) => {
    expect(formatIp(parseIp(text)!)).toBe(shown);
  });

  it('are those of the platform, on generated texts', () => {
    const rng = newPrng(11);
    let both = 0;
    for (let count = 0; count < 40_000; count += 1) {
      const pieces = [
        '::',
        ':',
        '1',
        'ffff',
        '0',
        'abcd',
        '1.2.3.4',
        '255',
        '.',
        '256',
        '00',
        'g',
        '12345',
        ':1',
        ':2:3',
      ];
      const text = rng.chance(0.5)
        ? Array.from({ length: 1 + rng.below(9) }, () => rng.pick(pieces)).join('')
        : Array.from({ length: 4 + rng.below(5) }, () => rng.below(300).toString(16)).join(
            rng.pick([':', '.', ':']),
          );
      const isAddress = isIP(text) !== 0;
      if (isAddress) both += 1;
      expect({ text, isAddress: parseIp(text) !== undefined }).toEqual({ text, isAddress });
    }
    expect(both).toBeGreaterThan(1_000);
  });
});

describe('ranges', () => {
  it.each([
    ['10.0.0.0/8', '10.255.0.1', true],
    ['10.0.0.0/8', '11.0.0.0', false],
    ['192.0.2.128/25', '192.0.2.127', false],
    ['192.0.2.128/25', '192.0.2.200', true],
    ['192.0.2.7', '192.0.2.7', true],
    ['192.0.2.7', '192.0.2.8', false],
    ['10.1.2.3/8', '10.9.9.9', true],
    ['0.0.0.0/0', '203.0.113.9', true],
    ['0.0.0.0/0', '2001:db8::1', false],
    ['::/0', '2001:db8::1', true],
    ['::/0', '203.0.113.9', false],
    ['2001:db8::/33', '2001:db8:7fff::1', true],
    ['2001:db8::/33', '2001:db8:8000::1', false],
    ['::ffff:10.0.0.0/104', '10.3.3.3', true],
    ['10.0.0.0/8', '::ffff:10.3.3.3', true],
  ])('%s and %s: %s', (range, ip, isIn) => {
    expect(contains(range, ip)).toBe(isIn);
  });

  it.each([
    '',
    '10.0.0.0/',
    '10.0.0.0/33',
    '10.0.0.0/08',
    '10.0.0.0/8/8',
    '10.0.0/8',
    '::/129',
    '::ffff:10.0.0.0/8',
    'host',
    '10.0.0.0/-1',
  ])('%j is none', (text) => {
    expect(parseCidr(text).ok).toBe(false);
  });

  it('come in lists; a bad entry is named by its place and not repeated', () => {
    const list = parseCidrList('127.0.0.1 , 10.0.0.0/8,::1');
    expect(list.ok && list.value.map(({ base, bits }) => `${formatIp(base)}/${bits}`)).toEqual([
      '127.0.0.1/32',
      '10.0.0.0/8',
      '0:0:0:0:0:0:0:1/128',
    ]);
    const bad = parseCidrList('127.0.0.1,secret-host');
    expect(bad).toEqual({ ok: false, error: expect.stringMatching(/^entry 2 must be an address/) as string });
    expect(JSON.stringify(bad)).not.toContain('secret');
    expect(parseCidrList('1.1.1.1,'.repeat(300)).ok).toBe(false);
  });
});
