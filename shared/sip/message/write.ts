/** Messages to bytes. The values come from a parsed message or from this program: no line break gets in here. Pure. */
import { assert } from '../../base/assert.ts';
import { listOf, type SipHeader, type SipMessage, type SipRequest } from './message.ts';
import { readVia } from './fields.ts';
import { reasonOf } from './statuses.ts';

export type HeaderPair = readonly [name: string, value: string];

export interface MessageBody {
  readonly type: string;
  readonly text: string;
}

export interface Answering {
  readonly status: number;
  readonly reason?: string | undefined;
  /** Tag of this side, where the To header has none. */
  readonly toTag?: string | undefined;
  readonly headers?: readonly HeaderPair[];
  readonly body?: MessageBody;
  /** Short names (RFC 3261, 7.3.3), and no words beside the status. */
  readonly isShort?: boolean;
}

const isClean = (text: string): boolean => !/[\r\n]/.test(text);

function head(first: string, headers: readonly HeaderPair[], body: MessageBody | undefined): Buffer {
  const typed: HeaderPair[] = body === undefined ? [] : [['Content-Type', body.type]];
  return whole(first, [...headers, ...typed], Buffer.from(body?.text ?? '', 'latin1'));
}

function whole(first: string, headers: readonly HeaderPair[], bytes: Buffer): Buffer {
  const all: HeaderPair[] = [...headers, ['Content-Length', String(bytes.length)]];
  return Buffer.concat([written(first, all, ': '), bytes]);
}

function written(first: string, headers: readonly HeaderPair[], colon: string): Buffer {
  assert(isClean(first) && headers.every(([, value]) => isClean(value)), 'a header is one line');
  const text = headers.map(([name, value]) => `${name}${colon}${value}\r\n`).join('');
  return Buffer.from(`${first}\r\n${text}\r\n`, 'latin1');
}

/** Who sent a request, as its connection shows it. */
export interface Source {
  readonly address: string;
  readonly port: number;
}

/** Via as it goes back: with where the request came from (RFC 3261, 18.2.1; RFC 3581, 4). */
function markedVia(value: string, source: Source): string {
  const via = readVia(value);
  if (via === undefined) return value;
  let marked = value;
  if (via.params.has('rport')) {
    marked = marked.replace(/;\s*rport(\s*=\s*\d*)?(?=\s*(;|$))/i, `;rport=${source.port}`);
  }
  if (via.host !== source.address || via.params.has('rport')) {
    marked = marked.replace(/;\s*received\s*=[^;]*/i, '');
    marked += `;received=${source.address}`;
  }
  return marked;
}

/** The answer to a request, as far as it is copied from it (RFC 3261, 8.2.6). */
export function writeAnswer(request: SipRequest, source: Source, answer: Answering): Buffer {
  const { status, reason, toTag, headers = [], body, isShort = false } = answer;
  const copied: HeaderPair[] = listOf(request, 'via').map((via, index) => [
    'Via',
    index === 0 ? markedVia(via, source) : via,
  ]);
  if (status < 300 && request.method === 'INVITE')
    for (const route of listOf(request, 'record-route')) copied.push(['Record-Route', route]);
  for (const [name, shown] of [
    ['from', 'From'],
    ['to', 'To'],
    ['call-id', 'Call-ID'],
    ['cseq', 'CSeq'],
  ] as const) {
    const value = first(request.headers, name);
    if (value === undefined) continue;
    const needsTag = name === 'to' && toTag !== undefined && status > 100 && !/;\s*tag\s*=/i.test(value);
    copied.push([shown, needsTag ? `${value};tag=${toTag}` : value]);
  }
  if (isShort) return written(`SIP/2.0 ${status} `, shortened([...copied, ...headers]), ':');
  return head(`SIP/2.0 ${status} ${reason ?? reasonOf(status)}`, [...copied, ...headers], body);
}

const shortNames: Readonly<Record<string, string>> = { From: 'f', To: 't', 'Call-ID': 'i' };

/** An answer without a body, in no more words than it takes. */
function shortened(headers: readonly HeaderPair[]): HeaderPair[] {
  const vias = headers.flatMap(([name, value]) => (name === 'Via' ? [value] : []));
  const others = headers.filter(([name]) => name !== 'Via');
  return [
    ...(vias.length > 0 ? [['v', vias.join(',')] as const] : []),
    ...others.map(([name, value]): HeaderPair => [shortNames[name] ?? name, value]),
    ['l', '0'],
  ];
}

const first = (headers: readonly SipHeader[], name: string): string | undefined =>
  headers.find((header) => header.name === name)?.value;

export const writeRequest = (
  line: { readonly method: string; readonly uri: string },
  headers: readonly HeaderPair[],
  body?: MessageBody,
): Buffer => head(`${line.method} ${line.uri} SIP/2.0`, headers, body);

/** A message that was read, as it can be read again. */
export function writeMessage(message: SipMessage): Buffer {
  const first =
    message.kind === 'request'
      ? `${message.method} ${message.uri} SIP/2.0`
      : `SIP/2.0 ${message.status} ${message.reason}`;
  const headers = message.headers.filter(({ name }) => name !== 'content-length');
  return whole(
    first,
    headers.map(({ name, value }): HeaderPair => [name, value]),
    message.body,
  );
}
