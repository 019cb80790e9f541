/**
 * The listener of WebRTC signaling (docs/webrtc.md): offers by WHIP (RFC 9725) at POST /whip, and what a client may do with
 * the session URL that it gets.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { assert } from '../../shared/base/assert.ts';
import { fail, ok, type Result } from '../../shared/base/result.ts';
import { tokenAnswers } from '../../shared/auth/token-fault.ts';
import type { ServerSettings } from '../../shared/config/server/server.ts';
import type { WebrtcSettings } from '../../shared/webrtc/variables.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { judgeCredentials, signedMetadata, type RequestHead } from '../admission/credentials.ts';
import type { CallIngress, AdmittedRequest } from '../listeners/ingress.ts';
import type { Listener, ListenerContext } from '../listeners/listener.ts';
import { refuseUpgrade } from '../http/answer.ts';
import { refusals, type Answer } from '../http/refusals.ts';
import { listen, newGuardedServer, takeUpgrades, type OpenListener } from '../listeners/listeners.ts';
import { newSignalingGates } from './gate.ts';
import { signalingRefusal } from './origin.ts';
import { Signaling } from './signaling.ts';

const name = 'webrtc';
/** The call protocol by WebSocket, for clients whose network lets nothing else through. */
const socketsName = 'webrtc_ws';

/** Names the transport to the agent, which a caller cannot set. */
const transportKey = 'session.transport';

export const webrtcListener: Listener = {
  name,
  variable: 'SVC_WEBRTC_ADDR',
  isWanted: ({ webrtc }) => webrtc !== undefined,
  ingress: (settings) => ingressesOf(settings).offers,
  others: (settings) => new Map([[socketsName, ingressesOf(settings).sockets]]),
  open: async (context, { given, isLeaving }) => {
    const webrtc = wanted(context.settings);
    const signaling = signalingOf(context);
    let answering = 0;
    const { server, silent } = newGuardedServer((request: IncomingMessage, response: ServerResponse) => {
      answering += 1;
      response.once('close', () => (answering -= 1));
      if (isLeaving()) response.setHeader('Connection', 'close');
      signaling.answer(request, response);
    });
    takeUpgrades({ server, silent, listener: socketsName }, (arrived) => {
      const path = arrived.arrival.head.url.split('?')[0];
      if (path === webrtc.wsPath) context.arrived(arrived);
      else refuseUpgrade(arrived.socket, refusals.not_found);
    });
    const opened: OpenListener = {
      server,
      address: await listen(server, given ?? webrtc.addr),
      connections: () => silent.size + answering,
    };
    return opened;
  },
};

/** One for all listeners of a supervisor: a call that began at one of them may be hung up at another. */
const signalings = new WeakMap<ListenerContext, Signaling>();

/** Answers signaling; for the listener of the page, too, whose calls then need no host but its own. */
export function signalingOf(context: ListenerContext): Signaling {
  const known = signalings.get(context);
  if (known !== undefined) return known;
  const made = new Signaling({
    ...context,
    webrtc: wanted(context.settings),
    refusal: (head) => {
      const nowS = Math.floor(context.wallClock.now() / 1000);
      const admitted = ingressesOf(context.settings).offers.admit(head, nowS);
      return admitted.ok ? undefined : admitted.error;
    },
  });
  signalings.set(context, made);
  return made;
}

function wanted({ webrtc }: ServerSettings): WebrtcSettings {
  assert(webrtc !== undefined, 'the settings ask for WebRTC');
  return webrtc;
}

interface SignalingIngresses {
  readonly offers: CallIngress;
  readonly sockets: CallIngress;
}

/** The two ingresses share what they count; settings are read once. */
const ingresses = new WeakMap<ServerSettings, SignalingIngresses>();

function ingressesOf(settings: ServerSettings): SignalingIngresses {
  const known = ingresses.get(settings);
  if (known !== undefined) return known;
  const gates = newSignalingGates(wanted(settings), () => systemClock.now());
  const common = { pool: { name, most: 2 * settings.maxSessions }, enforcesMaxS: true };
  const made: SignalingIngresses = {
    offers: {
      ...common,
      transport: 'webrtc',
      gate: gates.offers,
      admit: (head, nowS) => admit(head, { nowS, settings, label: name, ways: 'bearer' }),
    },
    sockets: {
      ...common,
      transport: 'websocket',
      gate: gates.sockets,
      admit: (head, nowS) => admit(head, { nowS, settings, label: 'webrtc-ws', ways: 'any' }),
    },
  };
  ingresses.set(settings, made);
  return made;
}

/** Judges credentials, and then the page that asks. */
function admit(
  head: RequestHead,
  options: {
    readonly nowS: number;
    readonly settings: ServerSettings;
    /** The transport as the agent is told of it. */
    readonly label: string;
    readonly ways: 'any' | 'bearer';
  },
): Result<AdmittedRequest, Answer> {
  const { nowS, settings, label, ways } = options;
  const webrtc = wanted(settings);
  const { access } = settings;
  const { verdict, rest } = judgeCredentials(head, {
    staticToken: webrtc.token,
    secrets: access.sessionSecrets,
    audience: 'svc-webrtc',
    nowS,
    ways,
  });
  if (!verdict.ok) return fail(tokenAnswers[verdict.error]);
  const foreign = signalingRefusal(head.headers, { webrtc, access });
  if (foreign !== undefined) return fail(foreign);
  const metadata = { [transportKey]: label };
  if (verdict.value.kind !== 'session') return ok({ metadata, rest });
  const { claims } = verdict.value;
  return ok({ pass: claims, metadata: { ...metadata, ...signedMetadata(claims) }, rest });
}
