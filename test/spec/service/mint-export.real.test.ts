/** The minting helper as an application gets it: from the built package, by the name that the documentation gives. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { verifySessionToken } from '../../../shared/auth/session-token.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

it('the example for Node in docs/tokens.md prints a token that the service accepts', () => {
  const example = /```js\n([\s\S]*?)```/.exec(readFileSync(`${root}/docs/tokens.md`, 'utf8'))?.[1] ?? '';
  const secret = 'a secret of more than thirty-two bytes';
  const token = execFileSync(process.execPath, ['--input-type=module', '--eval', example], {
    cwd: root,
    env: { ...process.env, SVC_SESSION_SECRET: secret },
    encoding: 'utf8',
  }).trim();
  const nowS = Math.floor(Date.now() / 1000);
  const verdict = verifySessionToken(token, { secrets: [secret], audience: 'svc-ws', nowS });
  expect(verdict.ok && [...verdict.value.meta]).toEqual([['plan', 'gold']]);
});
