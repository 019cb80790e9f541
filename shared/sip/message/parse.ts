/**
 * Bytes to messages. Lenient where trunks are sloppy and the meaning is plain (bare line feeds, octets behind the body of a datagram),
 * strict where two readers could understand two things. An unreadable message has no headers to answer with and is an error; what
 * can be read and breaks a rule is judged in validate.ts. Pure.
 */
import { fail, ok, type Result } from '../../base/result.ts';
import type { SipHeader, SipMessage } from './message.ts';

/** Most bytes of a start line with its headers. */
export const mostHeadBytes = 16 * 1024;
export const mostBodyBytes = 32 * 1024;
/** Most header lines. */
const mostHeaders = 128;

/** Short forms of names (RFC 3261, 7.3.3, and the extensions that trunks use). */
const longForms: Readonly<Record<string, string>> = {
  a: 'accept-contact',
  b: 'referred-by',
  c: 'content-type',
  d: 'request-disposition',
  e: 'content-encoding',
  f: 'from',
  i: 'call-id',
  j: 'reject-contact',
  k: 'supported',
  l: 'content-length',
  m: 'contact',
  n: 'identity-info',
  o: 'event',
  r: 'refer-to',
  s: 'subject',
  t: 'to',
  u: 'allow-events',
  v: 'via',
  x: 'session-expires',
  y: 'identity',
};

const token = /^[A-Za-z0-9\-.!%*_+`'~]+$/;

/** A message, and how its body's length was given. */
export interface Parsed {
  readonly message: SipMessage;
  /** What is wrong with its form; a request with one is answered by 400, a response is dropped. */
  readonly fault?: string;
}

/** Reads the head of a message, without its body. */
export function parseHead(text: string): Result<Parsed, string> {
  const lines = unfold(text);
  if (lines[0]?.includes('\r') === true) return fail('the start line holds a carriage return');
  const first = lines.shift();
  if (first === undefined) return fail('there is no start line');
  // Alone it ends a line for some readers and not for others.
  if (lines.some((line) => line.includes('\r'))) return fail('a line holds a carriage return');
  if (lines.length > mostHeaders) return fail('there are too many headers');
  const headers: SipHeader[] = [];
  let fault: string | undefined;
  for (const line of lines) {
    const header = readHeader(line);
    if (header === undefined) fault ??= 'a header line has no name and value';
    else headers.push(header);
  }
  const start = startLine(first);
  if (start === undefined) return fail('the first line is no start line');
  const message = { ...start.message, headers, body: Buffer.alloc(0) };
  const wrong = start.fault ?? fault;
  return ok({ message, ...(wrong !== undefined && { fault: wrong }) });
}

/** Lines, with those that begin by white space joined to the one before. */
function unfold(text: string): string[] {
  const lines: string[] = [];
  for (const raw of text.split('\n')) {
    const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
    const last = lines.length - 1;
    if (lines.length > 1 && /^[ \t]/.test(line)) lines[last] = `${lines[last] ?? ''} ${line.trim()}`;
    else if (line !== '') lines.push(line);
  }
  return lines;
}

function readHeader(line: string): SipHeader | undefined {
  const colon = line.indexOf(':');
  const name = line.slice(0, Math.max(0, colon)).trimEnd().toLowerCase();
  if (!token.test(name)) return undefined;
  return { name: longForms[name] ?? name, value: line.slice(colon + 1).trim() };
}

type Start =
  | { readonly kind: 'request'; readonly method: string; readonly uri: string }
  | { readonly kind: 'response'; readonly status: number; readonly reason: string };

function startLine(line: string): { readonly message: Start; readonly fault?: string } | undefined {
  const [, code, reason = ''] = /^SIP\/2\.0 (\d{3}) ?(.*)$/i.exec(line) ?? [];
  if (code !== undefined) return { message: { kind: 'response', status: Number(code), reason } };
  const [, method = '', gap = '', uri = '', rest = '', version = ''] =
    /^(\S+)( +)(.*?)( +)(SIP\/\d+\.\d+ *)$/i.exec(line) ?? [];
  if (!token.test(method)) return undefined;
  const message: Start = { kind: 'request', method, uri: uri.trim() };
  if (version.trimEnd().toUpperCase() !== 'SIP/2.0') return { message, fault: versionFault };
  if (gap !== ' ' || rest !== ' ' || version !== version.trimEnd())
    return { message, fault: 'the parts of the request line must be separated by one space' };
  return { message };
}

/** The one fault of form that has a status of its own (505). */
export const versionFault = 'the version must be SIP/2.0';

/** Length that a message gives for its body: undefined without one, a fault for one that is no number or several. */
export function bodyLength(message: SipMessage): Result<number | undefined, string> {
  const lengths = message.headers.filter(({ name }) => name === 'content-length').map(({ value }) => value);
  const [first] = lengths;
  if (first === undefined) return ok(undefined);
  if (!/^\d{1,9}$/.test(first)) return fail('Content-Length must be a number');
  return lengths.every((one) => one === first) ? ok(Number(first)) : fail('there are two Content-Lengths');
}

/** Where the head ends: the index of the first byte of the body, or -1 where the head is not whole. */
export function bodyAt(bytes: Buffer): number {
  const crlf = bytes.indexOf('\r\n\r\n', 0, 'latin1');
  const lf = bytes.indexOf('\n\n', 0, 'latin1');
  if (crlf < 0 && lf < 0) return -1;
  if (crlf >= 0 && (lf < 0 || crlf < lf)) return crlf + 4;
  return lf + 2;
}

/** Reads one datagram: it holds one message, and octets behind its body do not count (RFC 3261, 18.3). */
export function parseDatagram(bytes: Buffer): Result<Parsed, string> {
  const found = bodyAt(bytes);
  const at = found < 0 ? bytes.length : found;
  if (at > mostHeadBytes) return fail('the head is too long');
  const parsed = parseHead(bytes.toString('latin1', 0, at));
  if (!parsed.ok) return parsed;
  const { message, fault } = parsed.value;
  const length = bodyLength(message);
  const rest = bytes.subarray(at);
  if (!length.ok) return ok({ message, fault: fault ?? length.error });
  const wanted = length.value ?? rest.length;
  if (wanted > rest.length) return ok({ message, fault: fault ?? 'the body is shorter than Content-Length' });
  const body = Buffer.from(rest.subarray(0, wanted));
  return ok({ message: { ...message, body }, ...(fault !== undefined && { fault }) });
}
