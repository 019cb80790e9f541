/**
 * The command `token`: mints a session token for trying things out, and shows what one says. The secret comes from the
 * environment alone, because arguments are seen by every user of the machine; nothing here prints it.
 */
import { fail, ok, type Result } from '../../shared/base/result.ts';
import { mintSessionToken, type MintClaims } from '../../shared/auth/mint.ts';
import {
  maxLifetimeS,
  minSecretBytes,
  signingSecret,
  skewS,
  splitToken,
} from '../../shared/auth/session-token.ts';
import { tokenAnswers } from '../../shared/auth/token-fault.ts';
import { readPayload, tokenAudiences, type SessionClaims } from '../../shared/auth/token-payload.ts';
import { readArguments, usageError } from './commands.ts';

export interface TokenCommandOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whole Unix seconds. */
  readonly nowS: number;
  /** A session id that was never used. */
  readonly newId: () => string;
  /** Takes lines without their end: the token, or what a token says. */
  readonly write: (line: string) => void;
  /** Takes what is wrong; where it is absent, `write` does. */
  readonly writeError?: (line: string) => void;
}

const secretNames = ['SVC_SESSION_SECRET', 'SVC_SESSION_SECRET_PREV'] as const;

/** Runs `token ...` with the arguments after that word. Returns the exit status. */
export function runToken(args: readonly string[], options: TokenCommandOptions): 0 | 1 | 2 {
  const [action, ...rest] = args;
  return action === 'mint' ? mint(rest, options) : inspect(rest, options);
}

function refuse({ write, writeError = write }: TokenCommandOptions, line: string): 1 {
  writeError(line);
  return 1;
}

function misuse(name: 'token mint' | 'token inspect', error: string, options: TokenCommandOptions): 2 {
  refuse(options, usageError(name, error));
  return 2;
}

function mint(args: readonly string[], options: TokenCommandOptions): 0 | 1 | 2 {
  const claims = parseMint(args, options.newId);
  if (!claims.ok) return misuse('token mint', claims.error, options);
  const secret = options.env[secretNames[0]];
  if (secret === undefined) return refuse(options, `${secretNames[0]} must be set`);
  const token = mintSessionToken(claims.value, { secret, nowS: options.nowS });
  if (Buffer.byteLength(secret) < minSecretBytes)
    return refuse(options, `${secretNames[0]} must have at least ${minSecretBytes} bytes`);
  if (!token.ok) return misuse('token mint', token.error, options);
  options.write(token.value);
  return 0;
}

function parseMint(args: readonly string[], newId: () => string): Result<MintClaims, string> {
  const parsed = readArguments('token mint', args);
  if (!parsed.ok) return parsed;
  const { values } = parsed.value;
  const aud = tokenAudiences.find((known) => known === values.aud);
  if (aud === undefined) return fail(`--aud must be one of ${tokenAudiences.join(', ')}`);
  const ttlS = wholeNumber(values.ttl ?? '60');
  if (ttlS === undefined) return fail('--ttl must be whole seconds');
  const maxS = values['max-s'] === undefined ? undefined : wholeNumber(values['max-s']);
  if (values['max-s'] !== undefined && maxS === undefined) return fail('--max-s must be whole seconds');
  const meta = new Map<string, string>();
  for (const entry of values.meta ?? []) {
    const equals = entry.indexOf('=');
    if (equals < 1) return fail('--meta must be KEY=VALUE');
    if (meta.has(entry.slice(0, equals))) return fail('--meta names a key twice');
    meta.set(entry.slice(0, equals), entry.slice(equals + 1));
  }
  return ok({
    aud,
    ttlS,
    sid: values.sid ?? newId(),
    ...(values.agent !== undefined && { agent: values.agent }),
    ...(maxS !== undefined && { maxS }),
    ...(meta.size > 0 && { meta: Object.fromEntries(meta) }),
  });
}

const wholeNumber = (text: string): number | undefined => (/^\d{1,9}$/.test(text) ? Number(text) : undefined);

function inspect(args: readonly string[], options: TokenCommandOptions): 0 | 1 | 2 {
  const parsed = readArguments('token inspect', args);
  if (!parsed.ok) return misuse('token inspect', parsed.error, options);
  const [token = ''] = parsed.value.given;
  const parts = splitToken(token);
  if (!parts.ok) return refuse(options, `refused: ${tokenAnswers[parts.error].message}`);
  const claims = readPayload(parts.value.payload);
  if (!claims.ok) return refuse(options, `payload: refused: ${claims.error}`);
  const set = secretNames.filter((name) => (options.env[name] ?? '') !== '');
  const index = signingSecret(
    parts.value,
    set.map((name) => options.env[name] ?? ''),
  );
  const signer = index === undefined ? undefined : set[index];
  for (const line of describeClaims(claims.value)) options.write(line);
  options.write(`signature: ${signer ?? (set.length === 0 ? 'not checked, no secret is set' : 'not valid')}`);
  const isInTime = describeTimes(claims.value, options);
  return signer !== undefined && isInTime ? 0 : 1;
}

function describeClaims({ aud, sid, agent, maxS, meta }: SessionClaims): string[] {
  return [
    `aud: ${shown(aud)}`,
    `sid: ${shown(sid)}`,
    ...(agent === undefined ? [] : [`agent: ${shown(agent)}`]),
    ...(maxS === undefined ? [] : [`max_s: ${maxS}`]),
    ...[...meta].map(([key, value]) => `meta ${shown(key)}: ${shown(value)}`),
  ];
}

/** A text that a terminal cannot mistake for orders. */
const shown = (text: string): string =>
  JSON.stringify(text).replaceAll(
    /[\p{Cc}\p{Cf}]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );

/** True when a server whose clock agrees would take the token now. */
function describeTimes({ nbfS, expS }: SessionClaims, { nowS, write }: TokenCommandOptions): boolean {
  const leftS = expS - nowS;
  if (nowS < nbfS - skewS) write(`time: not valid for another ${nbfS - nowS} s`);
  else if (leftS <= -skewS) write(`time: expired ${-leftS} s ago`);
  else if (leftS > maxLifetimeS + skewS) write(`time: expires in ${leftS} s, which is too long`);
  else if (leftS <= 0) write(`time: expired ${-leftS} s ago, still taken within ${skewS} s`);
  else write(`time: ${leftS} s left`);
  return nowS >= nbfS - skewS && leftS > -skewS && leftS <= maxLifetimeS + skewS;
}
