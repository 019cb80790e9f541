/**
 * SIP calls between the supervisor, which has signalling and sockets, and the worker, which has the media. The socket for RTP travels
 * beside `sip.offer`; the supervisor keeps a duplicate, so that a call outlives its worker. All of it is plain data.
 */

export const sipCodecs = ['PCMU', 'PCMA', 'G722', 'opus'] as const;
export type SipCodec = (typeof sipCodecs)[number];

/** Suites of SDES (RFC 4568, 6188, 7714), and the bytes of each one's master key and salt. */
export const srtpSuites = {
  AES_CM_128_HMAC_SHA1_80: { key: 16, salt: 14 },
  AES_CM_128_HMAC_SHA1_32: { key: 16, salt: 14 },
  AES_256_CM_HMAC_SHA1_80: { key: 32, salt: 14 },
  AEAD_AES_128_GCM: { key: 16, salt: 12 },
  AEAD_AES_256_GCM: { key: 32, salt: 12 },
} as const;
export type SrtpSuite = keyof typeof srtpSuites;
export const isSrtpSuite = (name: string): name is SrtpSuite => Object.hasOwn(srtpSuites, name);

export interface SipKeys {
  readonly suite: SrtpSuite;
  /** Master key and salt, base64: what this side sends with, and what the peer does. */
  readonly local: string;
  readonly remote: string;
  /** Bytes of the name of its key in every packet of the peer (MKI). */
  readonly mkiBytes?: number;
}

/** How the media of a call flow, as both sides agreed. */
export interface SipMedia {
  readonly codec: SipCodec;
  readonly payloadType: number;
  /** Payload type of keys (RFC 4733); absent: the peer sends none. */
  readonly dtmfType?: number;
  /** Clock of the keys, in Hz, where it is not the audio's: the peer's are read, and it is sent none in this way. */
  readonly dtmfClock?: number;
  /** Where the peer wants its audio; absent while it is on hold by the old way, or has given no address. */
  readonly remote?: { readonly address: string; readonly port: number; readonly rtcpPort: number };
  /** Reports of both sides travel with the audio, on its ports. */
  readonly rtcpMux?: boolean;
  /** The peer takes audio; it sends some. */
  readonly sends: boolean;
  readonly receives: boolean;
  readonly keys?: SipKeys;
}

/** Rate of a codec's audio, in Hz. A call keeps that of the codec it begins with. */
const rates: Readonly<Record<SipCodec, number>> = { PCMU: 8_000, PCMA: 8_000, G722: 16_000, opus: 16_000 };
export const sipCodecRate = (codec: SipCodec): number => rates[codec];

/** The clock of its timestamps, in Hz: G.722 counts bytes, for a mistake of RFC 1890 that stays (RFC 3551, 4.5.2), and Opus the most that it can (RFC 7587, 4.1). */
export const sipClockRate = (codec: SipCodec): number => (codec === 'opus' ? 48_000 : 8_000);

/** Whether a call that runs may go on with another codec: Opus is opened with the call. */
export const isExchangeable = (codec: SipCodec, other: SipCodec): boolean =>
  (codec === 'opus') === (other === 'opus');

/** A call on its way to a worker. Its number is of the same kind as that of a connection. */
export interface SipOffer {
  readonly type: 'sip.offer';
  readonly offer: number;
  readonly callId: string;
  readonly media: SipMedia;
  /** The peer has agreed to the call: audio may flow. */
  readonly isOpen: boolean;
  readonly metadata: Readonly<Record<string, string>>;
  /** Slot whose record says how a worker that is gone left this call. */
  readonly resumeFrom?: number;
}

/** From the supervisor, of a call that was offered. */
export type SipToWorker =
  | SipOffer
  /** The peer and this side agreed anew. */
  | { readonly type: 'sip.media'; readonly offer: number; readonly media: SipMedia }
  /** The peer has acknowledged the answer. */
  | { readonly type: 'sip.open'; readonly offer: number }
  | { readonly type: 'sip.digit'; readonly offer: number; readonly digit: string }
  /** The peer hung up or is gone. */
  | { readonly type: 'sip.closed'; readonly offer: number; readonly reason: 'hangup' | 'disconnected' };

/** What a worker says of a call. */
export type SipFromWorker =
  | { readonly type: 'sip.taken'; readonly offer: number }
  /** It belongs to another worker. */
  | { readonly type: 'sip.declined'; readonly offer: number }
  /** The call is built: the peer gets its answer. */
  | { readonly type: 'sip.accept'; readonly offer: number }
  | { readonly type: 'sip.refuse'; readonly offer: number }
  /** The engine hangs up. */
  | { readonly type: 'sip.hangup'; readonly offer: number }
  | { readonly type: 'sip.over'; readonly offer: number };

/** Calls without a connection of their own are numbered from here on, so that no number means two things. */
export const sipOffersFrom = 2 ** 30;
