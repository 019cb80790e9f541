/** An operator who ends a call from the live view stands in the audit log, as one who listens does. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { tenantToken } from '../../../shared/auth/tenant-token.ts';
import { newLog } from '../../../shared/runtime/log.ts';
import { answerLive } from '../../../supervisor/service/live-answers.ts';

const token = 'a live token of thirty-two bytes or more';
let server: Server;
let lines: Record<string, unknown>[];
let ended: string[];

beforeEach(async () => {
  [lines, ended] = [[], []];
  const to = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) };
  const log = newLog({ role: 'supervisor', level: 'error', to });
  const view = {
    state: () => Promise.reject(new Error('not asked for')),
    stateOf: (tenant: string) =>
      Promise.resolve({ agent: tenant, ready: true, sessions: 0, calls: [], workers: [], providers: [] }),
    end: (call: string, { tenant }: { readonly tenant?: string } = {}) => {
      ended.push(call);
      return Promise.resolve(call === 'order/7' && tenant !== 'garage');
    },
  };
  server = createServer((request, response) => {
    void answerLive(request, response, { token, now: () => 1_000_000, live: { view, log } });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(() => server.close());

const post = async (path: string, given = token): Promise<number> => {
  const { port } = server.address() as AddressInfo;
  const headers = { authorization: `Bearer ${given}` };
  return (await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers })).status;
};

it('with the call, the role, the address and the name that was given, at every level of the log', async () => {
  expect(await post('/live/calls/order%2F7/end?by=Maria%20K.')).toBe(202);
  expect(ended).toEqual(['order/7']);
  expect(lines).toMatchObject([
    {
      ...{ audit: true, msg: 'an operator and a call', call: 'order/7', what: 'ends' },
      ...{ may: 'live', by: 'Maria K.', from: '127.0.0.1' },
    },
  ]);
  expect(lines[0]).not.toHaveProperty('code');
});

it('also where there is no such call, and where the token is wrong; a name that is none is left out', async () => {
  expect(await post('/live/calls/other/end?by=%3Cb%3E')).toBe(404);
  expect(await post('/live/calls/order%2F7/end', 'wrong')).toBe(401);
  expect(ended).toEqual(['other']);
  expect(lines).toMatchObject([
    { audit: true, msg: 'an operator and a call', call: 'other', what: 'ends', code: 'no_such_call' },
    { audit: true, msg: 'an operator is refused', code: 'unauthorized', from: '127.0.0.1' },
  ]);
  expect(lines[0]).not.toHaveProperty('by');
  expect(JSON.stringify(lines)).not.toContain('wrong');
});

it('with the tenant of an operator, who sees the calls of that tenant alone and ends no other', async () => {
  const of = (tenant: string, to: 'live' | 'listen' = 'live'): string =>
    tenantToken({ to, tenant, expiresS: 2_000 }, token);
  expect(await post('/live/calls/order%2F7/end', of('clinic'))).toBe(202);
  expect(await post('/live/calls/order%2F7/end', of('garage'))).toBe(404);
  expect(await post('/live/calls/order%2F7/end', of('clinic', 'listen'))).toBe(401);
  expect(lines).toMatchObject([
    { call: 'order/7', what: 'ends', may: 'live', tenant: 'clinic' },
    { call: 'order/7', what: 'ends', tenant: 'garage', code: 'no_such_call' },
    { code: 'unauthorized' },
  ]);
  const { port } = server.address() as AddressInfo;
  const state = await fetch(`http://127.0.0.1:${port}/live/state`, {
    headers: { authorization: `Bearer ${of('clinic')}` },
  });
  expect(await state.json()).toMatchObject({ agent: 'clinic', workers: [], providers: [] });
});
