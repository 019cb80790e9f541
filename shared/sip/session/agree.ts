/**
 * What both sides can have, and how it is written: the answer to an offer, and the offer of this side where the peer made none
 * (RFC 3264). Pure; ports and keys are arguments.
 */
import {
  isExchangeable,
  sipClockRate,
  srtpSuites,
  type SipCodec,
  type SipKeys,
  type SipMedia,
  type SrtpSuite,
} from '../calls.ts';
import { isSecure, type AudioOffer, type Direction, type SessionOffer } from './sdp.ts';

export interface AgreeRules {
  /** Keys travel in the clear inside SDP: they may be taken where signalling is encrypted. */
  readonly isEncrypted: boolean;
  readonly srtp: 'off' | 'optional' | 'required';
  readonly codecs: readonly SipCodec[];
  /** Of a call that runs. */
  readonly codec?: SipCodec;
  /** Makes a master key with its salt, of so many bytes, base64. */
  readonly newKey: (bytes: number) => string;
  /** Key of this side so far. */
  readonly key?: { readonly suite: SrtpSuite; readonly local: string } | undefined;
}

export interface Agreed {
  /** The stream that was taken. */
  readonly audio: AudioOffer;
  readonly media: SipMedia;
  /** Tag of the crypto line that was chosen. */
  readonly keyTag?: number;
}

/**
 * Undefined where there is nothing that both can have (488). Of several streams one that is encrypted comes first, then one where both
 * sides speak, then the peer's order.
 */
export function agree({ audio }: SessionOffer, rules: AgreeRules): Agreed | undefined {
  const worth = ({ media }: Agreed): number =>
    (media.keys === undefined ? 0 : 2) + (media.sends && media.receives ? 1 : 0);
  return audio
    .flatMap((offer) => agreeOn(offer, rules) ?? [])
    .toSorted((one, other) => worth(other) - worth(one))[0];
}

function agreeOn(offer: AudioOffer, rules: AgreeRules): Agreed | undefined {
  const chosen = offer.codecs.find(
    ({ codec }) =>
      rules.codecs.includes(codec) && (rules.codec === undefined || isExchangeable(codec, rules.codec)),
  );
  if (chosen === undefined) return undefined;
  const secured = keysFor(offer, rules);
  if (secured === 'refused') return undefined;
  const clock = sipClockRate(chosen.codec);
  // A peer that has Opus and keys by the clock of telephones alone presses them all the same.
  const keys = [...offer.dtmf];
  const [dtmfClock, dtmfType] = keys.find(([rate]) => rate === clock) ?? keys[0] ?? [clock];
  const media: SipMedia = {
    ...chosen,
    ...(dtmfType !== undefined && { dtmfType, ...(dtmfClock !== clock && { dtmfClock }) }),
    ...(offer.remote !== undefined && { remote: offer.remote }),
    ...(offer.rtcpMux && { rtcpMux: true }),
    sends: !offer.isHeld && (offer.direction === 'sendrecv' || offer.direction === 'recvonly'),
    receives: offer.direction === 'sendrecv' || offer.direction === 'sendonly',
    ...(secured !== undefined && { keys: secured.keys }),
  };
  return { audio: offer, media, ...(secured !== undefined && { keyTag: secured.tag }) };
}

/** The answer to an offer of this side, with the one key that was offered, or without any. */
export function agreeToAnswer(
  answer: SessionOffer,
  rules: Omit<AgreeRules, 'isEncrypted' | 'srtp'>,
): Agreed | undefined {
  const { key } = rules;
  const isEncrypted = key !== undefined;
  const agreed = agree(answer, { ...rules, isEncrypted, srtp: isEncrypted ? 'required' : 'off' });
  const isOurs = agreed?.media.keys?.suite === key?.suite && agreed?.media.keys?.local === key?.local;
  return isOurs ? agreed : undefined;
}

function keysFor(
  offer: AudioOffer,
  rules: AgreeRules,
): { readonly keys: SipKeys; readonly tag: number } | undefined | 'refused' {
  const [key] = rules.isEncrypted && rules.srtp !== 'off' ? offer.keys : [];
  // Keys beside a profile without encryption: the peer encrypts where this side can (RFC 8643).
  if (key === undefined) return isSecure(offer) || rules.srtp === 'required' ? 'refused' : undefined;
  const { suite, mkiBytes } = key;
  const { key: keyBytes, salt } = srtpSuites[suite];
  const local = rules.key?.suite === suite ? rules.key.local : rules.newKey(keyBytes + salt);
  const named = mkiBytes === undefined ? {} : { mkiBytes };
  return { keys: { suite, local, remote: key.key, ...named }, tag: key.tag };
}

