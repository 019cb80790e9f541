/** The certificate and the key of the SIP listener: an operator is told which of them is wrong, without a stack. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Certificate } from '../../../supervisor/sip/wire/certificate.ts';
import { newLog } from '../../../shared/runtime/log.ts';
import { selfSigned } from '../../support/self-signed.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-tls-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function put(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

it('names the variable of the file that is wrong', () => {
  const { cert, key } = selfSigned();
  const good = { certFile: put('cert.pem', cert), keyFile: put('key.pem', key) };
  const read = (files: Partial<typeof good>) => () =>
    new Certificate({ ...good, ...files }, newLog({ role: 'test', level: 'fatal' })).read();
  expect(read({})().cert?.toString()).toBe(cert);
  const missing = join(folder, 'missing.pem');
  const wrong = put('wrong.pem', 'no certificate');
  expect(read({ certFile: missing })).toThrow(/^SVC_SIP_TLS_CERT .* there is no such file$/);
  expect(read({ keyFile: missing })).toThrow(/^SVC_SIP_TLS_KEY .* there is no such file$/);
  expect(read({ certFile: wrong })).toThrow(/^SVC_SIP_TLS_CERT must hold a certificate/);
  for (const keyFile of [wrong, put('other.pem', selfSigned().key)])
    expect(read({ keyFile })).toThrow(/^SVC_SIP_TLS_KEY must hold the key of that/);
});
