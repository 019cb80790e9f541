/**
 * The work of the suites of SRTP on one packet: counter mode with HMAC-SHA1 (RFC 3711, RFC 6188) and AES-GCM (RFC 7714), for audio and for
 * reports. Every index is used once; the caller of this sees to that.
 */
import { createCipheriv, createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto';
import { srtpSuites, type SrtpSuite } from '../../../shared/sip/calls.ts';

const authBytes = 20;
const gcmTagBytes = 16;
/** Reports keep the long tag where audio has the short one (RFC 4568, 6.2.2). */
const cmTagBytes = { audio: 10, audioShort: 4, reports: 10 } as const;

export type SrtpKind = 'audio' | 'reports';

/** A packet in its parts. */
export interface SrtpParts {
  /** Stays readable. */
  readonly head: Buffer;
  /** Is covered. */
  readonly body: Buffer;
  /** What the tag covers beside them: turns of the sequence, or the index of a report. */
  readonly trailer: Buffer;
  readonly ssrc: number;
  readonly index: number;
}

/** Both directions of one kind of packet, for one master key. */
export interface SrtpCipher {
  readonly tagBytes: number;
  /** The covered body, and the tag. */
  readonly close: (parts: SrtpParts) => { readonly body: Buffer; readonly tag: Buffer };
  /** Undefined where it was changed. */
  readonly open: (parts: SrtpParts, tag: Buffer) => Buffer | undefined;
}

export const isGcm = (suite: SrtpSuite): boolean => suite.endsWith('GCM');

/** `master`: key and salt, base64. */
export function srtpCipher(master: string, suite: SrtpSuite, kind: SrtpKind): SrtpCipher {
  const keys = derive(Buffer.from(master, 'base64'), suite, kind);
  if (isGcm(suite)) return gcm(keys, kind);
  const isShort = suite === 'AES_CM_128_HMAC_SHA1_32' && kind === 'audio';
  return counter(keys, kind, isShort ? cmTagBytes.audioShort : cmTagBytes[kind]);
}

interface SessionKeys {
  readonly key: Buffer;
  readonly salt: Buffer;
  readonly auth: Buffer;
}

/** Keys of a session from master key and salt (RFC 3711, 4.3), of which a shorter salt ends in zeros (RFC 7714, 11). */
function derive(master: Buffer, suite: SrtpSuite, kind: SrtpKind): SessionKeys {
  const { key: keyBytes, salt: saltBytes } = srtpSuites[suite];
  const first = kind === 'audio' ? 0 : 3;
  const from = (label: number, length: number): Buffer => {
    const iv = Buffer.alloc(16);
    master.copy(iv, 0, keyBytes, keyBytes + saltBytes);
    iv[7] = (iv[7] ?? 0) ^ label;
    return createCipheriv(`aes-${keyBytes * 8}-ctr`, master.subarray(0, keyBytes), iv).update(
      Buffer.alloc(length),
    );
  };
  return { key: from(first, keyBytes), auth: from(first + 1, authBytes), salt: from(first + 2, saltBytes) };
}

function counter({ key, salt, auth }: SessionKeys, kind: SrtpKind, tagBytes: number): SrtpCipher {
  /** The same for both directions: a stream of bits that is put over the payload. */
  const cover = ({ body, ssrc, index }: SrtpParts): Buffer => {
    const iv = Buffer.alloc(16);
    salt.copy(iv);
    mix(iv, 4, ssrc);
    mix(iv, 8, Math.floor(index / 65_536));
    iv.writeUInt16BE(iv.readUInt16BE(12) ^ (index & 0xffff), 12);
    return createCipheriv(`aes-${key.length * 8}-ctr`, key, iv).update(body);
  };
  const tagOf = ({ head, trailer }: SrtpParts, covered: Buffer): Buffer =>
    createHmac('sha1', auth).update(head).update(covered).update(trailer).digest().subarray(0, tagBytes);
  return {
    tagBytes,
    close: (parts) => {
      const body = cover(parts);
      return { body, tag: tagOf(parts, body) };
    },
    open: (parts, tag) => (timingSafeEqual(tagOf(parts, parts.body), tag) ? cover(parts) : undefined),
  };
}

export function gcm({ key, salt }: Omit<SessionKeys, 'auth'>, kind: SrtpKind): SrtpCipher {
  const cipherName = key.length === 32 ? 'aes-256-gcm' : 'aes-128-gcm';
  const ivOf = ({ ssrc, index }: SrtpParts): Buffer => {
    const iv = Buffer.from(salt);
    mix(iv, 2, ssrc);
    // Two bytes of the sequence behind four of its turns; of a report, four of its index (RFC 7714, 8.1 and 9.1).
    if (kind === 'audio') {
      mix(iv, 6, Math.floor(index / 65_536));
      iv.writeUInt16BE(iv.readUInt16BE(10) ^ (index & 0xffff), 10);
    } else mix(iv, 8, index);
    return iv;
  };
  // Turns of the sequence are in the nonce already.
  const known = ({ head, trailer }: SrtpParts): Buffer =>
    kind === 'audio' ? head : Buffer.concat([head, trailer]);
  return {
    tagBytes: gcmTagBytes,
    close: (parts) => {
      const cipher = createCipheriv(cipherName, key, ivOf(parts)).setAAD(known(parts));
      const body = Buffer.concat([cipher.update(parts.body), cipher.final()]);
      return { body, tag: cipher.getAuthTag() };
    },
    open: (parts, tag) => {
      const options = { authTagLength: gcmTagBytes };
      const decipher = createDecipheriv(cipherName, key, ivOf(parts), options).setAAD(known(parts));
      decipher.setAuthTag(tag);
      try {
        return Buffer.concat([decipher.update(parts.body), decipher.final()]);
      } catch {
        return undefined;
      }
    },
  };
}

const mix = (iv: Buffer, at: number, number: number): void =>
  void iv.writeUInt32BE((iv.readUInt32BE(at) ^ number) >>> 0, at);
