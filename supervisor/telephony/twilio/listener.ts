/**
 * The listener of Twilio: the voice webhook and the media streams that it leads to. A stream is let in by two proofs: the
 * carrier's signature over the whole public address, and the segment that was made for this one call.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { assert } from '../../../shared/base/assert.ts';
import { fail, ok, type Result } from '../../../shared/base/result.ts';
import type { TwilioSettings } from '../../../shared/telephony/twilio/variables.ts';
import type { ServerSettings } from '../../../shared/config/server/server.ts';
import { carrierKeys } from '../../../shared/telephony/twilio/protocol.ts';
import type { Agents } from '../../agents/agents.ts';
import type { RequestHead } from '../../admission/credentials.ts';
import { CarrierRefusals } from '../refusals.ts';
import type { AdmittedRequest } from '../../listeners/ingress.ts';
import type { Listener } from '../../listeners/listener.ts';
import { answerHeaders } from '../../http/answer.ts';
import { onlyBy, refusal, refusals, type Answer } from '../../http/refusals.ts';
import { listen, newGuardedServer, takeUpgrades, type OpenListener } from '../../listeners/listeners.ts';
import { passOn } from '../../listeners/pass-on.ts';
import { response as twimlOf } from './twiml.ts';
import type { FleetTelephony } from '../fleet-telephony.ts';
import { outboundEnded, statusEvent, statusPath, type StatusPath } from './status.ts';
import { readBody } from '../../http/request-body.ts';
import { readSegment } from './segment.ts';
import { isSigned, signatureHeader, type FormParameters } from './signature.ts';
import { answerVoice, mostFormBytes, voiceUrl } from './voice-webhook.ts';

const name = 'carrier_a';

const formTooLarge = refusal('too_large', { message: 'the form is too large' });

export const twilioListener: Listener = {
  name,
  variable: 'SVC_CARRIER_A_ADDR',
  isWanted: ({ twilio }) => twilio !== undefined,
  ingress: (settings) => ({
    transport: 'carrier_a',
    pool: { name, most: 2 * settings.maxSessions },
    admit: (head, nowS) => admitStream(wanted(settings), head, nowS),
  }),
  open: async ({ settings, arrived, closed, wallClock, telephony, agents, log }, { given, isLeaving }) => {
    const own = wanted(settings);
    const told = new CarrierRefusals({ log, wallClock });
    let answering = 0;
    const { server, silent } = newGuardedServer((request, response) => {
      answering += 1;
      response.once('close', () => (answering -= 1));
      if (isLeaving()) {
        passOn(request, response, address);
        return;
      }
      const shows = !settings.telephony.redactsNumbers;
      const isClosed = (): boolean => closed(name) !== undefined;
      const refuse = (answer: Answer): void => told.answer(name, response, answer);
      const nowS = (): number => wallClock.now() / 1000;
      serve(own, { request, response, refuse, nowS, shows, isClosed, agents, telephony });
    });
    takeUpgrades({ server, silent, listener: name }, arrived);
    const address = await listen(server, given ?? own.addr);
    const opened: OpenListener = { server, address, connections: () => silent.size + answering };
    return opened;
  },
};

function wanted({ twilio }: ServerSettings): TwilioSettings {
  assert(twilio !== undefined, 'the settings ask for carrier A');
  return twilio;
}

/** Judges the upgrade of a media stream by its path, its signature and its segment. */
export function admitStream(
  settings: TwilioSettings,
  head: RequestHead,
  nowS: number,
): Result<AdmittedRequest, Answer> {
  const { publicUrl, streamSecret, authToken } = settings;
  const path = new URL(publicUrl).pathname;
  // A query would be part of what is signed, and the carrier sends none.
  if (head.url !== path && !head.url.startsWith(`${path}/`)) return fail(refusals.not_found);
  const rest = head.url.slice(path.length);
  if (!isSigned(head.headers[signatureHeader], { url: publicUrl + rest, token: authToken.reveal() }))
    return fail(refusals.bad_signature);
  const common = { [carrierKeys.transport]: name };
  if (rest === '' && settings.allowsStaticUrl) return ok({ metadata: common, rest: () => head });
  const pass =
    streamSecret === undefined
      ? undefined
      : readSegment(rest.slice(1), { secret: streamSecret.reveal(), nowS });
  if (pass === undefined) return fail(refusals.bad_segment);
  const { id, callId, expS } = pass;
  return ok({
    pass: { sid: id, expS, isVouchedFor: true },
    metadata: { ...common, [carrierKeys.callId]: callId },
    rest: () => ({ url: path, headers: head.headers }),
  });
}

