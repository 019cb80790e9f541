/** The rules of docs/tokens.md, Behind a proxy; IPv6 clients are counted by /64. */
import { describe, it, expect } from 'vitest';
import { parseCidrList } from '../../../shared/net/cidr.ts';
import { clientAddress } from '../../../shared/net/client-address.ts';
import type { ForwardingHeader } from '../../../shared/net/forwarded.ts';

const ranges = (text: string) => {
  const parsed = parseCidrList(text);
  if (!parsed.ok) throw new Error(parsed.error);
  return parsed.value;
};
const trustedProxies = ranges('10.0.0.0/8, 2001:db8:ffff::/48');

function addressOf(
  header: ForwardingHeader,
  value: string | string[] | undefined,
  { peer = '10.0.0.1', trusted = trustedProxies } = {},
): string {
  const headers = {
    'x-forwarded-for': '1.1.1.1',
    forwarded: 'for=1.1.1.1',
    'x-real-ip': '1.1.1.1',
    [header]: value,
  };
  return clientAddress({ peer, headers }, { trustedProxies: trusted, header });
}

describe('without a trusted proxy', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['', 'unknown'],
  ])('the peer %s counts as %s', (peer, key) => {
    expect(addressOf('x-forwarded-for', '1.2.3.4', { peer, trusted: [] })).toBe(key);
    expect(addressOf('x-forwarded-for', '1.2.3.4', { peer })).toBe(key);
  });

  it('counts neighbours in one /64 as one client, and those of the next as another', () => {
    const key = (peer: string): string => addressOf('x-forwarded-for', '', { peer });
    expect(key('2001:db8:1:2::1')).toBe(key('2001:db8:1:2:ffff::'));
    expect(key('2001:db8:1:2::1')).not.toBe(key('2001:db8:1:3::1'));
  });

  it('with an empty list the limits apply to the address of the proxy', () => {
    expect(addressOf('x-forwarded-for', '1.2.3.4', { trusted: [] })).toBe('10.0.0.1');
  });

  it('a socket that is gone counts with all others like it', () => {
    expect(clientAddress({ peer: undefined, headers: {} }, { trustedProxies, header: 'forwarded' })).toBe(
      'unknown',
    );
  });
});

describe('x-forwarded-for', () => {
  it.each([
    ['one hop', '192.0.2.7', '192.0.2.7'],
    ['the last hop that is not a trusted proxy', '6.6.6.6, 192.0.2.7, 10.9.9.9', '192.0.2.7'],
    ['what a client wrote itself does not matter', '10.0.0.9, 192.0.2.7', '192.0.2.7'],
    ['a mapped address is IPv4', '::ffff:192.0.2.7', '192.0.2.7'],
    ['a mapped proxy is a proxy', '192.0.2.7, ::ffff:10.0.0.2', '192.0.2.7'],
    ['IPv6 by /64, past an IPv6 proxy', '2001:db8:1::9, 2001:db8:ffff::1', '2001:db8:1:0::/64'],
    ['ports', '192.0.2.7:5432, 10.0.0.2:80', '192.0.2.7'],
    ['brackets', '[2001:db8:1::9]', '2001:db8:1:0::/64'],
    ['brackets and a port', '[2001:db8:1::9]:443', '2001:db8:1:0::/64'],
    ['empty entries', ' , 192.0.2.7 ,, ', '192.0.2.7'],
    ['all hops trusted: the first', '10.1.1.1, 10.2.2.2', '10.1.1.1'],
    ['no header', undefined, '10.0.0.1'],
    ['an empty header', '', '10.0.0.1'],
    ['nonsense ends the walk at the proxy that wrote it', '192.0.2.7, nonsense, 10.2.2.2', '10.2.2.2'],
    ['nonsense as the last hop', '192.0.2.7, unknown', '10.0.0.1'],
    ['a name is nonsense', 'client.example', '10.0.0.1'],
    ['leading zeros are nonsense', '192.0.02.7', '10.0.0.1'],
    ['IPv4 in brackets is nonsense', '[192.0.2.7]', '10.0.0.1'],
  ])('%s', (_, value, key) => {
    expect(addressOf('x-forwarded-for', value)).toBe(key);
  });

  it('joins repeated lines in their order', () => {
    expect(addressOf('x-forwarded-for', ['6.6.6.6', '192.0.2.7, 10.0.0.2'])).toBe('192.0.2.7');
  });

  it('is the only header that is read', () => {
    expect(addressOf('x-forwarded-for', undefined)).toBe('10.0.0.1');
  });
});

