/**
 * The listener of WebRTC signaling (spec 01, WebRTC signaling): offers by WHIP (RFC 9725) at POST /whip, and what a client may do with
 * the session URL that it gets.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { assert } from '../../../shared/base/assert.ts';
import { fail, ok } from '../../../shared/base/result.ts';
import { tokenAnswers } from '../../../shared/auth/token-fault.ts';
import type { ServerSettings } from '../../../shared/config/server/server.ts';
import type { WebrtcSettings } from '../../../shared/config/server/webrtc-variables.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { judgeCredentials, signedMetadata } from '../../admission/credentials.ts';
import type { CallEntrance } from '../entrance.ts';
import type { Listener } from '../listener.ts';
import { listen, newGuardedServer, type OpenListener } from '../listeners.ts';
import { newSignalingGates } from './gate.ts';
import { signalingRefusal } from './origin.ts';
import { Signaling } from './signaling.ts';

const name = 'webrtc';

/** Names the transport to the agent, which a caller cannot set. */
const transportKey = 'session.transport';

export const webrtcListener: Listener = {
  name,
  variable: 'SVC_WEBRTC_ADDR',
  isWanted: ({ webrtc }) => webrtc !== undefined,
  entrance: (settings) => offerEntrance(settings),
  open: async (context, { given, isLeaving }) => {
    const webrtc = wanted(context.settings);
    const signaling = new Signaling({ ...context, webrtc });
    let answering = 0;
    const { server, silent } = newGuardedServer((request: IncomingMessage, response: ServerResponse) => {
      answering += 1;
      response.once('close', () => (answering -= 1));
      if (isLeaving()) response.setHeader('Connection', 'close');
      signaling.answer(request, response);
    });
    const opened: OpenListener = {
      server,
      address: await listen(server, given ?? webrtc.addr),
      connections: () => silent.size + answering,
    };
    return opened;
  },
};

function wanted({ webrtc }: ServerSettings): WebrtcSettings {
  assert(webrtc !== undefined, 'the settings ask for WebRTC');
  return webrtc;
}

/** How offers come in: by a bearer token, from pages that may, within the limits of the port. */
function offerEntrance(settings: ServerSettings): CallEntrance {
  const webrtc = wanted(settings);
  const { access } = settings;
  const gates = newSignalingGates(webrtc, () => systemClock.now());
  return {
    transport: 'webrtc',
    pool: { name, most: 2 * settings.maxSessions },
    gate: gates.offers,
    admit: (head, nowS) => {
      const { verdict, rest } = judgeCredentials(head, {
        staticToken: webrtc.token,
        secrets: access.sessionSecrets,
        audience: 'svc-webrtc',
        nowS,
        ways: 'bearer',
      });
      if (!verdict.ok) return fail(tokenAnswers[verdict.error]);
      const foreign = signalingRefusal(head.headers, { webrtc, access });
      if (foreign !== undefined) return fail(foreign);
      const label = { [transportKey]: name };
      if (verdict.value.kind !== 'session') return ok({ metadata: label, rest });
      const { claims } = verdict.value;
      return ok({ pass: claims, metadata: { ...label, ...signedMetadata(claims) }, rest });
    },
  };
}
