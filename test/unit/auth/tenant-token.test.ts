/** Tokens for the calls of one tenant: nobody makes one, changes one, or uses one too late. */
import { expect, it } from 'vitest';
import { readTenantToken, tenantToken } from '../../../shared/auth/tenant-token.ts';

const secret = 'a secret of more than thirty-two bytes';
const claims = { to: 'calls', tenant: 'clinic', expiresS: 2_000 } as const;
const token = tenantToken(claims, secret);

it('opens the calls of its tenant until it expires', () => {
  expect(readTenantToken(token, { to: 'calls', secret, nowS: 1_999 })).toBe('clinic');
  expect(readTenantToken(token, { to: 'calls', secret, nowS: 2_000 })).toBeUndefined();
});

it.each([
  ['of another tenant', token.replace('clinic', 'garage')],
  ['for longer', token.replace('2000', '9000')],
  ['with another form of its time', token.replace('2000', '02000')],
  ['with more behind it', `${token}.x`],
  ['without its signature', token.split('.').slice(0, 3).join('.')],
  ['with an empty signature', token.split('.').slice(0, 3).concat('').join('.')],
  ['of nobody', tenantToken({ ...claims, tenant: '' }, secret)],
  ['of no name', tenantToken({ ...claims, tenant: '../x' }, secret)],
  ['that never expires', tenantToken({ ...claims, expiresS: Infinity }, secret)],
  ['by another secret', tenantToken(claims, `${secret}!`)],
  ['that is the secret itself', secret],
  ['that is empty', ''],
])('is refused %s', (_, given) => {
  expect(readTenantToken(given, { to: 'calls', secret, nowS: 1_000 })).toBeUndefined();
});

it('is refused where the secret is so short that it could be found by trying', () => {
  expect(
    readTenantToken(tenantToken(claims, 'short'), { to: 'calls', secret: 'short', nowS: 1_000 }),
  ).toBeUndefined();
});
