/**
 * The listener of Telnyx: webhooks, by which the service answers calls and asks for their streams, and the media streams. A stream
 * brings the token that the carrier was given, and its path was made for one call. Where the operator opens streams without the service
 * there is the token alone. Off loopback nothing opens without a token.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CallFacts } from '../../../shared/agents/choose.ts';
import { isSameSecret } from '../../../shared/auth/same-secret.ts';
import { assert } from '../../../shared/base/assert.ts';
import { fail, ok, type Result } from '../../../shared/base/result.ts';
import type { TelnyxSettings } from '../../../shared/telephony/telnyx/variables.ts';
import type { ServerSettings } from '../../../shared/config/server/server.ts';
import { carrierKeys } from '../../../shared/telephony/twilio/protocol.ts';
import type { RequestHead } from '../../admission/credentials.ts';
import { CarrierRefusals } from '../refusals.ts';
import { readSegment } from '../twilio/segment.ts';
import type { AdmittedRequest } from '../../listeners/ingress.ts';
import type { Listener } from '../../listeners/listener.ts';
import { answerHeaders } from '../../http/answer.ts';
import { onlyBy, refusal, refusals, type Answer } from '../../http/refusals.ts';
import { listen, newGuardedServer, takeUpgrades } from '../../listeners/listeners.ts';
import { passOn } from '../../listeners/pass-on.ts';
import { readBody } from '../../http/request-body.ts';
import { textAt } from '../rest.ts';
import { TelnyxEvents, isSignedByB, publicKeyOf, type TelnyxEvent } from './webhook.ts';

const name = 'carrier_b';
const streamPath = '/carrier_b/stream';
const webhookPath = '/carrier_b/webhook';
const tokenHeader = 'x-telnyx-streaming-auth-token';
const mostBodyBytes = 256 * 1024;

const unreadable = refusal('bad_request', { message: 'the body is no event' });
const unsigned = refusal('bad_signature', {
  message: 'the request is not signed by the carrier, or not of these minutes',
});

export const telnyxListener: Listener = {
  name,
  variable: 'SVC_CARRIER_B_ADDR',
  isWanted: ({ telnyx }) => telnyx !== undefined,
  ingress: (settings) => ({
    transport: 'carrier_b',
    pool: { name, most: 2 * settings.maxSessions },
    admit: (head, nowS) =>
      admitStreamB(wanted(settings), head, { nowS, shows: !settings.telephony.redactsNumbers }),
  }),
  open: async ({ settings, arrived, closed, wallClock, telephony, agents, log }, { given, isLeaving }) => {
    const own = wanted(settings);
    const events = new TelnyxEvents();
    const told = new CarrierRefusals({ log, wallClock });
    const key = own.control === undefined ? undefined : publicKeyOf(own.control.publicKey);
    const take = (body: Buffer, headers: IncomingMessage['headers'], query: string): Answer | undefined => {
      const nowS = wallClock.now() / 1000;
      if (key === undefined) return refusals.not_found;
      if (!isSignedByB(headers, body, { key, nowS })) return unsigned;
      const event = events.read(body);
      if (event === 'unreadable') return unreadable;
      if (event !== undefined) tell(event, query);
      return undefined;
    };
    const tell = (event: TelnyxEvent, query: string): void => {
      const chosen = agents?.chosen(calledBy(event));
      void telephony.telnyxTold(event, {
        route: new URLSearchParams(query).get('agent_route') ?? undefined,
        chosen,
        isClosed: () => agents?.keepsRoom(chosen) === false || closed(name) !== undefined,
      });
    };
    let answering = 0;
    const { server, silent } = newGuardedServer((request, response) => {
      answering += 1;
      response.once('close', () => (answering -= 1));
      if (isLeaving()) passOn(request, response, address);
      else serve({ request, response, refuse: (answer) => told.answer(name, response, answer), take });
    });
    takeUpgrades({ server, silent, listener: name }, arrived);
    const address = await listen(server, given ?? own.addr);
    return { server, address, connections: () => silent.size + answering };
  },
};

/** What was dialled, and by whom, where the event says so. */
function calledBy({ payload }: TelnyxEvent): CallFacts {
  const [dialled, from, call] = ['to', 'from', 'call_control_id'].map((field) => textAt(payload, field));
  return { numbers: dialled === undefined ? [] : [dialled], share: from === '' ? call : from };
}

function wanted({ telnyx }: ServerSettings): TelnyxSettings {
  assert(telnyx !== undefined, 'the settings ask for carrier B');
  return telnyx;
}

/** Judges the upgrade of a media stream by its path and its token. */
function admitStreamB(
  { streamToken, control }: TelnyxSettings,
  head: RequestHead,
  { nowS, shows }: { readonly nowS: number; readonly shows: boolean },
): Result<AdmittedRequest, Answer> {
  const [path = ''] = head.url.split('?');
  const at = path.indexOf(streamPath);
  const rest = path.slice(at + streamPath.length);
  if (at < 0 || (rest !== '' && !rest.startsWith('/'))) return fail(refusals.not_found);
  const given = head.headers[tokenHeader];
  const token = streamToken?.reveal();
  if (token !== undefined && (typeof given !== 'string' || !isSameSecret(given, token)))
    return fail(refusals.bad_token);
  const common = { [carrierKeys.transport]: name, ...(shows && { [carrierKeys.numbers]: 'shown' }) };
  const headers = Object.fromEntries(Object.entries(head.headers).filter(([key]) => key !== tokenHeader));
  const bare = { url: streamPath, headers };
  // The operator opens the streams of such calls, wherever they lead.
  if (control === undefined) return ok({ metadata: common, rest: () => bare });
  const pass = token === undefined ? undefined : readSegment(rest.slice(1), { secret: token, nowS });
  if (pass === undefined) return fail(refusals.bad_segment);
  const { id, callId, expS } = pass;
  return ok({
    pass: { sid: id, expS, isVouchedFor: true },
    metadata: { ...common, [carrierKeys.callId]: Buffer.from(callId, 'base64url').toString() },
    rest: () => bare,
  });
}

interface Served {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly refuse: (answer: Answer) => void;
  readonly take: (body: Buffer, headers: IncomingMessage['headers'], query: string) => Answer | undefined;
}

function serve({ request, response, refuse, take }: Served): void {
  const [path = '', query = ''] = (request.url ?? '/').split('?');
  if (path !== webhookPath) {
    refuse(refusals.not_found);
    return;
  }
  if (request.method !== 'POST') {
    refuse(onlyBy('POST'));
    return;
  }
  readBody(request, mostBodyBytes, (body) => {
    const refused = body === undefined ? refusals.too_large : take(body, request.headers, query);
    if (refused === undefined) response.writeHead(200, answerHeaders('')).end();
    else refuse(refused);
  });
}
