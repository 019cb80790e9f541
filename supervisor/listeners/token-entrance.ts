/** The way in for clients of the WebSocket call protocol, which present a static token or a session token. */
import { fail, ok } from '../../shared/base/result.ts';
import { tokenAnswers } from '../../shared/auth/token-fault.ts';
import type { TokenAudience } from '../../shared/auth/token-payload.ts';
import type { ServerSettings } from '../../shared/config/server/server.ts';
import type { HostPort } from '../../shared/net/address.ts';
import { judgeCredentials, signedMetadata } from '../admission/credentials.ts';
import { originRefusal } from '../admission/origins.ts';
import type { CallEntrance } from './entrance.ts';

export interface TokenEntranceOptions {
  readonly pool: CallEntrance['pool'];
  readonly audience: TokenAudience;
  /** Where the listener is bound. */
  readonly bind: HostPort;
  readonly access: ServerSettings['access'];
}

export function tokenEntrance({ pool, audience, bind, access }: TokenEntranceOptions): CallEntrance {
  return {
    transport: 'websocket',
    pool,
    admit: (head, nowS) => {
      const { verdict, rest } = judgeCredentials(head, {
        staticToken: access.wsToken,
        secrets: access.sessionSecrets,
        audience,
        nowS,
      });
      if (!verdict.ok) return fail(tokenAnswers[verdict.error]);
      const foreign = originRefusal(head.headers, { bind, access });
      if (foreign !== undefined) return fail(foreign);
      if (verdict.value.kind !== 'session') return ok({ metadata: {}, rest });
      const { claims } = verdict.value;
      return ok({ pass: claims, metadata: signedMetadata(claims), rest });
    },
  };
}

/** Connections of the WebSocket call protocol, wherever they come in. */
export const websocketPool = ({ ws }: ServerSettings): CallEntrance['pool'] => ({
  name: 'websocket',
  most: ws.maxCalls,
});
