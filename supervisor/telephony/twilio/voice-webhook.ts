/**
 * The voice webhook of Twilio: a call has come, and the answer says where its audio goes. The form's signature is checked before
 * anything of it is read; numbers in it are not logged, and are passed
 * to the stream only where the operator wants that.
 */
import type { IncomingMessage } from 'node:http';
import { fail, ok, type Result } from '../../../shared/base/result.ts';
import type { TwilioSettings } from '../../../shared/telephony/twilio/variables.ts';
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
  }: { readonly nowS: number; readonly shows: boolean; readonly isClosed: () => boolean },
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
  if (isClosed()) return ok(response(rejectBusy));
  const url = segment === '' ? settings.publicUrl : `${settings.publicUrl}/${segment}`;
  const route = new URLSearchParams(request.query).get('agent_route')?.slice(0, 64);
  return ok(response(connectStream(url, { agent_route: route, ...numbersOf(parameters, shows) })));
}

/** What the stream is told of caller and called; the carrier itself does not repeat it there. */
function numbersOf(form: FormParameters, shows: boolean): { readonly from?: string; readonly to?: string } {
  const number = (field: string): string | undefined => form.find(([name]) => name === field)?.[1];
  const [from, to] = [number('From'), number('To')];
  if (!shows) return {};
  return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
}
