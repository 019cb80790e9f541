/**
 * What the service reads of an SDP offer, and how its answer is told to a client (RFC 8866, 8829; RFC 9725). Pure. A stranger writes
 * the offer: every length is bounded, the first fault counts, and no message repeats what was sent.
 *
 * Invariant: no candidate of an offer reaches the ICE agent. It answers whoever proves to know its password and asks nobody, so that
 * an offer cannot make the service send packets to addresses of its choice.
 */
import { fail, ok, type Result } from '../base/result.ts';
import { parseIp } from '../net/cidr.ts';

export const sdpLimits = { bytes: 64 * 1024, lines: 1_000, candidates: 64 } as const;

/** ICE credentials of one side (RFC 8839, 5.4). */
export interface IceCredentials {
  readonly ufrag: string;
  readonly pwd: string;
}

export interface SdpOffer extends IceCredentials {
  readonly audio: {
    readonly mid: string;
    /** Payload type of Opus. */
    readonly opus: number;
    /** Payload type of telephone events at 8 kHz or 48 kHz, with its clock rate; absent where keys cannot be sent so. */
    readonly telephoneEvent?: { readonly payloadType: number; readonly clockRate: number };
    /** The client takes audio, too. */
    readonly hears: boolean;
    /** The client sends audio. */
    readonly speaks: boolean;
  };
  /** IP addresses of its candidates, without names of mDNS; at most {@link sdpLimits.candidates}. */
  readonly candidateIps: readonly string[];
  /** The offer without its candidates. */
  readonly withoutCandidates: string;
}

interface Section {
  readonly kind: string;
  readonly lines: readonly string[];
}

const attribute = (lines: readonly string[], name: string): string | undefined =>
  lines.find((line) => line.startsWith(`a=${name}:`))?.slice(name.length + 3);
const hasFlag = (lines: readonly string[], name: string): boolean => lines.includes(`a=${name}`);

const iceChars = /^[A-Za-z0-9+/]+$/;
const isUfrag = (text: string | undefined): text is string =>
  text !== undefined && text.length >= 4 && text.length <= 256 && iceChars.test(text);
const isPwd = (text: string | undefined): text is string =>
  text !== undefined && text.length >= 22 && text.length <= 256 && iceChars.test(text);

/** Reads an offer. The error is the rule that it breaks. */
export function readOffer(text: string): Result<SdpOffer, string> {
  if (text.length > sdpLimits.bytes) return fail(`an offer has at most ${sdpLimits.bytes} bytes`);
  const lines = text.split(/\r\n|\n|\r/).filter((line) => line !== '');
  if (lines.length > sdpLimits.lines) return fail(`an offer has at most ${sdpLimits.lines} lines`);
  if (lines[0] !== 'v=0') return fail('an offer begins with v=0');
  if (!lines.every((line) => /^[a-z]=/.test(line)))
    return fail('a line of an offer is a letter, =, and a value');
  const [session, ...sections] = sectionsOf(lines);
  const audios = sections.filter(({ kind }) => kind === 'audio');
  const [audio] = audios;
  if (session === undefined || audio === undefined) return fail('an offer has an audio section');
  if (audios.length > 1) return fail('an offer has one audio section');
  return readAudio(session, { audio, lines });
}

function sectionsOf(lines: readonly string[]): Section[] {
  const sections: { kind: string; lines: string[] }[] = [{ kind: 'session', lines: [] }];
  for (const line of lines) {
    if (line.startsWith('m=')) sections.push({ kind: line.slice(2).split(' ')[0] ?? '', lines: [] });
    sections.at(-1)?.lines.push(line);
  }
  return sections;
}

