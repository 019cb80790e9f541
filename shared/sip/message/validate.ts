/** What every request must have before anybody looks at what it wants (RFC 3261, 8.1.1 and 8.2), and the answer where it has not. Pure. */
import { headerOf, isBalanced, listOf, type SipRequest } from './message.ts';
import { headersAt, readCSeq, readNameAddr, readUri, topVia } from './fields.ts';
import { versionFault } from './parse.ts';

export interface Refused {
  readonly status: number;
  readonly reason: string;
}

const bad = (reason: string): Refused => ({ status: 400, reason });

/** Headers of which there is one. */
const single = ['from', 'to', 'call-id', 'cseq', 'max-forwards', 'content-type'];

/** Why a request is refused for its form; `fault` is what the parser found. */
export function requestFault(request: SipRequest, fault: string | undefined): Refused | undefined {
  if (fault === versionFault) return { status: 505, reason: 'Version Not Supported' };
  if (fault !== undefined) return bad('Bad Request');
  for (const name of single)
    if (request.headers.filter((header) => header.name === name).length > 1)
      return bad(`Two ${name} Headers`);
  if (topVia(request) === undefined) return bad('Bad Via');
  for (const name of ['from', 'to'] as const) {
    const value = headerOf(request, name) ?? '';
    const address = isBalanced(value) ? readNameAddr(value) : undefined;
    if (address === undefined || !isDisplay(value)) return bad(name === 'to' ? 'Bad To' : 'Bad From');
  }
  if ((headerOf(request, 'call-id') ?? '') === '') return bad('Missing Call-ID');
  const cseq = readCSeq(request);
  if (cseq === undefined) return bad('Bad CSeq');
  if (cseq.method !== request.method) return bad('CSeq Method Mismatch');
  const forwards = headerOf(request, 'max-forwards');
  if (forwards !== undefined && (!/^\d{1,9}$/.test(forwards) || Number(forwards) > 255))
    return bad('Bad Max-Forwards');
  return uriFault(request.uri) ?? contactFault(request);
}

/** What stands in front of an address is a quoted string or words of token characters. */
function isDisplay(value: string): boolean {
  const open = value.replaceAll(/"(?:[^"\\]|\\.)*"/g, '').indexOf('<');
  if (open < 0) return true;
  const display = value.replaceAll(/"(?:[^"\\]|\\.)*"/g, '').slice(0, open);
  return /^[A-Za-z0-9\-.!%*_+`'~\s\x80-\xff]*$/.test(display);
}

function uriFault(uri: string): Refused | undefined {
  if (uri === '' || /[\s<>]/.test(uri)) return bad('Bad Request-URI');
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(uri)?.[1]?.toLowerCase();
  if (scheme === undefined) return bad('Bad Request-URI');
  if (scheme === 'tel') return undefined;
  if (scheme !== 'sip' && scheme !== 'sips') return { status: 416, reason: 'Unsupported URI Scheme' };
  // Headers inside a Request-URI are an attempt to have them copied (RFC 3261, 19.1.1).
  return readUri(uri) === undefined || headersAt(uri) >= 0 ? bad('Bad Request-URI') : undefined;
}

function contactFault(request: SipRequest): Refused | undefined {
  const contacts = listOf(request, 'contact');
  if (request.method === 'INVITE' && contacts.length !== 1) return bad('One Contact Is Needed');
  if (contacts.some((contact) => contact !== '*' && readNameAddr(contact) === undefined))
    return bad('Bad Contact');
  // Without brackets a question mark would belong to nobody knows what (RFC 3261, 20).
  return contacts.some((contact) => !contact.includes('<') && contact.includes('?'))
    ? bad('Bad Contact')
    : undefined;
}
