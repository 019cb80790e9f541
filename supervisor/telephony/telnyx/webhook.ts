/**
 * Webhooks of Telnyx: an ed25519 signature over the time and the raw body, not older or newer than 300 s, each event once.
 * Nothing of a body is parsed before its signature has been verified.
 */
import { createPublicKey, verify, type KeyObject } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

const toleranceS = 300;
/** Ids of events that are remembered: more than come within the tolerance. */
const mostSeen = 50_000;
/** What stands before the 32 bytes of a key in its DER form. */
const derPrefix = Buffer.from('302a300506032b6570032100', 'hex');

export interface TelnyxEvent {
  readonly type: string;
  readonly id: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

export const publicKeyOf = (base64: string): KeyObject =>
  createPublicKey({
    key: Buffer.concat([derPrefix, Buffer.from(base64, 'base64')]),
    format: 'der',
    type: 'spki',
  });

/** Whether the account signed this body, within the last minutes. */
export function isSignedByB(
  headers: IncomingHttpHeaders,
  body: Buffer,
  { key, nowS }: { readonly key: KeyObject; readonly nowS: number },
): boolean {
  const signature = headers['telnyx-signature-ed25519'];
  const timestamp = headers['telnyx-timestamp'];
  if (typeof signature !== 'string' || typeof timestamp !== 'string' || !/^\d{1,12}$/.test(timestamp))
    return false;
  if (Math.abs(nowS - Number(timestamp)) > toleranceS) return false;
  const bytes = Buffer.from(signature, 'base64');
  return bytes.length === 64 && verify(null, Buffer.concat([Buffer.from(`${timestamp}|`), body]), key, bytes);
}

/** Reads events and drops those that came before. */
export class TelnyxEvents {
  readonly #seen = new Set<string>();

  /** `unreadable`, or the event, or undefined for one that was here before. */
  read(body: Buffer): TelnyxEvent | 'unreadable' | undefined {
    const event = readEvent(body);
    if (event === 'unreadable') return event;
    if (this.#seen.has(event.id)) return undefined;
    this.#seen.add(event.id);
    for (const oldest of this.#seen) {
      if (this.#seen.size <= mostSeen) break;
      this.#seen.delete(oldest);
    }
    return event;
  }
}

function readEvent(body: Buffer): TelnyxEvent | 'unreadable' {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body.toString('utf8'));
  } catch {
    return 'unreadable';
  }
  const data = fieldOf(parsed, 'data');
  const [type, id, payload] = ['event_type', 'id', 'payload'].map((name) => fieldOf(data, name));
  if (typeof type !== 'string' || typeof id !== 'string' || id === '') return 'unreadable';
  return { type, id, payload: isRecord(payload) ? payload : {} };
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
const fieldOf = (value: unknown, name: string): unknown => (isRecord(value) ? value[name] : undefined);