function readAudio(
  session: Section,
  { audio, lines }: { audio: Section; lines: readonly string[] },
): Result<SdpOffer, string> {
  const either = (name: string): string | undefined =>
    attribute(audio.lines, name) ?? attribute(session.lines, name);
  const [ufrag, pwd, mid] = [either('ice-ufrag'), either('ice-pwd'), attribute(audio.lines, 'mid')];
  if (!isUfrag(ufrag) || !isPwd(pwd)) return fail('an offer has ICE credentials (RFC 8839)');
  if (!/^(sha-256|sha-384|sha-512) ([\dA-F]{2}:){31,63}[\dA-F]{2}$/i.test(either('fingerprint') ?? ''))
    return fail('an offer has the fingerprint of a certificate, by sha-256 or better');
  if (mid === undefined || !/^[\w.~!#$%&'*+^`|{}-]{1,32}$/.test(mid))
    return fail('the audio section has a mid');
  const setup = either('setup');
  if (setup !== 'actpass' && setup !== 'active' && setup !== 'passive')
    return fail('an offer says how DTLS is set up: actpass or active');
  const rtcpMux = hasFlag(audio.lines, 'rtcp-mux') || hasFlag(audio.lines, 'rtcp-mux-only');
  if (!rtcpMux) return fail('the audio section offers rtcp-mux');
  const opus = payloadTypeOf(audio, /^opus\/48000(\/2)?$/i);
  if (opus === undefined) return fail('the audio section offers Opus');
  const way = ['sendonly', 'recvonly', 'inactive'].find((name) => hasFlag(audio.lines, name)) ?? 'sendrecv';
  if (way === 'inactive') return fail('the audio section is active');
  const keys = telephoneEvent(audio);
  return ok({
    ufrag,
    pwd,
    audio: {
      mid,
      opus,
      hears: way !== 'sendonly',
      speaks: way !== 'recvonly',
      ...(keys !== undefined && { telephoneEvent: keys }),
    },
    candidateIps: lines.flatMap((line) => candidateIp(line) ?? []).slice(0, sdpLimits.candidates),
    withoutCandidates: lines
      .filter((line) => !/^a=(candidate:|end-of-candidates|remote-candidates:)/.test(line))
      .map((line) => `${line}\r\n`)
      .join(''),
  });
}

/** The payload type whose map fits, among those of the m-line. */
function payloadTypeOf({ lines }: Section, map: RegExp): number | undefined {
  const offered = (lines[0] ?? '').split(' ').slice(3);
  for (const line of lines) {
    const [, type = '', name = ''] = /^a=rtpmap:(\d{1,3}) (\S+)$/.exec(line) ?? [];
    if (map.test(name) && offered.includes(type) && Number(type) <= 127) return Number(type);
  }
  return undefined;
}

function telephoneEvent(audio: Section): SdpOffer['audio']['telephoneEvent'] {
  for (const clockRate of [48_000, 8_000]) {
    const payloadType = payloadTypeOf(audio, new RegExp(`^telephone-event/${clockRate}(/1)?$`, 'i'));
    if (payloadType !== undefined) return { payloadType, clockRate };
  }
  return undefined;
}

/** The IP address of a candidate line; undefined for other lines, for names, and for what is not one. */
function candidateIp(line: string): string | undefined {
  const fields = /^a=candidate:/.test(line) ? line.split(' ') : [];
  const ip = fields[4];
  return ip !== undefined && parseIp(ip) !== undefined ? ip : undefined;
}

/** What a PATCH brings (RFC 8840): credentials, which are those of the offer unless ICE is to start anew, and candidates. */
export interface SdpFragment {
  readonly ufrag?: string;
  readonly pwd?: string;
  readonly candidateIps: readonly string[];
}

/** Credentials stand before the first section or in it; of several sections the first counts. */
export function readFragment(text: string): Result<SdpFragment, string> {
  if (text.length > sdpLimits.bytes) return fail(`a fragment has at most ${sdpLimits.bytes} bytes`);
  const lines = text.split(/\r\n|\n|\r/).filter((line) => line !== '');
  if (lines.length > sdpLimits.lines) return fail(`a fragment has at most ${sdpLimits.lines} lines`);
  if (lines.length === 0 || !lines.every((line) => /^[a-z]=/.test(line)))
    return fail('a line of a fragment is a letter, =, and a value');
  const [session, first] = sectionsOf(lines);
  const own = [...(session?.lines ?? []), ...(first?.lines ?? [])];
  const [ufrag, pwd] = [attribute(own, 'ice-ufrag'), attribute(own, 'ice-pwd')];
  return ok({
    ...(ufrag !== undefined && { ufrag }),
    ...(pwd !== undefined && { pwd }),
    candidateIps: own.flatMap((line) => candidateIp(line) ?? []).slice(0, sdpLimits.candidates),
  });
}

/** Where a client may reach the service. */
export interface AnswerCandidate {
  readonly transport: 'udp' | 'tcp';
  readonly type: 'host' | 'relay';
  readonly ip: string;
  readonly port: number;
}

const typePreference = { host: 126, relay: 2 } as const;
/** ICE-TCP, passive, of the host (RFC 6544, 4.2): below every UDP candidate of a host. */
const tcpPriority = 99 * 2 ** 24 + 40_959 * 2 ** 8 + 255;

/** The line of a candidate, the first of which is preferred to those behind it. */
function candidateLine({ transport, type, ip, port }: AnswerCandidate, index: number): string {
  const priority =
    transport === 'tcp'
      ? tcpPriority - index
      : typePreference[type] * 2 ** 24 + (65_535 - index) * 2 ** 8 + 255;
  const more = transport === 'tcp' ? ' tcptype passive' : type === 'relay' ? ' raddr 0.0.0.0 rport 0' : '';
  return `a=candidate:${index + 1} 1 ${transport} ${priority} ${ip} ${port} typ ${type}${more}`;
}

/** What of a video section is answered: its client would send pictures that nobody looks at. */
const isDirection = /^a=(sendrecv|sendonly|recvonly|inactive)$/;

/**
 * The agent's answer with these candidates and no others; all of them are there. They stand in the section whose connection the others
 * use (RFC 9143, 7.2), which need not be that of the audio.
 */
export function answerWith(answer: string, candidates: readonly AnswerCandidate[]): string {
  const lines = answer
    .split('\r\n')
    .filter((line) => line !== '' && !/^a=(candidate:|end-of-candidates)/.test(line));
  const [first] = candidates;
  const isSix = first?.ip.includes(':') === true;
  const told = lines.map((line) => {
    if (first === undefined) return line;
    if (line.startsWith('c=IN ')) return `c=IN ${isSix ? 'IP6' : 'IP4'} ${first.ip}`;
    return line.replace(/^m=audio \d+ /, `m=audio ${first.port} `);
  });
  const [session, ...sections] = sectionsOf(told);
  const bundle = session?.lines.find((line) => line.startsWith('a=group:BUNDLE '));
  const tag = bundle?.split(' ')[1];
  const home =
    sections.find((section) => tag !== undefined && attribute(section.lines, 'mid') === tag) ??
    sections.find(({ kind }) => kind === 'audio');
  const all = [session, ...sections].flatMap((section) => [
    ...(section?.lines ?? []).map((line) =>
      section?.kind === 'video' && isDirection.test(line) ? 'a=inactive' : line,
    ),
    ...(section === home ? [...candidates.map(candidateLine), 'a=end-of-candidates'] : []),
  ]);
  return `${all.join('\r\n')}\r\n`;
}
