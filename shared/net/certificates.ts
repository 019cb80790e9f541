/** A bundle of certificates as text (docs/reference/server-settings.md, `SVC_AGENT_TLS_CA`). The error is the rule that it breaks. */
import { X509Certificate } from 'node:crypto';
import { fail, ok, type Result } from '../base/result.ts';

export const certificateLimits = { certificates: 16, bytes: 262_144 } as const;

const block = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;
const begin = /-----BEGIN [A-Z0-9 ]+-----/g;

/** The certificates of a PEM bundle, each as PEM. */
export function readCertificates(bundle: Uint8Array): Result<readonly string[], string> {
  if (bundle.length > certificateLimits.bytes)
    return fail(`must be a file of at most ${certificateLimits.bytes} bytes`);
  const text = Buffer.from(bundle).toString('latin1');
  const found = text.match(block) ?? [];
  if (found.length === 0) return fail('must be a file of certificates in PEM form; it holds none');
  if (found.length > certificateLimits.certificates)
    return fail(`must be a file of at most ${certificateLimits.certificates} certificates`);
  if ((text.match(begin) ?? []).length !== found.length)
    return fail('must be a file of certificates alone, each of them whole');
  const broken = found.findIndex((pem) => !isCertificate(pem));
  return broken === -1
    ? ok(found)
    : fail(`must be a file of certificates; number ${broken + 1} is malformed`);
}

function isCertificate(pem: string): boolean {
  try {
    new X509Certificate(pem);
    return true;
  } catch (error) {
    if (error instanceof Error) return false;
    throw error;
  }
}
