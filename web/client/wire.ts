/**
 * The messages of the WebSocket call protocol, version 1, as a browser reads and writes them (docs/call-protocol.md).
 *
 * Invariant: whatever text arrives, decoding gives a message or undefined and never throws. Unknown fields are ignored
 * and an unknown type is kept by name (docs/call-protocol.md, Errors). It must not hold state.
 */

import { type ConversationEvent, readConversationEvent } from './conversation-events.ts';

export type ServerMessage =
  | {
      readonly type: 'started';
      readonly callId: string;
      readonly sampleRate: number;
      readonly encoding: string;
    }
  | { readonly type: 'clear'; readonly epoch: number }
  | { readonly type: 'mark'; readonly id: string }
  | { readonly type: 'stop'; readonly reason: 'ended' | 'shutdown' }
  | { readonly type: 'error'; readonly code: string; readonly message: string; readonly fatal: boolean }
  | { readonly type: 'event'; readonly event: ConversationEvent }
  | { readonly type: 'unknown'; readonly name: string };

export type ClientMessage =
  | {
      readonly type: 'start';
      readonly version: 1;
      readonly sample_rate: number;
      readonly encoding: 'pcm16';
      readonly call_id?: string;
      readonly metadata?: Readonly<Record<string, string>>;
      /** Events of the conversation that the service is asked to send; a service that knows none sends none. */
      readonly events?: readonly string[];
    }
  | { readonly type: 'dtmf'; readonly digit: string }
  | { readonly type: 'text'; readonly text: string; readonly answer?: TypedAnswer }
  | { readonly type: 'mark'; readonly id: string }
  | { readonly type: 'stop' };

/** How typed text is answered: aloud, as text alone, or not before the next answer. */
export type TypedAnswer = 'speech' | 'text' | 'none';

/** Characters that one typed text may have. */
export const MAX_TYPED = 4_096;

/** The sample rates of calls in Hz (docs/call-protocol.md, A call). */
export const CALL_RATES: readonly number[] = [8_000, 16_000, 22_050, 24_000, 44_100, 48_000];

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const number = (value: unknown): number => (typeof value === 'number' ? value : 0);

/** Undefined for anything that is not a JSON object with a string `type`. */
export function decodeServerMessage(json: string): ServerMessage | undefined {
  const fields = parseObject(json);
  const type = fields?.get('type');
  if (fields === undefined || typeof type !== 'string') return undefined;
  switch (type) {
    case 'started':
      return {
        type,
        callId: text(fields.get('call_id')),
        sampleRate: number(fields.get('sample_rate')),
        encoding: text(fields.get('encoding')),
      };
    case 'clear':
      return { type, epoch: number(fields.get('epoch')) };
    case 'mark':
      return { type, id: text(fields.get('id')) };
    case 'stop':
      return { type, reason: fields.get('reason') === 'shutdown' ? 'shutdown' : 'ended' };
    case 'error':
      return {
        type,
        code: text(fields.get('code')),
        message: text(fields.get('message')),
        fatal: fields.get('fatal') === true,
      };
    default: {
      const event = readConversationEvent(type, fields);
      return event === undefined ? { type: 'unknown', name: type.slice(0, 64) } : { type: 'event', event };
    }
  }
}

/** Undefined for anything that is not a JSON object. */
export function parseObject(json: string): ReadonlyMap<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return new Map<string, unknown>(Object.entries(value));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
