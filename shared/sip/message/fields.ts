/**
 * The fields that decisions are made on: addresses, Via, CSeq, parameters (RFC 3261, 20 and 25). Undefined stands for a text that cannot be read. Pure.
 */
import { headerOf, listOf, splitParams, type SipMessage } from './message.ts';

export type Params = ReadonlyMap<string, string>;

/** `;name=value` parts, names in lower case, values without quotes; one without value has the empty text. */
export function paramsOf(parts: readonly string[]): Params {
  const params = new Map<string, string>();
  for (const part of parts) {
    const [name = '', ...rest] = part.split('=');
    const value = rest.join('=').trim();
    if (name.trim() !== '') params.set(name.trim().toLowerCase(), unquoted(value));
  }
  return params;
}

const unquoted = (value: string): string =>
  value.length > 1 && value.startsWith('"') && value.endsWith('"')
    ? value.slice(1, -1).replaceAll(/\\(.)/g, '$1')
    : value;

/** `"Name" <uri>;params` or `uri;params`. */
export interface NameAddr {
  readonly display: string;
  readonly uri: string;
  readonly params: Params;
}

export function readNameAddr(value: string): NameAddr | undefined {
  const quoted = /^\s*("(?:[^"\\]|\\.)*")?\s*/.exec(value)?.[0] ?? '';
  const open = value.indexOf('<', quoted.length);
  if (open < 0) {
    const [uri = '', ...rest] = splitParams(value);
    return uri !== '' && !/\s/.test(uri) ? { display: '', uri, params: paramsOf(rest) } : undefined;
  }
  const close = value.indexOf('>', open);
  if (close < 0) return undefined;
  const uri = value.slice(open + 1, close);
  if (uri === '' || /[\s<]/.test(uri)) return undefined;
  const display = unquoted(value.slice(0, open).trim());
  const [, ...rest] = splitParams(value.slice(close + 1));
  return { display, uri, params: paramsOf(rest) };
}

/** A `sip:` or `sips:` address (RFC 3261, 19.1). */
export interface SipUri {
  readonly scheme: 'sip' | 'sips';
  readonly user: string;
  /** Without brackets, in lower case. */
  readonly host: string;
  readonly port: number | undefined;
  readonly params: Params;
}

export function readUri(text: string): SipUri | undefined {
  const [, scheme = '', rest = ''] = /^(sips?):(.+)$/i.exec(text) ?? [];
  if (scheme === '' || /[\s<>"]/.test(rest)) return undefined;
  const headers = headersAt(rest);
  const base = headers < 0 ? rest : rest.slice(0, headers);
  const at = base.lastIndexOf('@');
  const user = at < 0 ? '' : (base.slice(0, at).split(':')[0] ?? '');
  const [address = '', ...params] = base.slice(at + 1).split(';');
  const [, v6, name, digits] = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::(\d{1,5}))?$/i.exec(address) ?? [];
  const host = v6 ?? name;
  const port = digits === undefined ? undefined : Number(digits);
  if (host === undefined || (port ?? 0) > 65_535) return undefined;
  const isSecure = scheme.toLowerCase() === 'sips';
  return {
    scheme: isSecure ? 'sips' : 'sip',
    user: decoded(user),
    host: host.toLowerCase(),
    port,
    params: paramsOf(params),
  };
}

/** Where the headers of an address begin, or -1: a question mark in the user part is one of its characters. */
export const headersAt = (uri: string): number => uri.indexOf('?', uri.indexOf('@') + 1);

/** Percent escapes of a user part; a text that is no escape stays as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export interface Via {
  readonly protocol: string;
  /** Without brackets. */
  readonly host: string;
  readonly port: number | undefined;
  readonly params: Params;
}

export function readVia(value: string): Via | undefined {
  const [sentBy = '', ...params] = splitParams(value);
  const [, protocol, v6, name, digits] =
    /^SIP\s*\/\s*2\.0\s*\/\s*([A-Za-z0-9-]+)\s+(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+))\s*(?::\s*(\d{1,5}))?$/i.exec(
      sentBy,
    ) ?? [];
  const host = v6 ?? name;
  if (protocol === undefined || host === undefined || Number(digits ?? 0) > 65_535) return undefined;
  return {
    protocol: protocol.toUpperCase(),
    host,
    port: digits === undefined ? undefined : Number(digits),
    params: paramsOf(params),
  };
}

/** The Via of the peer that sent the message. */
export function topVia(message: SipMessage): Via | undefined {
  const [first] = listOf(message, 'via');
  return first === undefined ? undefined : readVia(first);
}

export interface CSeq {
  readonly number: number;
  readonly method: string;
}

export function readCSeq(message: SipMessage): CSeq | undefined {
  const [, digits, method] = /^(\d{1,20})\s+(\S+)$/.exec(headerOf(message, 'cseq') ?? '') ?? [];
  const number = Number(digits);
  return method === undefined || number >= 2 ** 31 ? undefined : { number, method };
}

export function tagOf(message: SipMessage, name: 'from' | 'to'): string | undefined {
  const address = readNameAddr(headerOf(message, name) ?? '');
  return address?.params.get('tag');
}

/** What a header says in front of its first parameter, in lower case: a media type, a scheme, a unit. */
export const wordOf = (message: SipMessage, name: string): string | undefined =>
  headerOf(message, name)?.split(';', 1)[0]?.trim().toLowerCase();
