import { describe, expect, it } from 'vitest';
import { readSigningKeys, webhookHeaders } from '../../../shared/auth/webhook-signature.ts';

const shown = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';
const message = { id: 'msg_test_1', atS: 1_700_000_000, body: '{"type":"call.ended","data":{"n":1}}' };

const keysOf = (text: string): readonly Buffer[] => {
  const read = readSigningKeys(text);
  if (!read.ok) throw new Error(read.error);
  return read.value;
};

describe('a signature', () => {
  it('is the one that receivers of Standard Webhooks make of the same bytes', () => {
    expect(webhookHeaders(message, keysOf(shown))).toEqual({
      'webhook-id': 'msg_test_1',
      'webhook-timestamp': '1700000000',
      'webhook-signature': 'v1,+C01B1jVaAEn66ric5ZU69ehvApF2rCiDBq316hkZHg=',
    });
  });

  it('is made by each of two secrets while one takes the place of the other', () => {
    const second = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
    const { 'webhook-signature': signature = '' } = webhookHeaders(message, keysOf(`${second} ${shown}`));
    expect(signature.split(' ')).toHaveLength(2);
    expect(signature.split(' ')[1]).toBe('v1,+C01B1jVaAEn66ric5ZU69ehvApF2rCiDBq316hkZHg=');
  });

  it('is left out where nothing signs', () => {
    expect(Object.keys(webhookHeaders(message, []))).toEqual(['webhook-id', 'webhook-timestamp']);
  });

  it.each([
    ['nothing', ''],
    ['no prefix', 'MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY='],
    ['another prefix', 'whsk_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY='],
    ['too few bytes', `whsec_${Buffer.alloc(23).toString('base64')}`],
    ['too many bytes', `whsec_${Buffer.alloc(65).toString('base64')}`],
    ['what is no base64', 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0!NTY3ODlhYmNkZWY='],
    ['one good and one bad secret', `${shown} whsec_short`],
    ['five secrets', Array.from({ length: 5 }, () => shown).join(' ')],
  ])('is not made by %s', (_, text) => {
    const read = readSigningKeys(text);
    expect(read.ok).toBe(false);
    expect(read.ok ? '' : read.error).not.toContain('MDEy');
  });
});
