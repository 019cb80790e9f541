/** The rows of docs/tokens.md, Form and Answers, and Changing the secret. One test or more for each row. */
import { describe, it, expect } from 'vitest';
import { verifySessionToken } from '../../../shared/auth/session-token.ts';
import type { VerifyOptions } from '../../../shared/auth/session-token.ts';
import { craft, craftRaw, nowS, previousSecret, right, secret } from './craft.ts';

const options: VerifyOptions = { secrets: [secret, previousSecret], audience: 'svc-ws', nowS };
const verify = (token: string, at: Partial<VerifyOptions> = {}): unknown => {
  const result = verifySessionToken(token, { ...options, ...at });
  return result.ok ? 'fine' : result.error;
};
const day = 86_400;
const bytes = (length: number): string => 'x'.repeat(length);
const entries = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'v']));

describe('a session token', () => {
  it('is v1, the payload and the HMAC-SHA256 of its JSON bytes, in base64url without padding', () => {
    // Made with OpenSSL and coreutils, see docs/tokens.md.
    const token =
      'v1.eyJhdWQiOiJzdmMtd3MiLCJleHAiOjE4MDAwMDAwNjAsInNpZCI6ImNhbGwtMSJ9.R7gJGk8TfBHVSmflP9FdUSDkpKnhUwe9-LpH-640Vv4';
    expect(verify(token)).toBe('fine');
  });

  it('gives its claims', () => {
    const meta = { plan: 'gold', seats: 1.5, vip: true };
    const token = craft({ nbf: nowS - 5, agent: 'a', max_s: 600, meta });
    expect(verifySessionToken(token, options)).toEqual({
      ok: true,
      value: {
        aud: 'svc-ws',
        expS: nowS + 60,
        nbfS: nowS - 5,
        sid: 'call-1',
        agent: 'a',
        maxS: 600,
        meta: new Map([
          ['plan', 'gold'],
          ['seats', '1.5'],
          ['vip', 'true'],
        ]),
      },
    });
  });
});

describe('row aud', () => {
  it.each(['svc-webrtc', 'svc-rtvi', 'svc-ws'] as const)('%s is taken by its own listener alone', (aud) => {
    for (const audience of ['svc-webrtc', 'svc-rtvi', 'svc-ws'] as const)
      expect(verify(craft({ aud }), { audience })).toBe(audience === aud ? 'fine' : 'wrong_audience');
  });

  it.each(['', 'svc', 'SVC-WS', 'svc-ws '])('%j is nobody’s', (aud) => {
    expect(verify(craft({ aud }))).toBe('wrong_audience');
  });

  it.each([undefined, null, 1, ['svc-ws']])('%j is no audience', (aud) => {
    expect(verify(craft({ aud }))).toBe('bad_payload');
  });
});

describe('row exp', () => {
  it('is refused from exp on, plus the skew', () => {
    expect(verify(craft({ exp: nowS - 29 }))).toBe('fine');
    expect(verify(craft({ exp: nowS - 30 }))).toBe('expired');
  });

  it('is at most 24 hours ahead, plus the skew', () => {
    expect(verify(craft({ exp: nowS + day + 30 }))).toBe('fine');
    expect(verify(craft({ exp: nowS + day + 31 }))).toBe('lifetime_too_long');
  });

  it('in milliseconds is too far ahead', () => {
    expect(verify(craft({ exp: nowS * 1000 }))).toBe('lifetime_too_long');
  });

  it.each([undefined, null, 'soon', String(nowS + 60), true, []])('%j is no exp', (exp) => {
    expect(verify(craft({ exp }))).toBe('bad_payload');
  });
});

describe('row nbf', () => {
  it('is refused before it, less the skew', () => {
    expect(verify(craft({ nbf: nowS + 30 }))).toBe('fine');
    expect(verify(craft({ nbf: nowS + 31 }))).toBe('not_yet_valid');
  });

  it('must be before exp', () => {
    expect(verify(craft({ nbf: nowS + 59 }), { nowS: nowS + 40 })).toBe('fine');
    expect(verify(craft({ nbf: nowS + 60 }), { nowS: nowS + 40 })).toBe('bad_payload');
  });

  it('is 0 by default', () => {
    const result = verifySessionToken(craft(), options);
    expect(result.ok && result.value.nbfS).toBe(0);
  });

  it.each([null, 'now', false])('%j is no nbf', (nbf) => {
    expect(verify(craft({ nbf }))).toBe('bad_payload');
  });
});

