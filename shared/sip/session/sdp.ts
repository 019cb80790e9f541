/**
 * What a peer offers, read out of its session description (RFC 4566, 3264, 4568): each audio stream that this side could have.
 * Everything that is kept was checked here, for the library checks nothing. Pure.
 */
import { parse, type MediaDescription, type SessionDescription } from 'sdp-transform';
import { parseIp } from '../../net/cidr.ts';
import { isSrtpSuite, sipClockRate, sipCodecs, srtpSuites, type SipCodec, type SrtpSuite } from '../calls.ts';

export interface OfferedCodec {
  readonly codec: SipCodec;
  readonly payloadType: number;
}

export interface OfferedKey {
  readonly tag: number;
  readonly suite: SrtpSuite;
  /** Master key and salt, base64. */
  readonly key: string;
  /** Bytes of its name, which the peer puts into every packet (RFC 4568, 6.1). */
  readonly mkiBytes?: number;
}

export type Direction = 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive';

export interface SessionOffer {
  /** What all streams are called, so that each gets its line in the answer. */
  readonly streams: readonly {
    readonly type: string;
    readonly protocol: string;
    readonly payloads: string;
  }[];
  /** The streams of audio over RTP; there is one at least. */
  readonly audio: readonly AudioOffer[];
}

export interface AudioOffer {
  /** Its place among all streams. */
  readonly at: number;
  readonly protocol: string;
  readonly codecs: readonly OfferedCodec[];
  /** Payload types of keys by clock rate. */
  readonly dtmf: ReadonlyMap<number, number>;
  /** The peer wants nothing sent for now, as it was said before there were words for it (0.0.0.0). */
  readonly isHeld: boolean;
  /** Absent: the peer has named a host and no address, and is known once its audio comes. */
  readonly remote: { readonly address: string; readonly port: number; readonly rtcpPort: number } | undefined;
  readonly rtcpMux: boolean;
  readonly direction: Direction;
  readonly keys: readonly OfferedKey[];
}

/** The peer offers SRTP, whatever it calls its profile. */
export const isSecure = ({ protocol }: AudioOffer): boolean => protocol.toUpperCase().includes('SAVP');

const profiles = ['RTP/AVP', 'RTP/AVPF', 'RTP/SAVP', 'RTP/SAVPF'];

/** Payload types that need no mapping (RFC 3551). */
const staticTypes: Readonly<Record<number, string>> = { 0: 'PCMU', 8: 'PCMA', 9: 'G722' };

/** Streams beyond this are nobody's phone. */
const mostStreams = 16;

/** Undefined where the text is no session, or none with audio that this side could have. */
export function readSession(text: string): SessionOffer | undefined {
  try {
    return sessionOf(text);
  } catch {
    // The library makes numbers of what its types call texts, wherever a peer writes one.
    return undefined;
  }
}

function sessionOf(text: string): SessionOffer | undefined {
  const lines = sdpLines(text);
  if (lines[0] !== 'v=0') return undefined;
  const streams = mediaLines(lines);
  if (streams.length > mostStreams) return undefined;
  const session = parse(lines.join('\r\n'));
  const audio = streams.flatMap((line, at) => {
    const media = session.media[at];
    return media !== undefined && isAudio(line) ? [audioOf({ session, media, line, at })] : [];
  });
  if (audio.length === 0) return undefined;
  return { streams: streams.map(mirrored), audio };
}

/** As it stands in an answer that does not take the stream. */
const mirrored = ({ type, protocol, payloads }: MediaLine): SessionOffer['streams'][number] => ({
  type: word(type),
  protocol: word(protocol) || 'RTP/AVP',
  payloads: payloads.map(word).join(' ') || '0',
});

interface Described {
  readonly session: SessionDescription;
  readonly media: MediaDescription;
  readonly line: MediaLine;
  readonly at: number;
}

function audioOf(described: Described): AudioOffer {
  const { session, media, line, at } = described;
  const payloads = payloadsOf(line);
  return {
    at,
    protocol: word(line.protocol),
    codecs: codecsOf(media, payloads),
    dtmf: keysOf(media, payloads),
    isHeld: parseIp(addressOf(described))?.every((byte) => byte === 0) === true,
    remote: remoteOf(described),
    rtcpMux: media.rtcpMux !== undefined,
    direction: directionOf(session, media),
    keys: cryptoOf(media),
  };
}

/** What the library's types call a text, and may be a number. */
const asText = (value: unknown): string => String(value);