/** This side's place in a session. */
export interface LocalMedia {
  readonly address: string;
  readonly port: number;
  readonly sessionId: number;
  readonly version: number;
}

const mirrored: Readonly<Record<Direction, Direction>> = {
  sendrecv: 'sendrecv',
  sendonly: 'recvonly',
  recvonly: 'sendonly',
  inactive: 'inactive',
};

/** The answer to an offer. Streams that are not taken keep their place, with port 0. */
export function writeSdpAnswer(
  offer: SessionOffer,
  { audio, media, keyTag }: Agreed,
  local: LocalMedia,
): string {
  const streams = offer.streams.map(({ type, protocol, payloads }, index) => {
    if (index !== audio.at) return [`m=${type} 0 ${protocol} ${payloads}`];
    const crypto =
      media.keys === undefined
        ? []
        : [`a=crypto:${keyTag ?? 1} ${media.keys.suite} inline:${media.keys.local}`];
    return [
      ...audioLines(protocol, local.port, {
        codecs: [media],
        dtmfType: media.dtmfType,
        dtmfClock: media.dtmfClock,
        direction: mirrored[audio.direction],
      }),
      // One port for both: a peer that does not know the one attribute may know the other (RFC 3605).
      `a=rtcp:${local.port}`,
      ...(media.rtcpMux === true ? ['a=rtcp-mux'] : []),
      ...crypto,
    ];
  });
  return session(local, streams.flat());
}

/** Codecs of an offer of this side, with the types that everybody gives them. */
const ownTypes: Readonly<Record<SipCodec, number>> = { PCMU: 0, PCMA: 8, G722: 9, opus: 111 };
const ownDtmfType = 101;

/** An offer of this side; codecs whose clock is that of keys. */
export function writeSdpOffer(
  codecs: readonly SipCodec[],
  local: LocalMedia,
  key?: AgreeRules['key'],
): string {
  const own = codecs.map((codec) => ({ codec, payloadType: ownTypes[codec] }));
  const given = { codecs: own, dtmfType: ownDtmfType, direction: 'sendrecv' } as const;
  const crypto = key === undefined ? [] : [`a=crypto:1 ${key.suite} inline:${key.local}`];
  return session(local, [
    ...audioLines(key === undefined ? 'RTP/AVP' : 'RTP/SAVP', local.port, given),
    ...crypto,
  ]);
}

function audioLines(
  protocol: string,
  port: number,
  what: {
    readonly codecs: readonly { readonly codec: SipCodec; readonly payloadType: number }[];
    readonly dtmfType: number | undefined;
    readonly dtmfClock?: number | undefined;
    readonly direction: Direction;
  },
): string[] {
  const { codecs, dtmfType, direction } = what;
  const types = [
    ...codecs.map(({ payloadType }) => payloadType),
    ...(dtmfType === undefined ? [] : [dtmfType]),
  ];
  const clock = what.dtmfClock ?? sipClockRate(codecs[0]?.codec ?? 'PCMU');
  const keys =
    dtmfType === undefined
      ? []
      : [`a=rtpmap:${dtmfType} telephone-event/${clock}`, `a=fmtp:${dtmfType} 0-16`];
  return [
    `m=audio ${port} ${protocol} ${types.join(' ')}`,
    ...codecs.flatMap(({ codec, payloadType }) =>
      codec === 'opus'
        ? [`a=rtpmap:${payloadType} opus/48000/2`, `a=fmtp:${payloadType} useinbandfec=1`]
        : [`a=rtpmap:${payloadType} ${codec}/8000`],
    ),
    ...keys,
    'a=ptime:20',
    'a=maxptime:60',
    `a=${direction}`,
  ];
}

function session({ address, sessionId, version }: LocalMedia, streams: readonly string[]): string {
  const family = address.includes(':') ? 'IP6' : 'IP4';
  const lines = [
    'v=0',
    `o=- ${sessionId} ${version} IN ${family} ${address}`,
    's=-',
    `c=IN ${family} ${address}`,
    't=0 0',
    ...streams,
  ];
  return `${lines.join('\r\n')}\r\n`;
}
