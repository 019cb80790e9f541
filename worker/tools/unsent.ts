/** Whether a failed request can have reached the tool at all: what never left had no effect. */

/** Failures before a connection exists. */
const unsentCodes: readonly string[] = [
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
];
/** The server's certificate was not accepted, so that it got nothing to read. */
const untrusted = /^(ERR_TLS_|CERT_|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_(GET|VERIFY)_)/;

/** True when the failure, or what caused it, says that there was no connection. */
export function isUnsent(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code: unknown = Reflect.get(error, 'code');
  if (typeof code === 'string' && (unsentCodes.includes(code) || untrusted.test(code))) return true;
  return isUnsent(error.cause);
}