describe('row sid', () => {
  it('has 1 to 128 bytes', () => {
    expect(verify(craft({ sid: bytes(128) }))).toBe('fine');
    expect(verify(craft({ sid: bytes(129) }))).toBe('bad_payload');
    expect(verify(craft({ sid: '' }))).toBe('bad_payload');
    expect(verify(craft({ sid: 'ü'.repeat(64) }))).toBe('fine');
    expect(verify(craft({ sid: 'ü'.repeat(65) }))).toBe('bad_payload');
  });

  it.each(['\u0000', '\n', '\u001f', '\u007f', '\u0085'])(
    'has no control character such as %j',
    (character) => {
      expect(verify(craft({ sid: `a${character}b` }))).toBe('bad_payload');
    },
  );

  it.each([undefined, null, 7, {}])('%j is no sid', (sid) => {
    expect(verify(craft({ sid }))).toBe('bad_payload');
  });
});

describe('row agent', () => {
  it.each([null, 3, ['a']])('%j is no agent', (agent) => {
    expect(verify(craft({ agent }))).toBe('bad_payload');
  });
});

describe('row max_s', () => {
  it.each([1, 86_400])('%j is in range', (max_s) => {
    expect(verify(craft({ max_s }))).toBe('fine');
  });

  it.each([0, -1, 86_401, null, '60', 1.5])('%j is refused', (max_s) => {
    expect(verify(craft({ max_s }))).toBe('bad_payload');
  });
});

describe('row meta', () => {
  it('has at most 16 entries', () => {
    expect(verify(craft({ meta: entries(16) }))).toBe('fine');
    expect(verify(craft({ meta: entries(17) }))).toBe('bad_payload');
  });

  it('has keys of at most 64 bytes', () => {
    expect(verify(craft({ meta: { [bytes(64)]: 'v' } }))).toBe('fine');
    expect(verify(craft({ meta: { [bytes(65)]: 'v' } }))).toBe('bad_payload');
    expect(verify(craft({ meta: { [`${bytes(63)}ü`]: 'v' } }))).toBe('bad_payload');
  });

  it('has strings of at most 256 bytes', () => {
    expect(verify(craft({ meta: { k: bytes(256) } }))).toBe('fine');
    expect(verify(craft({ meta: { k: bytes(257) } }))).toBe('bad_payload');
    expect(verify(craft({ meta: { k: 'ü'.repeat(129) } }))).toBe('bad_payload');
  });

  it.each([null, [], {}, [1]])('has no value such as %j', (value) => {
    expect(verify(craft({ meta: { k: value } }))).toBe('bad_payload');
  });

  it.each([null, [], 'x', 1])('is never %j', (meta) => {
    expect(verify(craft({ meta }))).toBe('bad_payload');
  });
});

describe('integers only', () => {
  const withNumber = (name: string, text: string): string =>
    craftRaw(JSON.stringify({ ...right, [name]: 'HERE' }).replace('"HERE"', text));

  it.each(['1800000060.0', '1.80000006e9', '1800000060e0', '18e8', '-0', '1e400'])('%s is no exp', (text) => {
    expect(verify(withNumber('exp', text))).toBe('bad_payload');
  });

  it.each(['1.0', '1e0', '0.0', '-0'])('%s is no nbf', (text) => {
    expect(verify(withNumber('nbf', text))).toBe('bad_payload');
  });

  it.each(['60.0', '6e1', '060', '+60', '0x3c'])('%s is no max_s', (text) => {
    expect(verify(withNumber('max_s', text))).toBe('bad_payload');
  });

  it('lets meta hold any number, as it was written', () => {
    const token = craftRaw(
      '{"aud":"svc-ws","exp":1800000060,"sid":"s","meta":{"n":1.50,"big":12345678901234567890}}',
    );
    const result = verifySessionToken(token, options);
    expect(result.ok && [...result.value.meta.values()]).toEqual(['1.50', '12345678901234567890']);
  });
});

describe('the payload text', () => {
  const claims = '"aud":"svc-ws","exp":1800000060,"sid":"s"';

  it.each([
    ['a repeated claim', `{${claims},"exp":1800000060}`],
    ['a claim repeated in escapes', `{${claims},"\\u0073id":"s"}`],
    ['a repeated key of meta', `{${claims},"meta":{"a":1,"a":2}}`],
    ['a trailing comma', `{${claims},}`],
    ['something after it', `{${claims}} x`],
    ['a comment', `{${claims}/* */}`],
    ['single quotes', `{${claims.replaceAll('"', "'")}}`],
    ['an array', `[{${claims}}]`],
    ['a raw line break in a string', `{${claims},"agent":"a\nb"}`],
    ['half a surrogate pair', `{${claims},"agent":"\\ud800"}`],
    ['a byte order mark', `\ufeff{${claims}}`],
    ['nothing', ''],
    ['a number', '1'],
    ['depth', `{${claims},"x":${'['.repeat(500)}${']'.repeat(500)}}`],
  ])('is refused with %s', (_, payload) => {
    expect(verify(craftRaw(payload))).toBe('bad_payload');
  });

  it('is refused when it is no UTF-8', () => {
    expect(verify(craftRaw(Buffer.from(`{${claims},"agent":"\xe4"}`, 'latin1')))).toBe('bad_payload');
  });

  it('may hold unknown fields and white space', () => {
    expect(verify(craftRaw(` {\n${claims} ,"x":[1,{"y":null}]\t}\r\n`))).toBe('fine');
  });
});

