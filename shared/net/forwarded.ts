/**
 * The hops that a forwarding header names, client first, as the proxies wrote them. A hop whose address cannot be told
 * (`unknown`, an obfuscated name, nonsense) stays in its place as undefined: it is never skipped, because what stands before
 * it was vouched for by nobody. The caller limits the header (8 KiB of request head).
 */
import { parseIp, type IpBytes } from './cidr.ts';

export const forwardingHeaders = ['x-forwarded-for', 'forwarded', 'x-real-ip'] as const;
export type ForwardingHeader = (typeof forwardingHeaders)[number];

export type Hop = IpBytes | undefined;

/** `value` is the header with repeated lines joined by commas, as Node does. */
export function readHops(header: ForwardingHeader, value: string): readonly Hop[] {
  switch (header) {
    case 'x-forwarded-for':
      return listEntries(value).map(parseNode);
    case 'forwarded':
      return readForwarded(value);
    case 'x-real-ip':
      // A list, or a header that came twice, is ignored (docs/tokens.md, Behind a proxy).
      return value.includes(',') ? [] : listEntries(value).map(parseNode);
  }
}

/** Empty entries of a list mean nothing in HTTP. */
const listEntries = (value: string): string[] =>
  value
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');

/** An address, alone or with a port: `1.2.3.4`, `1.2.3.4:80`, `2001:db8::1`, `[2001:db8::1]`, `[2001:db8::1]:80`. */
function parseNode(text: string): Hop {
  const [, bracketed, ipv4] =
    /^(?:\[([0-9A-Fa-f:.]+)\]|(\d+\.\d+\.\d+\.\d+))(?::(?:\d{1,5}|_[\w.-]{1,64}))?$/.exec(text) ?? [];
  if (bracketed !== undefined) return bracketed.includes(':') ? parseIp(bracketed) : undefined;
  return parseIp(ipv4 ?? text);
}

const parameter = /[ \t]*([!#$%&'*+.^_`|~\w-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s",;]+))[ \t]*/y;

/**
 * RFC 7239. A header that breaks the grammar anywhere names one hop without address: a quote that a client left open may
 * swallow what the proxies wrote, so no part of such a header can be trusted.
 */
function readForwarded(value: string): readonly Hop[] {
  const hops: Hop[] = [];
  let at = 0;
  while (at < value.length) {
    const element = readElement(value, at);
    if (element === undefined) return [undefined];
    if (!element.isEmpty) hops.push(element.hop);
    at = element.next;
  }
  return hops;
}

interface Element {
  readonly hop: Hop;
  readonly isEmpty: boolean;
  /** Where the next element begins. */
  readonly next: number;
}

function readElement(value: string, start: number): Element | undefined {
  const fields = new Map<string, string>();
  let at = start;
  for (;;) {
    parameter.lastIndex = at;
    const [text, name, quoted, plain] = parameter.exec(value) ?? [];
    if (text !== undefined && name !== undefined) {
      const key = name.toLowerCase();
      if (fields.has(key)) return undefined;
      fields.set(key, quoted?.replace(/\\(.)/g, '$1') ?? plain ?? '');
      at += text.length;
    } else {
      while (value[at] === ' ' || value[at] === '\t') at += 1;
    }
    if (value[at] === ';') {
      at += 1;
      continue;
    }
    if (at < value.length && value[at] !== ',') return undefined;
    return { hop: parseNode(fields.get('for') ?? ''), isEmpty: fields.size === 0, next: at + 1 };
  }
}