interface Served {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly refuse: (answer: Answer) => void;
  readonly nowS: () => number;
  /** Numbers are passed on. */
  readonly shows: boolean;
  /** A call cannot be taken now. */
  readonly isClosed: () => boolean;
  readonly agents: Pick<Agents, 'chosen' | 'keepsRoom'> | undefined;
  readonly telephony: FleetTelephony;
}

function serve(
  settings: TwilioSettings,
  { request, response, refuse, nowS, shows, isClosed, agents, telephony }: Served,
): void {
  const [path = '', query] = (request.url ?? '/').split('?');
  const status = statusPath(path);
  if (status !== undefined && request.method === 'POST') {
    takeStatus(settings, { request, response, refuse, telephony, status });
    return;
  }
  if (path !== new URL(voiceUrl(settings)).pathname) {
    refuse(refusals.not_found);
    return;
  }
  if (request.method !== 'POST') {
    refuse(onlyBy('POST'));
    return;
  }
  readBody(request, mostFormBytes, (bytes) => {
    const body = bytes?.toString('utf8');
    if (body === undefined) {
      refuse(formTooLarge);
      return;
    }
    const { headers } = request;
    const answer = answerVoice(
      settings,
      { headers, query: query === undefined ? '' : `?${query}`, body },
      { nowS: nowS(), shows, isClosed, agents },
    );
    if (answer.ok)
      response
        .writeHead(200, { ...answerHeaders(answer.value), 'Content-Type': 'text/xml' })
        .end(answer.value);
    else refuse(answer.error);
  });
}

/** What the carrier tells of a transfer; instructions that are asked for are empty, so that the call ends. */
function takeStatus(
  settings: TwilioSettings,
  given: Pick<Served, 'request' | 'response' | 'refuse' | 'telephony'> & { readonly status: StatusPath },
): void {
  const { request, response, refuse, telephony, status } = given;
  readBody(request, mostFormBytes, (bytes) => {
    const parameters = [...new URLSearchParams(bytes?.toString('utf8') ?? '')];
    const url = new URL(voiceUrl(settings)).origin + (request.url ?? '');
    const { headers } = request;
    const isOwn = isSigned(headers[signatureHeader], { url, parameters, token: settings.authToken.reveal() });
    if (bytes === undefined || !isOwn) {
      refuse(bytes === undefined ? formTooLarge : refusals.bad_signature);
      return;
    }
    void toldOf(status, parameters, telephony).then((body) =>
      response.writeHead(200, { ...answerHeaders(body), 'Content-Type': 'text/xml' }).end(body),
    );
  });
}

/** Passes on what is told, and asks what to do with a call; of the others nothing is asked, or the call shall end. */
async function toldOf(status: StatusPath, form: FormParameters, telephony: FleetTelephony): Promise<string> {
  const { kind, handle } = status;
  const event = statusEvent(status, form);
  if (event !== undefined) await telephony.twilioTold(handle, event);
  const ended = kind === 'call' ? outboundEnded(form) : undefined;
  if (ended !== undefined) await telephony.outboundTold(handle, ended);
  if (kind === 'answered') return await telephony.twilioAnswered(handle, form);
  return kind === 'dialled' ? await telephony.twilioDialled(handle, form) : twimlOf();
}