describe('Authentication 7: the order of verification', () => {
  const noise = 'A'.repeat(5_000);

  it('looks at the length first', () => {
    expect(verify(noise)).toBe('too_large');
    expect(verify(craft({ agent: noise }, { key: 'x' }))).toBe('too_large');
  });

  it('takes up to 4096 bytes, counted as UTF-8', () => {
    const longest = (length: number): string => {
      let token = craft({ x: '' });
      for (let count = 2_900; token.length < length; count += 1) token = craft({ x: bytes(count) });
      return token;
    };
    // No payload makes a token of exactly 4096 bytes: base64url never has 4049 characters.
    expect(longest(4095)).toHaveLength(4095);
    expect(verify(longest(4095))).toBe('fine');
    expect(longest(4096)).toHaveLength(4097);
    expect(verify(longest(4096))).toBe('too_large');
    expect(verify('A'.repeat(4096))).toBe('malformed');
    expect(verify('A'.repeat(4097))).toBe('too_large');
    expect(verify('ü'.repeat(2049))).toBe('too_large');
    expect(verify('ü'.repeat(2048))).toBe('malformed');
  });

  it.each([
    '',
    'v1',
    'v1..',
    'v1.e30',
    `${craft()}.x`,
    craft().replace('v1.', 'v2.'),
    craft().replace('v1.', 'V1.'),
    craft().replace('v1.', ''),
    ` ${craft()}`,
  ])('looks at parts and prefix before the signature: %j', (token) => {
    expect(['malformed', 'wrong_signature']).toContain(verify(token));
    expect(verify(token)).not.toBe('fine');
  });

  it.each([
    ['padding', `${craft()}=`],
    ['a blank at the end', `${craft()} `],
    ['base64 of the other alphabet', craft().replace(/.$/, '+')],
  ])('refuses %s', (_, token) => {
    expect(verify(token)).toBe('malformed');
  });

  it('refuses every signature text but the one of its bytes', () => {
    const token = craft();
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const accepted = Array.from(alphabet).filter((last) => verify(token.slice(0, -1) + last) === 'fine');
    expect(accepted).toEqual([token.at(-1)]);
  });

  it('looks at the signature before the payload, which may be anything', () => {
    for (const payload of ['', 'no json', '{"exp":1}', JSON.stringify({ ...right, exp: 1 })])
      expect(verify(craftRaw(payload, { key: 'another secret of thirty-two bytes' }))).toBe(
        'wrong_signature',
      );
    expect(verify(`${craft().split('.').slice(0, 2).join('.')}.AAAA`)).toBe('wrong_signature');
  });

  it('notices any change of payload or signature', () => {
    const token = craft();
    for (let at = 3; at < token.length; at += 1) {
      if (token[at] === '.') continue;
      const changed = token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1);
      expect(['wrong_signature', 'malformed']).toContain(verify(changed));
    }
  });

  it('looks at payload limits before aud, aud before nbf, nbf before exp', () => {
    const wrong = { aud: 'svc-rtvi', nbf: nowS + 100, exp: nowS + 3 * day };
    expect(verify(craft({ ...wrong, max_s: 0 }))).toBe('bad_payload');
    expect(verify(craft(wrong))).toBe('wrong_audience');
    expect(verify(craft({ ...wrong, aud: 'svc-ws' }))).toBe('not_yet_valid');
    expect(verify(craft({ exp: wrong.exp }))).toBe('lifetime_too_long');
  });
});

describe('Authentication 9: rotation', () => {
  it('takes the current and the previous secret, and no other', () => {
    expect(verify(craft({}, { key: previousSecret }))).toBe('fine');
    expect(verify(craft({}, { key: previousSecret }), { secrets: [secret] })).toBe('wrong_signature');
    expect(verify(craft(), { secrets: [] })).toBe('wrong_signature');
  });

  it('uses the UTF-8 bytes of the secret', () => {
    const key = 'geheim-üöä-with-enough-bytes-32-bytes';
    expect(verify(craft({}, { key }), { secrets: [key] })).toBe('fine');
  });
});
