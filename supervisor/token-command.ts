/**
 * The command `token`: mints a session token for trying things out, and shows what one says. The secret comes from the
 * environment alone, because arguments are seen by every user of the machine; nothing here prints it.
 */
import { parseArgs } from 'node:util';
import { fail, ok } from '../shared/base/result.ts';
import type { Result } from '../shared/base/result.ts';
import { mintSessionToken } from '../shared/auth/mint.ts';
import type { MintClaims } from '../shared/auth/mint.ts';
import { maxLifetimeS, signingSecret, skewS, splitToken } from '../shared/auth/session-token.ts';
import { tokenAnswers } from '../shared/auth/token-fault.ts';
import { readPayload, tokenAudiences } from '../shared/auth/token-payload.ts';
import type { SessionClaims } from '../shared/auth/token-payload.ts';

export const TOKEN_USAGE = `svc-supervisor token mint --aud svc-ws|svc-rtvi|svc-webrtc [options]
    --ttl SECONDS     until it expires, 1 to 86400 (default 60)
    --sid ID          session id, used once (default: a new one)
    --agent NAME      reaches the call as session.agent
    --max-s SECONDS   longest call, 1 to 86400
    --meta KEY=VALUE  reaches the call as session.meta.KEY; up to 16 times
svc-supervisor token inspect TOKEN

The secret is read from SVC_SESSION_SECRET, for inspect also from SVC_SESSION_SECRET_PREV.`;

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
export function runToken(args: readonly string[], options: TokenCommandOptions): 0 | 1 {
  const [action, ...rest] = args;
  if (action === '--help' || rest.includes('--help')) {
    options.write(TOKEN_USAGE);
    return 0;
  }
  if (action === 'mint') return mint(rest, options);
  if (action === 'inspect' && rest.length === 1) return inspect(rest[0] ?? '', options);
  return refuse(options, TOKEN_USAGE);
}

function refuse({ write, writeError = write }: TokenCommandOptions, line: string): 1 {
  writeError(line);
  return 1;
}

function mint(args: readonly string[], options: TokenCommandOptions): 0 | 1 {
  const claims = parseMint(args, options.newId);
  if (!claims.ok) return refuse(options, `${claims.error}\n\n${TOKEN_USAGE}`);
  const secret = options.env[secretNames[0]];
  if (secret === undefined) return refuse(options, `${secretNames[0]} must be set`);
  const token = mintSessionToken(claims.value, { secret, nowS: options.nowS });
  if (!token.ok) return refuse(options, token.error);
  options.write(token.value);
  return 0;
}

const mintOptions = {
  aud: { type: 'string' },
  ttl: { type: 'string' },
  sid: { type: 'string' },
  agent: { type: 'string' },
  'max-s': { type: 'string' },
  meta: { type: 'string', multiple: true },
} as const;

/** Undefined when the arguments are not options of this command. */
function optionsOf(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: mintOptions, strict: true, allowPositionals: false }).values;
  } catch (error) {
    // parseArgs repeats the argument in its message, and an argument may be a token.
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

function parseMint(args: readonly string[], newId: () => string): Result<MintClaims, string> {
  const values = optionsOf(args);
  if (values === undefined) return fail('unknown arguments, or an option without its value');
  const aud = tokenAudiences.find((known) => known === values.aud);
  if (aud === undefined) return fail(`--aud must be one of ${tokenAudiences.join(', ')}`);
  const ttlS = wholeNumber(values.ttl ?? '60');
  if (ttlS === undefined) return fail('--ttl must be whole seconds');
  const maxS = values['max-s'] === undefined ? undefined : wholeNumber(values['max-s']);
  if (values['max-s'] !== undefined && maxS === undefined) return fail('--max-s must be whole seconds');
  const meta = new Map<string, string>();
  for (const entry of values.meta ?? []) {
    const equals = entry.indexOf('=');
    if (equals === -1) return fail('--meta must be KEY=VALUE');
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

function inspect(token: string, options: TokenCommandOptions): 0 | 1 {
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
