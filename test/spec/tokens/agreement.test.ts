/**
 * Two implementations, one verdict. The second one here shares no code with the product and is built differently: the JSON
 * engine of the platform with regular expressions around it, arithmetic on base64 characters, BigInt for integers.
 */
import { createHmac } from 'node:crypto';
import { describe, it, expect } from 'vitest';
import { newPrng } from '../../../shared/base/prng.ts';
import type { Prng } from '../../../shared/base/prng.ts';
import { verifySessionToken } from '../../../shared/auth/session-token.ts';
import { tries } from '../../support/sampled.ts';
import { nowS, previousSecret, secret } from './craft.ts';

const secrets = [secret, previousSecret];
const audience = 'svc-ws';

/** Bytes of canonical base64url by arithmetic. */
function bytesOf(text: string): Buffer | null {
  const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const out: number[] = [];
  let [held, bits] = [0, 0];
  for (const character of text) {
    const digit = digits.indexOf(character);
    if (digit === -1) return null;
    held = held * 64 + digit;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      out.push(Math.floor(held / 2 ** bits));
      held %= 2 ** bits;
    }
  }
  return held === 0 && bits < 6 ? Buffer.from(out) : null;
}

/** Replaces strings by their index, so that the structure can be looked at with patterns. */
function outline(json: string): { shape: string; strings: string[] } {
  const strings: string[] = [];
  const shape = json.replace(
    /"(?:\\.|[^"\\])*"/gs,
    (text) => `"${strings.push(JSON.parse(text) as string) - 1}"`,
  );
  return { shape, strings };
}

function hasRepeatedKey(json: string): boolean {
  const { shape, strings } = outline(json);
  const open: Set<string>[] = [];
  for (const [mark, index] of shape.matchAll(/[{}[\]]|"(\d+)"\s*(?=:)/g)) {
    if (mark === '{' || mark === '[') open.push(new Set());
    else if (mark === '}' || mark === ']') open.pop();
    else {
      const key = strings[Number(index)]!;
      if (open.at(-1)!.has(key)) return true;
      open.at(-1)!.add(key);
    }
  }
  return false;
}

const depthOf = (shape: string): number => {
  let [depth, deepest] = [0, 0];
  for (const character of shape) {
    if ('{['.includes(character)) deepest = Math.max(deepest, (depth += 1));
    if ('}]'.includes(character)) depth -= 1;
  }
  return deepest;
};

/** Every number becomes a marked string, with the text it was written in. */
function readKeepingNumbers(json: string): unknown {
  const { strings, shape } = outline(json);
  const marked = shape.replace(/"(\d+)"|(-?\d[\d.eE+-]*)/g, (_, index: string | undefined, number: string) =>
    JSON.stringify(index === undefined ? `#${number}` : `$${strings[Number(index)]!}`),
  );
  return JSON.parse(marked);
}

const utf8Length = (text: string): number => new TextEncoder().encode(text).length;
const isLone = (text: string): boolean => Buffer.from(text).toString() !== text;

const whole = (value: unknown): bigint | null => {
  const text = typeof value === 'string' && value.startsWith('#') ? value.slice(1) : 'x';
  if (!/^-?\d+$/.test(text) || text === '-0') return null;
  const number = BigInt(text);
  return number <= 2n ** 53n - 1n && number >= -(2n ** 53n) + 1n ? number : null;
};

type Marked = Record<string, unknown>;

/** Member of a marked object; keys are marked too. */
const member = (object: Marked, name: string): unknown =>
  Object.entries(object).find(([key]) => key === `$${name}`)?.[1];

function metaIsRight(meta: unknown): boolean {
  if (meta === undefined) return true;
  if (meta === null || typeof meta !== 'object' || Array.isArray(meta)) return false;
  const rows = Object.entries(meta as Marked);
  return (
    rows.length <= 16 &&
    rows.every(
      ([key, value]) =>
        utf8Length(key) <= 65 &&
        (typeof value === 'boolean' || (typeof value === 'string' && utf8Length(value) <= 257)),
    )
  );
}

