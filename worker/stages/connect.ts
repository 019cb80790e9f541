/**
 * How connections to providers are made: names are looked up once for all calls, and a TLS session that was had is gone on
 * with, which saves a round trip and the certificate of each connection.
 *
 * Invariant: sessions are kept for as long as the process lives, the newest of each host. Nothing here knows a call.
 */
import { Agent } from 'node:https';
import { Agent as PlainAgent } from 'node:http';
import type { buildConnector as undici } from 'undici';
import { RefusedAddressError } from '../../shared/runtime/address-guard.ts';
import { buildConnector } from '../../shared/runtime/undici.ts';
import { lookup, LOOKUP_TIMEOUT_CODE, type Lookup } from './lookup.ts';
import { explained } from './failure.ts';
import { PublicAgent, publicLookup, PublicPlainAgent, refusalOf } from './fence.ts';
import type { StageContext, StageError } from './stage.ts';

/** Longest wait for a connection, name and TLS included, in milliseconds (docs/providers.md, Connections). */
export const CONNECT_TIMEOUT_MS = 3_000;

const MOST_HOSTS = 64;

/**
 * Connections of undici. Its own memory of TLS sessions lets go of them at any garbage collection, so this one holds them.
 */
export function newConnector(
  find: Lookup = lookup,
  refusal: typeof refusalOf = () => undefined,
): undici.connector {
  const sessions = new Map<string, Buffer>();
  return (options, done) => {
    const refused = refusal(options.hostname);
    if (refused !== undefined) {
      done(refused, null);
      return;
    }
    const host = `${options.hostname}:${options.port}`;
    const session = sessions.get(host);
    const connect = buildConnector({
      timeout: CONNECT_TIMEOUT_MS,
      lookup: find,
      maxCachedSessions: 0,
      ...(session !== undefined && { session }),
    });
    connect(options, (error, socket) => {
      if (error !== null) {
        // A session that the server does not like any more must not be tried for ever.
        sessions.delete(host);
        done(error, null);
        return;
      }
      socket.on('session', (found: Buffer) => {
        sessions.delete(host);
        sessions.set(host, found);
        const [oldest] = sessions.keys();
        if (sessions.size > MOST_HOSTS && oldest !== undefined) sessions.delete(oldest);
      });
      done(null, socket);
    });
  };
}

const way = { keepAlive: false, maxCachedSessions: MOST_HOSTS } as const;
const agents = {
  secure: new Agent({ ...way, lookup }),
  plain: new PlainAgent({ ...way, lookup }),
};
const publicAgents = {
  secure: new PublicAgent(way),
  plain: new PublicPlainAgent({ ...way, lookup: publicLookup }),
};

/** What a WebSocket is dialled with. Each has a connection of its own; agents hold the TLS sessions. */
export const dialerFor = (
  url: URL,
  { isPublicOnly }: Pick<StageContext, 'isPublicOnly'>,
): Agent | PlainAgent =>
  (isPublicOnly === true ? publicAgents : agents)[url.protocol === 'wss:' ? 'secure' : 'plain'];

/** What a failure of Node below a connection is called. */
export function connectionError(error: Error): StageError {
  if (error instanceof RefusedAddressError)
    return explained({ kind: 'disconnected' }, { code: 'ADDRESS_FENCED' }, { beforeCall: true });
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  if (code === LOOKUP_TIMEOUT_CODE) return { kind: 'timeout', what: 'name lookup' };
  return explained({ kind: 'disconnected' }, { code: code ?? innerCode(error) }, { beforeCall: true });
}

/** The error of a server that had begun to answer: it was reached, and what is wrong is not the address. */
export const cutError = (error: StageError): StageError =>
  error.kind === 'disconnected' ? explained({ kind: 'disconnected' }, { code: 'ANSWER_CUT' }) : error;

/** Of a host with several addresses each of which failed. */
function innerCode(error: Error): string | undefined {
  const inner: unknown = error instanceof AggregateError ? error.errors[0] : error.cause;
  return inner instanceof Error && 'code' in inner && typeof inner.code === 'string' ? inner.code : undefined;
}
