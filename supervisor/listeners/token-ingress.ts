/** The way in for clients on a WebSocket that present a static token or a session token. */
import { fail, ok } from '../../shared/base/result.ts';
import { tokenAnswers } from '../../shared/auth/token-fault.ts';
import type { TokenAudience } from '../../shared/auth/token-payload.ts';
import type { ServerSettings } from '../../shared/config/server/server.ts';
import type { HostPort } from '../../shared/net/address.ts';
import type { TransportKind } from '../../shared/protocol/ipc.ts';
import { judgeCredentials, signedMetadata, type RequestHead } from '../admission/credentials.ts';
import { originRefusal, type ListenerAccess } from '../admission/origins.ts';
import type { CallIngress } from './ingress.ts';

export interface TokenIngressOptions {
  readonly pool: CallIngress['pool'];
  readonly audience: TokenAudience;
  /** Where the listener is bound. */
  readonly bind: HostPort;
  /** The static token of this listener and its origins, and the secrets of session tokens. */
  readonly access: ListenerAccess['access'];
  /** Absent: the WebSocket call protocol. */
  readonly transport?: TransportKind;
  /** Names the origins in what a page is told; absent: SVC_WS_ORIGINS. */
  readonly originsVariable?: string;
  /** What the listener sets beside the token's own. */
  readonly metadata?: (head: RequestHead) => Readonly<Record<string, string>>;
}

export function tokenIngress(options: TokenIngressOptions): CallIngress {
  const { pool, audience, bind, access, transport = 'websocket', originsVariable } = options;
  return {
    transport,
    pool,
    admit: (head, nowS) => {
      const { verdict, rest } = judgeCredentials(head, {
        staticToken: access.wsToken,
        secrets: access.sessionSecrets,
        audience,
        nowS,
      });
      if (!verdict.ok) return fail(tokenAnswers[verdict.error]);
      const foreign = originRefusal(head.headers, { bind, access, originsVariable });
      if (foreign !== undefined) return fail(foreign);
      const own = options.metadata?.(head) ?? {};
      if (verdict.value.kind !== 'session') return ok({ metadata: own, rest });
      const { claims } = verdict.value;
      return ok({ pass: claims, metadata: { ...own, ...signedMetadata(claims) }, rest });
    },
  };
}

/** Connections of the WebSocket call protocol, wherever they come in. */
export const websocketPool = ({ ws }: ServerSettings): CallIngress['pool'] => ({
  name: 'websocket',
  most: ws.maxCalls,
});