const word = (text: string): string => text.replaceAll(/[^\w./*-]/g, '');

const isAudio = ({ type, port, protocol }: MediaLine): boolean =>
  type === 'audio' && port > 0 && port <= 65_535 && profiles.includes(protocol.toUpperCase());

const payloadsOf = ({ payloads }: MediaLine): readonly number[] =>
  payloads
    .filter((text) => /^\d{1,3}$/.test(text))
    .map(Number)
    .filter((type) => type <= 127)
    .slice(0, 64);

function codecsOf({ rtp }: MediaDescription, payloads: readonly number[]): OfferedCodec[] {
  const found: OfferedCodec[] = [];
  for (const payloadType of payloads) {
    const mapping = rtp.find(({ payload }) => payload === payloadType);
    const name = asText(mapping?.codec ?? staticTypes[payloadType] ?? '').toUpperCase();
    const codec = sipCodecs.find((known) => known.toUpperCase() === name);
    // Opus is always said to have two, and what it has stands in each packet (RFC 7587, 7).
    const isUsual = codec === 'opus' || (mapping?.encoding ?? 1) === 1;
    // G.722 samples at 16 kHz, and many write that for its clock (RFC 3551, 4.5.2).
    const isClock = mapping?.rate === 16_000 && codec === 'G722';
    if (codec !== undefined && isUsual && (isClock || (mapping?.rate ?? 8_000) === sipClockRate(codec)))
      found.push({ codec, payloadType });
  }
  return found;
}

function keysOf({ rtp }: MediaDescription, payloads: readonly number[]): ReadonlyMap<number, number> {
  const found = new Map<number, number>();
  for (const { payload, codec, rate } of rtp)
    if (
      asText(codec).toLowerCase() === 'telephone-event' &&
      payloads.includes(payload) &&
      !found.has(rate ?? 8_000)
    )
      found.set(rate ?? 8_000, payload);
  return found;
}

const addressOf = ({ session, media }: Described): string =>
  asText((media.connection ?? session.connection)?.ip ?? '');

function remoteOf(described: Described): AudioOffer['remote'] {
  const { rtcp, rtcpMux } = described.media;
  const { port } = described.line;
  const address = addressOf(described);
  const ip = parseIp(address);
  if (ip === undefined || ip.every((byte) => byte === 0)) return undefined;
  const spoken = rtcp !== undefined && rtcp.port > 0 && rtcp.port <= 65_535 ? rtcp.port : port + 1;
  return { address, port, rtcpPort: rtcpMux === undefined ? spoken : port };
}

const directions: readonly Direction[] = ['sendrecv', 'sendonly', 'recvonly', 'inactive'];

const directionOf = (session: SessionDescription, media: MediaDescription): Direction =>
  directions.find((one) => one === (media.direction ?? session.direction)) ?? 'sendrecv';

/** RFC 4568, 6.1. */
const mostMkiBytes = 128;

function cryptoOf({ crypto }: MediaDescription): OfferedKey[] {
  const found: OfferedKey[] = [];
  for (const { id, suite, config, sessionConfig } of (crypto ?? []).slice(0, 16)) {
    const [, key, mki = ''] =
      /^inline:([A-Za-z0-9+/]{38,62}={0,2})(?:\|(?:2\^\d{1,2}|\d{1,15}))?(?:\|\d{1,10}:(\d{1,3}))?$/.exec(
        config,
      ) ?? [];
    // Parameters of a session switch protection off or change keys on the way: nobody needs them.
    const isPlain = (sessionConfig ?? '').trim() === '';
    if (!isSrtpSuite(suite) || key === undefined || !isPlain || !(id >= 1 && id <= 999_999_999)) continue;
    const mkiBytes = Number(mki);
    if (mkiBytes > mostMkiBytes) continue;
    const bytes = srtpSuites[suite].key + srtpSuites[suite].salt;
    if (Buffer.from(key, 'base64').length === bytes)
      found.push({ tag: id, suite, key, ...(mkiBytes > 0 && { mkiBytes }) });
  }
  return found;
}

/**
 * The lines of a session description as every device should have written them. Mistakes of real ones that can mean one thing only are
 * put right here: blanks at the ends of lines and around their parts, line feeds alone, letters of the wrong case. Pure.
 */

/** Lines in their plain form; a line without a type is left out. */
function sdpLines(text: string): string[] {
  return text.split(/\r\n|\r|\n/).flatMap((raw) => {
    const [, type, value = ''] = /^[\s\0\uFEFF]*([a-z])[ \t]*=(.*)$/i.exec(raw) ?? [];
    return type === undefined ? [] : [plainLine(type.toLowerCase(), tidied(value))];
  });
}

const tidied = (value: string): string => value.replaceAll(/[\s\0]+/g, ' ').trim();

function plainLine(type: string, value: string): string {
  if (type === 'a') return `a=${plainAttribute(value)}`;
  // The family's name, and the lifetime of packets behind an address of a group (RFC 4566, 5.7).
  if (type === 'c') return `c=${value.replace(/^in ip(?=\d)/i, 'IN IP').replace(/\/.*$/, '')}`;
  return `${type}=${value}`;
}

function plainAttribute(value: string): string {
  const colon = value.indexOf(':');
  if (colon < 0) return value.toLowerCase();
  const name = value.slice(0, colon).trimEnd().toLowerCase();
  const rest = value.slice(colon + 1).trimStart();
  return `${name}:${name === 'rtpmap' ? rest.replaceAll(/ ?\/ ?/g, '/') : rest}`;
}

/** What an `m=` line says. */
interface MediaLine {
  readonly type: string;
  readonly port: number;
  readonly protocol: string;
  readonly payloads: readonly string[];
}

const mediaLines = (lines: readonly string[]): MediaLine[] =>
  lines
    .filter((line) => line.startsWith('m='))
    .map((line) => {
      const [type = '', port = '', protocol = '', ...payloads] = line.slice(2).split(' ');
      // `4000/2`: two ports for layers of one stream, of which the first is its base.
      return {
        type: type.toLowerCase(),
        port: Number(/^(\d{1,5})(?:\/|$)/.exec(port)?.[1] ?? 0),
        protocol,
        payloads,
      };
    });
