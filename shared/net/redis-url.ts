/**
 * Where a Redis or Valkey server is, from its URL (SVC_TOKEN_STORE_URL). The URL may hold a password: messages state the rule
 * and never repeat any part of it.
 */
import { fail, ok, type Result } from '../base/result.ts';
import { Sensitive } from '../config/sensitive.ts';

export interface RedisTarget {
  /** Without brackets. */
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
  readonly username?: string;
  readonly password?: Sensitive<string>;
  readonly database: number;
}

const defaultPort = 6379;
const longestUrl = 2048;

export const redisUrlForm =
  'redis://[user:password@]host[:port][/database]; rediss:// with TLS; valkey:// and valkeys:// alike';

/** Reads the URL. The error is the rule that is broken. */
export function parseRedisUrl(text: string): Result<RedisTarget, string> {
  const [, scheme] = /^(redis|rediss|valkey|valkeys):\/\//.exec(text) ?? [];
  if (scheme === undefined || text.length > longestUrl || !URL.canParse(text))
    return fail(`must have the form ${redisUrlForm}`);
  const url = new URL(text);
  if (url.hostname === '') return fail('must name a host');
  if (url.search !== '' || url.hash !== '') return fail('must have no query and no fragment');
  const [, database = '0'] = /^\/(\d{1,5})$/.exec(url.pathname) ?? [];
  if (database === '0' && !/^\/?0?$/.test(url.pathname))
    return fail('must have a number as its path, if any');
  const [username, password] = [decoded(url.username), decoded(url.password)];
  if (username === undefined || password === undefined)
    return fail('must have user and password percent-encoded');
  return ok({
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? defaultPort : Number(url.port),
    isTls: scheme === 'rediss' || scheme === 'valkeys',
    ...(username !== '' && { username }),
    ...(password !== '' && { password: new Sensitive(password) }),
    database: Number(database),
  });
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}
