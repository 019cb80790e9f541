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

/** True when the failure, or what caused it, says that there was no connection. */
export function isUnsent(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code: unknown = Reflect.get(error, 'code');
  return (typeof code === 'string' && unsentCodes.includes(code)) || isUnsent(error.cause);
}