function payloadVerdict(payload: Buffer): string {
  const json = payload.toString();
  if (!Buffer.from(json).equals(payload)) return 'bad_payload';
  try {
    JSON.parse(json);
  } catch {
    return 'bad_payload';
  }
  const { shape, strings } = outline(json);
  if (hasRepeatedKey(json) || strings.some(isLone) || depthOf(shape) > 17) return 'bad_payload';
  const claims = readKeepingNumbers(json) as Marked | null;
  if (claims === null || typeof claims !== 'object' || Array.isArray(claims)) return 'bad_payload';
  const [exp, nbfValue] = [whole(member(claims, 'exp')), member(claims, 'nbf')];
  const nbf = nbfValue === undefined ? 0n : whole(nbfValue);
  const text = (name: string): string | null => {
    const value = member(claims, name);
    return typeof value === 'string' && value.startsWith('$') ? value.slice(1) : null;
  };
  const [aud, sid] = [text('aud'), text('sid')];
  if (exp === null || nbf === null || nbf >= exp || aud === null || sid === null) return 'bad_payload';
  const hasControl = Array.from(sid).some((c) => c < ' ' || (c >= '\u007f' && c <= '\u009f'));
  if (hasControl || utf8Length(sid) < 1 || utf8Length(sid) > 128) return 'bad_payload';
  if (member(claims, 'agent') !== undefined && text('agent') === null) return 'bad_payload';
  if (member(claims, 'max_s') !== undefined) {
    const longest = whole(member(claims, 'max_s'));
    if (longest === null || longest < 1n || longest > 86_400n) return 'bad_payload';
  }
  if (!metaIsRight(member(claims, 'meta'))) return 'bad_payload';
  if (aud !== audience) return 'wrong_audience';
  const now = BigInt(nowS);
  if (nbf - now > 30n) return 'not_yet_valid';
  if (now - exp >= 30n) return 'expired';
  return exp - now > 86_430n ? 'lifetime_too_long' : 'fine';
}

function secondOpinion(token: string): string {
  if (utf8Length(token) > 4096) return 'too_large';
  const match = /^v1\.([^.]*)\.([^.]*)$/s.exec(token);
  const [payload, signature] = [bytesOf(match?.[1] ?? '!'), bytesOf(match?.[2] ?? '!')];
  if (payload === null || signature === null) return 'malformed';
  const fits = secrets.some(
    (key) =>
      createHmac('sha256', key).update(payload).digest('hex').toLowerCase() === signature.toString('hex'),
  );
  return fits ? payloadVerdict(payload) : 'wrong_signature';
}

// --- tokens ---------------------------------------------------------------------------------------------------------

const oddTexts = [
  '',
  'a',
  'ü'.repeat(64),
  'ü'.repeat(65),
  'x'.repeat(128),
  'x'.repeat(129),
  'a\u0000',
  'a\u0085b',
  '\ud83d\ude00',
  '#1',
  '$',
];
const oddJson = [
  '1',
  '0',
  '-1',
  '1.0',
  '1e9',
  '1E+2',
  '-0',
  '0.5',
  '01',
  '1.',
  '.5',
  '+1',
  '1e400',
  'NaN',
  '86400',
  '86401',
  '9007199254740991',
  '9007199254740992',
  '99999999999999999999',
  'true',
  'false',
  'null',
  '""',
  '"svc-rtvi"',
  '"\\ud800"',
  '"\\u0041"',
  '"\\x"',
  '[]',
  '{}',
  '[1,[2]]',
  '{"a":1,"a":2}',
  '{"a":{"b":1}}',
  'tru',
  '"open',
  "'x'",
  '\ufeff1',
  `${'['.repeat(20)}${']'.repeat(20)}`,
  '"a\tb"',
];

function timeText(rng: Prng): string {
  const offsets = [
    -86_400, -31, -30, -29, -1, 0, 1, 29, 30, 31, 60, 120, 86_399, 86_400, 86_430, 86_431, 200_000,
  ];
  const value = nowS + rng.pick(offsets);
  return rng.pick([
    `${value}`,
    `${value}`,
    `${value}`,
    `${value}`,
    `${value}.0`,
    `${value}e0`,
    `${value}000`,
    `"${value}"`,
  ]);
}

const metaText = (rng: Prng): string => {
  const count = rng.pick([0, 1, 2, 15, 16, 17]);
  const value = (): string =>
    rng.chance(0.9)
      ? rng.pick(['1', '1.5', 'true', '"v"', JSON.stringify('x'.repeat(256)), '12e3'])
      : rng.pick([...oddJson, JSON.stringify('x'.repeat(257)), JSON.stringify('ü'.repeat(129))]);
  const key = (index: number): string =>
    rng.chance(0.97)
      ? `k${index}`
      : rng.pick(['k0', 'x'.repeat(64), 'x'.repeat(65), '__proto__', 'constructor']);
  return `{${Array.from({ length: count }, (_, index) => `"${key(index)}":${value()}`).join(',')}}`;
};

