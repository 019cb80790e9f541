/**
 * The voice webhook of Twilio: a call has come, and the answer says where its audio goes. The form's signature is checked before
 * anything of it is read; numbers in it are not logged, and are passed
 * to the stream only where the operator wants that.
 */
import type { IncomingMessage } from 'node:http';
import type { CallFacts } from '../../../shared/agents/choose.ts';
import { chosenKeys } from '../../../shared/agents/chosen.ts';
import { fail, ok, type Result } from '../../../shared/base/result.ts';
import type { TwilioSettings } from '../../../shared/telephony/twilio/variables.ts';
import type { Agents } from '../../agents/agents.ts';
import { refusal, refusals, type Answer } from '../../http/refusals.ts';
import { connectStream, rejectBusy, response } from './twiml.ts';
import { streamSegment } from './segment.ts';
import { isSigned, signatureHeader, type FormParameters } from './signature.ts';

export const mostFormBytes = 64 * 1024;

const noForm = refusal('bad_request', {
  message: 'the webhook takes a form that names its call by CallSid',
});

/** `https://` address of the webhook, from the public address of the streams. */
export const voiceUrl = ({ publicUrl }: TwilioSettings): string =>
  publicUrl.replace(/^wss:/, 'https:').replace(/\/stream$/, '/voice');

/**
 * TwiML that connects the call to its media stream, or why there is none. `query` is that of the request, with its question mark;
 * `shows` says that numbers are passed on, `isClosed` whether the stream would be refused: the call is not answered then.
 */
export function answerVoice(
  settings: TwilioSettings,
  request: { readonly headers: IncomingMessage['headers']; readonly query: string; readonly body: string },
  {
    nowS,
    shows,
    isClosed,
    agents,
  }: {
    readonly nowS: number;
    readonly shows: boolean;
    readonly isClosed: () => boolean;
    readonly agents?: Pick<Agents, 'chosen' | 'keepsRoom'> | undefined;
  },
): Result<string, Answer> {
  const parameters: FormParameters = [...new URLSearchParams(request.body)];
  const isOwn = isSigned(request.headers[signatureHeader], {
    url: voiceUrl(settings) + request.query,
    parameters,
    token: settings.authToken.reveal(),
  });
  if (!isOwn) return fail(refusals.bad_signature);
  const callId = parameters.find(([name]) => name === 'CallSid')?.[1] ?? '';
  const secret = settings.streamSecret?.reveal();
  if (!/^[A-Za-z0-9]{1,64}$/.test(callId)) return fail(noForm);
  const segment = secret === undefined ? '' : streamSegment(callId, { secret, nowS });
  if (segment === undefined) return fail(noForm);
  const chosen = agents?.chosen(calledBy(parameters, callId));
  const hasRoom = agents?.keepsRoom(chosen) !== false;
  if (!hasRoom || isClosed()) return ok(response(rejectBusy));
  const url = segment === '' ? settings.publicUrl : `${settings.publicUrl}/${segment}`;
  const route = new URLSearchParams(request.query).get('agent_route')?.slice(0, 64);
  const given = { agent_route: route, [chosenKeys.parameter]: chosen, ...numbersOf(parameters, shows) };
  return ok(response(connectStream(url, given)));
}

const fieldOf = (form: FormParameters, field: string): string | undefined =>
  form.find(([name]) => name === field)?.[1];

/** What was dialled, and by whom. */
function calledBy(form: FormParameters, callId: string): CallFacts {
  const dialled = fieldOf(form, 'To');
  return { numbers: dialled === undefined ? [] : [dialled], share: fieldOf(form, 'From') ?? callId };
}

/** What the stream is told of caller and called; the carrier itself does not repeat it there. */
function numbersOf(form: FormParameters, shows: boolean): { readonly from?: string; readonly to?: string } {
  const [from, to] = [fieldOf(form, 'From'), fieldOf(form, 'To')];
  if (!shows) return {};
  return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
}
