/**
 * Session tokens, by which callers open calls (docs/tokens.md, Making tokens). Made with the service's own code, so that what this makes is
 * accepted there.
 */
import { mintSessionToken as mint } from '../../../shared/auth/mint.ts';

export interface SessionTokenOptions {
  /** The service's SVC_SESSION_SECRET; at least 32 bytes. */
  readonly secret: string;
  /** The listener that the call arrives at. */
  readonly audience: 'svc-ws' | 'svc-rtvi' | 'svc-webrtc';
  /** Opens one call, so never the same twice. Default: a new random one. */
  readonly sessionId?: string;
  /** Whole seconds until it expires, 1 to 86400; 30 to 120 are usual. Default 60. */
  readonly ttlS?: number;
  /** Reaches the call as `session.agent`. */
  readonly agent?: string;
  /** Longest call in whole seconds, 1 to 86400. */
  readonly maxCallS?: number;
  /** Reaches the call as `session.meta.<key>`; at most 16 entries. */
  readonly meta?: Readonly<Record<string, string | number | boolean>>;
  /** Unix seconds before which it is refused. */
  readonly notBeforeS?: number;
  /** Whole Unix seconds. Default: the clock. */
  readonly nowS?: number;
}

/** A token for one call. Throws a `RangeError` that names the rule that the options break, and never the secret. */
export function mintSessionToken(options: SessionTokenOptions): string {
  const {
    secret,
    audience,
    sessionId = crypto.randomUUID(),
    ttlS = 60,
    agent,
    maxCallS,
    meta,
    notBeforeS,
  } = options;
  const { nowS = Math.floor(Date.now() / 1000) } = options;
  const minted = mint(
    {
      aud: audience,
      sid: sessionId,
      ttlS,
      ...(agent !== undefined && { agent }),
      ...(maxCallS !== undefined && { maxS: maxCallS }),
      ...(meta !== undefined && { meta }),
      ...(notBeforeS !== undefined && { nbfS: notBeforeS }),
    },
    { secret, nowS },
  );
  if (!minted.ok) throw new RangeError(minted.error);
  return minted.value;
}
