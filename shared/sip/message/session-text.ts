/**
 * The session description in the body of a message: all of it, or a part among others, such as a caller's place or what the telephone
 * network says of a call (RFC 5621, 3). Pure.
 */
import { headerOf, type SipMessage } from './message.ts';
import { wordOf } from './fields.ts';

/** Undefined where there is none. */
export function sessionText(message: SipMessage): string | undefined {
  const type = wordOf(message, 'content-type');
  const text = message.body.toString('latin1');
  if (text === '') return undefined;
  // A body without a type breaks RFC 3261, 20.15; what begins like a session is meant as one.
  if (type === 'application/sdp' || (type === undefined && /^\s*v=0\s/.test(text))) return text;
  const [, quoted, plain] =
    /;\s*boundary\s*=\s*(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(headerOf(message, 'content-type') ?? '') ??
    [];
  const boundary = quoted ?? plain;
  if (type?.startsWith('multipart/') !== true || boundary === undefined) return undefined;
  for (const part of `\r\n${text}`.split(`\r\n--${boundary}`).slice(1)) {
    const end = part.indexOf('\r\n\r\n');
    if (end >= 0 && /^(?:content-type|c)\s*:\s*application\/sdp\s*(?:;|$)/im.test(part.slice(0, end)))
      return `${part.slice(end + 4)}\r\n`;
  }
  return undefined;
}