describe('forwarded (RFC 7239)', () => {
  it.each([
    ['one element', 'for=192.0.2.7', '192.0.2.7'],
    ['other parameters, any case, blanks', 'proto=https; For=192.0.2.7 ;by=10.0.0.1', '192.0.2.7'],
    ['the last hop that is not a trusted proxy', 'for=6.6.6.6, for=192.0.2.7, for=10.0.0.2', '192.0.2.7'],
    ['quoted', 'for="192.0.2.7"', '192.0.2.7'],
    ['quoted with a port', 'for="192.0.2.7:4711"', '192.0.2.7'],
    ['an obfuscated port', 'for="192.0.2.7:_p0rt"', '192.0.2.7'],
    ['IPv6 in brackets', 'for="[2001:db8:1::9]"', '2001:db8:1:0::/64'],
    ['IPv6 in brackets with a port', 'for="[2001:db8:1::9]:443"', '2001:db8:1:0::/64'],
    ['escapes in quotes', 'for="192\\.0.2.7"', '192.0.2.7'],
    ['a comma and a semicolon in quotes', 'for=192.0.2.7;host="a,b;for=6.6.6.6"', '192.0.2.7'],
    ['unknown ends the walk', 'for=192.0.2.7, for=unknown, for=10.0.0.2', '10.0.0.2'],
    ['an obfuscated name ends the walk', 'for=192.0.2.7, for=_hidden, for=10.0.0.2', '10.0.0.2'],
    ['an element without for ends the walk', 'for=192.0.2.7, proto=https', '10.0.0.1'],
    ['for twice in an element', 'for=192.0.2.7;for=6.6.6.6', '10.0.0.1'],
    ['empty elements', ', for=192.0.2.7,,', '192.0.2.7'],
    ['junk', 'for 192.0.2.7', '10.0.0.1'],
    ['no header', undefined, '10.0.0.1'],
  ])('%s', (_, value, key) => {
    expect(addressOf('forwarded', value)).toBe(key);
  });

  it.each([
    ['for="6.6.6.6', 'for=192.0.2.7'],
    ['for=6.6.6.6, for=6.6.6.7;x="', 'for="[2001:db8:1::9]"'],
    ['for=6.6.6.6;x="', 'for="[2001:db8:1::9]"'],
    ['x="', 'for=192.0.2.7;host="a.example"'],
    ['for=6.6.6.6;x="\\', 'for="192.0.2.7"'],
  ])('a quote that a client left open (%s) moves it nowhere', (fromClient, fromProxy) => {
    expect(addressOf('forwarded', [fromClient, fromProxy])).toBe('10.0.0.1');
  });
});

describe('x-real-ip', () => {
  it.each([
    ['one address', '192.0.2.7', '192.0.2.7'],
    ['one address with blanks', ' 192.0.2.7 ', '192.0.2.7'],
    ['a list is ignored', '192.0.2.7, 192.0.2.8', '10.0.0.1'],
    ['nonsense', 'me', '10.0.0.1'],
    ['no header', undefined, '10.0.0.1'],
  ])('%s', (_, value, key) => {
    expect(addressOf('x-real-ip', value)).toBe(key);
  });

  it('a repeated header is ignored', () => {
    expect(addressOf('x-real-ip', ['192.0.2.7', '192.0.2.7'])).toBe('10.0.0.1');
  });
});
