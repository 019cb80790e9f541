import { expect, it } from 'vitest';
import { sessionAt } from '../../../web/client/line/peer-link.ts';

it.each([
  ['the service itself', '/whip', '/whip/sessions/1f', '/whip/sessions/1f'],
  [
    'a folder that the proxy takes off',
    '/voice/agent/whip',
    '/whip/sessions/1f',
    '/voice/agent/whip/sessions/1f',
  ],
  ['a proxy that puts it back', '/voice/whip', '/voice/whip/sessions/1f', '/voice/whip/sessions/1f'],
  [
    'a session that is gone on with',
    '/voice/whip/sessions/1f',
    '/whip/sessions/1f',
    '/voice/whip/sessions/1f',
  ],
  ['names of its own', '/calls/', '/whip/sessions/1f', '/whip/sessions/1f'],
  ['a relative reference', '/voice/whip', 'whip/sessions/1f', '/voice/whip/sessions/1f'],
])('finds the session behind %s', (_, asked, location, session) => {
  expect(sessionAt(location, `https://example.com${asked}`)).toBe(`https://example.com${session}`);
});

it('takes a whole address as it is', () => {
  expect(sessionAt('https://other.example/s/1', 'https://example.com/voice/whip')).toBe(
    'https://other.example/s/1',
  );
});
