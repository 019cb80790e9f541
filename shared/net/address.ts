/**
 * `host:port` texts of listener addresses. An address that parsed can be bound or connected to as it stands; names are
 * not resolved here.
 */
import { fail, ok, type Result } from '../base/result.ts';

export interface HostPort {
  /** A name, an IPv4 address, or an IPv6 address without brackets. */
  readonly host: string;
  /** 0 to 65535; 0 asks the system for a free port. */
  readonly port: number;
}

const hostNamePattern =
  /^(?=.{1,253}$)[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/;

const addressRule = 'must be host:port with a port from 0 to 65535, such as 127.0.0.1:8080 or [::1]:8080';

function isIpv4(text: string): boolean {
  const parts = text.split('.');
  return parts.length === 4 && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) <= 255);
}

function isHost(text: string): boolean {
  const looksNumeric = /^[\d.]+$/.test(text);
  return looksNumeric ? isIpv4(text) : hostNamePattern.test(text);
}

/** Reads `host:port`, `1.2.3.4:port` or `[ipv6]:port`. The error is the rule and never repeats the text. */
export function parseHostPort(text: string): Result<HostPort, string> {
  const bracketed = /^\[([0-9A-Fa-f:.]+)\]:(\d{1,5})$/.exec(text);
  const plain = /^([^:[\]]+):(\d{1,5})$/.exec(text);
  const host = bracketed?.[1] ?? plain?.[1];
  const port = Number(bracketed?.[2] ?? plain?.[2]);
  if (host === undefined || port > 65_535) return fail(addressRule);
  const isKnownShape = bracketed === null ? isHost(host) : URL.canParse(`http://[${host}]/`);
  return isKnownShape ? ok({ host, port }) : fail(addressRule);
}

/** The text that {@link parseHostPort} reads back: IPv6 hosts get their brackets. */
export function formatHostPort(address: HostPort): string {
  const host = address.host.includes(':') ? `[${address.host}]` : address.host;
  return `${host}:${address.port}`;
}

/** Appends a path to a base URL that may or may not end in a slash. */
export function urlUnder(baseUrl: string, path: string): URL {
  return new URL(baseUrl.replace(/\/+$/, '') + path);
}