function payloadText(rng: Prng): string {
  const isSound = rng.chance(0.5);
  const rare = (text: string): string => (!isSound && rng.chance(0.12) ? rng.pick(oddJson) : text);
  const fields = [
    ['aud', rare(rng.chance(0.9) ? '"svc-ws"' : rng.pick(['"svc-rtvi"', '"svc-webrtc"', '"x"']))],
    ['exp', rare(isSound ? `${nowS + rng.below(86_000)}` : timeText(rng))],
    ['sid', rare(JSON.stringify(rng.chance(0.9) ? `id-${rng.below(1e6)}` : rng.pick(oddTexts)))],
  ];
  if (rng.chance(0.3)) fields.push(['nbf', rare(isSound ? `${nowS + 60 - rng.below(160)}` : timeText(rng))]);
  if (rng.chance(0.3)) fields.push(['agent', rare(JSON.stringify(rng.pick(oddTexts)))]);
  if (rng.chance(0.3)) fields.push(['max_s', rare(rng.pick(['1', '600', '86400', '86401', '0', '60.0']))]);
  if (rng.chance(0.4)) fields.push(['meta', rare(metaText(rng))]);
  if (rng.chance(0.1)) fields.push([rng.pick(['x', '__proto__', 'toString']), rng.pick(oddJson)]);
  if (rng.chance(0.02)) fields.push(['pad', JSON.stringify('p'.repeat(2_500 + rng.below(800)))]);
  if (!isSound && rng.chance(0.05)) fields.splice(rng.below(fields.length), 1);
  if (!isSound && rng.chance(0.05)) fields.push(rng.pick(fields));
  const blank = (): string => (rng.chance(0.05) ? rng.pick([' ', '\n', '\t ', '\u00a0', '\v']) : '');
  const escaped = (name: string): string => (rng.chance(0.02) ? name.replace('s', '\\u0073') : name);
  const body = fields
    .map(([name, value]) => `${blank()}"${escaped(name!)}"${blank()}:${blank()}${value!}`)
    .join(',');
  return `${blank()}{${body}}${blank()}`;
}

function payloadBytes(rng: Prng): Buffer {
  const bytes = Buffer.from(payloadText(rng));
  if (rng.chance(0.01)) bytes[rng.below(bytes.length)] = 0x80 + rng.below(128);
  if (rng.chance(0.01)) return bytes.subarray(0, rng.below(bytes.length));
  return bytes;
}

function tampered(rng: Prng, token: string): string {
  const at = rng.below(token.length);
  const character = rng.pick(Array.from('AZaz09-_.=+/ \nü\u0000'));
  switch (rng.below(6)) {
    case 0:
      return token.slice(0, at) + character + token.slice(at + 1);
    case 1:
      return token.slice(0, at) + character + token.slice(at);
    case 2:
      return token.slice(0, at) + token.slice(at + 1);
    case 3:
      return token + rng.pick(['=', '==', '.', '.x', ' ', 'A', 'AA']);
    case 4:
      return token.slice(0, -1) + character;
    default:
      return token.replace('v1', rng.pick(['v2', 'V1', 'v1.', '', ' v1', 'v1 ']));
  }
}

function anyToken(rng: Prng): string {
  const payload = payloadBytes(rng);
  const key = rng.pick([secret, secret, secret, previousSecret, 'a key that nobody has agreed upon ...']);
  const token = `v1.${payload.toString('base64url')}.${createHmac('sha256', key).update(payload).digest('base64url')}`;
  return rng.chance(0.25) ? tampered(rng, token) : token;
}

describe('verification', () => {
  const generated = tries(100_000, 20_000);

  it(`agrees with an independent implementation on ${generated} generated tokens`, () => {
    const rng = newPrng(20_260_101);
    const seen = new Map<string, number>();
    for (let count = 0; count < generated; count += 1) {
      const token = anyToken(rng);
      const result = verifySessionToken(token, { secrets, audience, nowS });
      const verdict = result.ok ? 'fine' : result.error;
      if (verdict !== secondOpinion(token))
        expect({ token, verdict }).toEqual({ token, verdict: secondOpinion(token) });
      seen.set(verdict, (seen.get(verdict) ?? 0) + 1);
    }
    const verdicts = ['bad_payload', 'expired', 'fine', 'lifetime_too_long', 'malformed', 'not_yet_valid'];
    expect([...seen.keys()].toSorted()).toEqual([
      ...verdicts,
      'too_large',
      'wrong_audience',
      'wrong_signature',
    ]);
    for (const [verdict, count] of seen)
      expect({ verdict, isEnough: count >= generated / 1_000 }).toEqual({ verdict, isEnough: true });
  }, 180_000);

  it('never throws on random text', () => {
    const rng = newPrng(7);
    for (let count = 0; count < 20_000; count += 1) {
      const text = Array.from({ length: rng.below(60) }, () =>
        String.fromCharCode(rng.below(rng.pick([128, 65_536]))),
      ).join('');
      for (const token of [text, `v1.${text}`, `v1.${text}.${text}`])
        expect(verifySessionToken(token, { secrets, audience, nowS }).ok).toBe(false);
    }
  });
});
