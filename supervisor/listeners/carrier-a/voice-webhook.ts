/**
 * The voice webhook of carrier A: a call has come, and the answer says where its audio goes. The form's signature is checked before
 * anything of it is read; numbers in it are neither logged nor passed on.
 */
import type { IncomingMessage } from 'node:http';
import { fail, ok } from '../../../shared/base/result.ts';
import type { Result } from '../../../shared/base/result.ts';
import type { CarrierASettings } from '../../../shared/config/server/carrier-a-variables.ts';
import type { Answer } from '../answer.ts';
import { streamSegment } from './segment.ts';
import { isSigned, signatureHeader, type FormParameters } from './signature.ts';

export const mostFormBytes = 64 * 1024;

const unsigned: Answer = {
  status: 403,
  code: 'bad_signature',
  message: 'the request is not signed by the carrier for this address',
};
const noForm: Answer = {
  status: 400,
  code: 'bad_request',
  message: 'the webhook takes a form that names its call by CallSid',
};

/** `https://` address of the webhook, from the public address of the streams. */
export const voiceUrl = ({ publicUrl }: CarrierASettings): string =>
  publicUrl.replace(/^wss:/, 'https:').replace(/\/stream$/, '/voice');

/** TwiML that connects the call to its media stream, or why there is none. `query` is that of the request, with its question mark. */
export function answerVoice(
  settings: CarrierASettings,
  request: { readonly headers: IncomingMessage['headers']; readonly query: string; readonly body: string },
  nowS: number,
): Result<string, Answer> {
  const parameters: FormParameters = [...new URLSearchParams(request.body)];
  const isOwn = isSigned(request.headers[signatureHeader], {
    url: voiceUrl(settings) + request.query,
    parameters,
    token: settings.authToken.reveal(),
  });
  if (!isOwn) return fail(unsigned);
  const callId = parameters.find(([name]) => name === 'CallSid')?.[1] ?? '';
  const secret = settings.streamSecret?.reveal();
  const segment = secret === undefined ? '' : streamSegment(callId, { secret, nowS });
  if (segment === undefined) return fail(noForm);
  const url = segment === '' ? settings.publicUrl : `${settings.publicUrl}/${segment}`;
  return ok(twiml(url, new URLSearchParams(request.query).get('agent_route') ?? undefined));
}

function twiml(url: string, route: string | undefined): string {
  const parameter =
    route === undefined ? '' : `<Parameter name="agent_route" value="${escaped(route.slice(0, 64))}"/>`;
  const stream = `<Stream url="${escaped(url)}">${parameter}</Stream>`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<Response><Connect>${stream}</Connect></Response>\n`;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};
// Other control characters are no XML at all.
const escaped = (text: string): string =>
  text.replaceAll(/[\p{Cc}]/gu, '').replaceAll(/[&<>"']/g, (char) => entities[char] ?? '');
