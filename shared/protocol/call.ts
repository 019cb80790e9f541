/**
 * The WebSocket call protocol, version 1: wire shapes, limits, errors and the decoding of client messages
 * (docs/call-protocol.md).
 *
 * Invariant: a fault names the field and the rule, never the value that was received. Which message is allowed when is
 * not decided here but by the machine in worker/transports/socket/call-machine.ts.
 */
import * as z from 'zod';
import type { Millis } from '../base/units.ts';
import { fail, ok, type Result } from '../base/result.ts';
import { withoutNulls } from '../base/present.ts';
import { knownMessageTypes, type ConversationMessageType } from './conversation.ts';

export const CALL_PROTOCOL_VERSION = 1;

/** Rates in Hz that a call may have; one rate serves both directions (docs/call-protocol.md, A call). */
export const callSampleRates: readonly number[] = [8000, 16000, 22050, 24000, 44100, 48000];

export type CallEncoding = 'pcm16' | 'mulaw';

/** Limits of single fields (docs/call-protocol.md, A call). Lengths count bytes of UTF-8. */
export const callFieldLimits = {
  callIdBytes: 128,
  metadataEntries: 32,
  metadataKeyBytes: 64,
  metadataValueBytes: 256,
  markIdBytes: 256,
  followedEvents: 64,
  /** Of typed text, in characters: what the conversation takes at a time. */
  textChars: 4_096,
  /** One fault more than this ends the call. */
  faultsPerCall: 16,
} as const;

/** Bytes that `text` takes on the wire. */
export function utf8Bytes(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}

// ---- Limits of a connection ------------------------------------------------------------------------------------------

/** Limits of one WebSocket call connection; durations in milliseconds, sizes in bytes (docs/reference/server-settings.md). */
export interface WsCallLimits {
  readonly startTimeoutMs: Millis;
  readonly pingIntervalMs: Millis;
  readonly pingTimeoutMs: Millis;
  readonly maxAudioBytes: number;
  readonly maxControlBytes: number;
  readonly writeTimeoutMs: Millis;
  readonly sendTimeoutMs: Millis;
  readonly closeGraceMs: Millis;
}

// ---- Errors ----------------------------------------------------------------------------------------------------------

export type CallErrorCode =
  | 'invalid_json'
  | 'invalid_message'
  | 'unknown_message'
  | 'unsupported_version'
  | 'unsupported_sample_rate'
  | 'unexpected_start'
  | 'audio_before_start'
  | 'start_timeout'
  | 'bad_audio'
  | 'frame_too_large'
  | 'too_many_errors'
  | 'output_rate_mismatch'
  | 'mark_id_too_long'
  | 'server_busy'
  | 'overloaded'
  | 'ping_timeout';

interface CallErrorRow {
  readonly fatal: boolean;
  /** Close code when the fault ends the call. */
  readonly closeCode: number;
  /** For humans; never holds what was received. */
  readonly message: string;
}

/**
 * What each fault means on the wire (docs/call-protocol.md, Errors). `invalid_message` closes with 1002 when a field is missing or
 * has the wrong shape, and with 1008 when well-formed input breaks a limit or the order of messages; a
 * {@link CallFault} says which. `unknown_message` is fatal only before `start`.
 */
export const callErrors: Readonly<Record<CallErrorCode, CallErrorRow>> = {
  invalid_json: row(true, 1002, 'a text frame must hold one JSON object with a string type'),
  invalid_message: row(true, 1002, 'a field of the message is missing or invalid'),
  unknown_message: row(false, 1008, 'unknown message type'),
  unsupported_version: row(true, 1008, 'start.version must be 1'),
  unsupported_sample_rate: row(
    true,
    1008,
    `start.sample_rate must be one of ${callSampleRates.join(', ')} Hz`,
  ),
  unexpected_start: row(true, 1008, 'start was already sent on this connection'),
  audio_before_start: row(true, 1008, 'audio must not be sent before start'),
  start_timeout: row(true, 1008, 'no start arrived in time'),
  bad_audio: row(true, 1008, 'a pcm16 frame must hold an even number of bytes'),
  frame_too_large: row(true, 1009, 'the frame is larger than its limit'),
  too_many_errors: row(true, 1008, `more than ${callFieldLimits.faultsPerCall} faults on one call`),
  output_rate_mismatch: row(false, 1008, 'audio at another sample rate than the call was dropped'),
  mark_id_too_long: row(
    false,
    1008,
    `a mark was not sent: its id exceeds ${callFieldLimits.markIdBytes} bytes`,
  ),
  server_busy: row(true, 1013, 'no new calls are taken at the moment, retry later'),
  overloaded: row(true, 1013, 'the engine took no audio in time, retry later'),
  ping_timeout: row(true, 1008, 'no frame arrived from the client in time'),
};

function row(fatal: boolean, closeCode: number, message: string): CallErrorRow {
  return { fatal, closeCode, message };
}

/** Why a call is not taken: there is no room for it, or it names a route that signed words alone lead to, or an agent that is not there. */
export type CallRefusal = 'server_busy' | 'unsigned_route' | 'unknown_agent';

/** One fault: what overrides the row of its code is given here. */
export interface CallFault {
  readonly code: CallErrorCode;
  /** Replaces the row's message: the field and the rule. */
  readonly message?: string;
  readonly closeCode?: number;
}

/** A field is missing or has the wrong shape: close code 1002. */
function malformed(message: string): CallFault {
  return { code: 'invalid_message', message };
}

/** A well-formed message breaks a limit or the order of messages: close code 1008. */
export function violation(message: string): CallFault {
  return { code: 'invalid_message', message, closeCode: 1008 };
}

// ---- Server to client ------------------------------------------------------------------------------------------------

export type ServerMessage =
  | {
      readonly type: 'started';
      readonly version: number;
      readonly call_id: string;
      readonly sample_rate: number;
      readonly encoding: CallEncoding;
    }
  | { readonly type: 'clear'; readonly epoch: number }
  | { readonly type: 'mark'; readonly id: string }
  | { readonly type: 'stop'; readonly reason: 'ended' | 'shutdown' }
  | {
      readonly type: 'error';
      readonly code: CallErrorCode;
      readonly message: string;
      readonly fatal: boolean;
    };

// ---- Client to server ------------------------------------------------------------------------------------------------

/** A `start` whose every field is valid; `metadata` is still the client's own. */
export interface StartMessage {
  readonly callId: string | undefined;
  readonly sampleRate: number;
  readonly encoding: CallEncoding;
  readonly metadata: Readonly<Record<string, string>>;
  /** What the client wants to be told of the conversation. */
  readonly events: readonly ConversationMessageType[];
  /** Rate of the caller's audio in Hz where it is not that of the call; no field of the message. */
  readonly inputRate?: number;
}

/** How typed text is answered: aloud, as text alone, or not at all until the next answer. */
export type TypedAnswer = 'speech' | 'text' | 'none';

/** What the caller typed. */
export interface TypedText {
  readonly text: string;
  readonly answer: TypedAnswer;
}

/** A text frame of the client. A known type carries its decoded fields or the fault that they hold. */
export type ClientMessage =
  | { readonly type: 'start'; readonly fields: Result<StartMessage, CallFault> }
  | { readonly type: 'dtmf'; readonly digit: Result<string, CallFault> }
  | { readonly type: 'mark'; readonly id: Result<string, CallFault> }
  | { readonly type: 'text'; readonly typed: Result<TypedText, CallFault> }
  | { readonly type: 'stop' }
  | { readonly type: 'unknown' }
  | { readonly type: 'not-json' };

/** Decodes one text frame. Unknown fields are ignored (docs/call-protocol.md). Never throws. */
export function decodeClientMessage(text: string): ClientMessage {
  const fields = parseObject(text);
  return fields === undefined ? { type: 'not-json' } : decodeClientFields(fields);
}

/** Decodes the fields of one message; for protocols that say the same in other words. Never throws. */
export function decodeClientFields(fields: Readonly<Record<string, unknown>>): ClientMessage {
  switch (fields['type']) {
    case 'mark':
      return { type: 'mark', id: decodeMarkId(fields['id']) };
    case 'dtmf':
      return { type: 'dtmf', digit: decodeDigit(fields['digit']) };
    case 'text':
      return { type: 'text', typed: decodeTyped(fields) };
    case 'stop':
      return { type: 'stop' };
    case 'start':
      return { type: 'start', fields: decodeStart(fields) };
    default:
      return typeof fields['type'] === 'string' ? { type: 'unknown' } : { type: 'not-json' };
  }
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return undefined;
  return parsed as Record<string, unknown>;
}

function decodeMarkId(id: unknown): Result<string, CallFault> {
  if (typeof id !== 'string') return fail(malformed('mark.id must be a string'));
  if (utf8Bytes(id) > callFieldLimits.markIdBytes) {
    return fail(violation(`mark.id must be at most ${callFieldLimits.markIdBytes} bytes`));
  }
  return ok(id);
}

const digitPattern = /^[0-9*#A-Da-d]$/;

function decodeDigit(digit: unknown): Result<string, CallFault> {
  if (typeof digit !== 'string' || !digitPattern.test(digit)) {
    return fail(malformed('dtmf.digit must be one of 0-9, *, #, A-D'));
  }
  return ok(digit.toUpperCase());
}

function decodeTyped({
  text,
  answer: asked,
}: Readonly<Record<string, unknown>>): Result<TypedText, CallFault> {
  const answer = asked ?? 'speech';
  if (typeof text !== 'string') return fail(malformed('text.text must be a string'));
  if (text.length > callFieldLimits.textChars)
    return fail(violation(`text.text must be at most ${callFieldLimits.textChars} characters`));
  if (answer !== 'speech' && answer !== 'text' && answer !== 'none')
    return fail(malformed('text.answer must be speech, text or none'));
  return ok({ text, answer });
}

const startSchema = z.object({
  sample_rate: z.int(),
  encoding: z.enum(['pcm16', 'mulaw']).default('pcm16'),
  call_id: z
    .string()
    .refine((id) => utf8Bytes(id) <= callFieldLimits.callIdBytes)
    .optional(),
  metadata: z.record(z.string(), z.string()).refine(metadataFits).default({}),
  events: z
    .array(z.string())
    .refine((names) => names.length <= callFieldLimits.followedEvents)
    .default([]),
});

/** The rule of each field: first when its shape is wrong, then when it breaks its limit. */
const startRules: Readonly<Record<string, { readonly shape: string; readonly limit: string }>> = {
  sample_rate: { shape: 'must be an integer', limit: '' },
  encoding: { shape: 'must be pcm16 or mulaw', limit: '' },
  call_id: { shape: 'must be a string', limit: `must be at most ${callFieldLimits.callIdBytes} bytes` },
  metadata: {
    shape: 'must map strings to strings',
    limit:
      `must have at most ${callFieldLimits.metadataEntries} entries, keys of at most ` +
      `${callFieldLimits.metadataKeyBytes} and values of at most ${callFieldLimits.metadataValueBytes} bytes`,
  },
  events: {
    shape: 'must be an array of strings',
    limit: `must have at most ${callFieldLimits.followedEvents} entries`,
  },
};

const entryFits = ([key, value]: [string, unknown]): boolean =>
  utf8Bytes(key) <= callFieldLimits.metadataKeyBytes &&
  typeof value === 'string' &&
  utf8Bytes(value) <= callFieldLimits.metadataValueBytes;

function metadataFits(metadata: Readonly<Record<string, string>>): boolean {
  const entries = Object.entries(metadata);
  return entries.length <= callFieldLimits.metadataEntries && entries.every(entryFits);
}

/** What of the parameters of a telephone call can be its metadata: nobody hangs up on a caller over the rest. */
export const fittingMetadata = (given: unknown): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(given ?? {})
      .filter(entryFits)
      .slice(0, callFieldLimits.metadataEntries),
  );

/** Checks version, rate, encoding, call id and metadata in this order; the first fault counts. */
function decodeStart(fields: Readonly<Record<string, unknown>>): Result<StartMessage, CallFault> {
  const version = fields['version'];
  if (!Number.isInteger(version)) return fail(malformed('start.version must be an integer'));
  if (version !== CALL_PROTOCOL_VERSION) return fail({ code: 'unsupported_version' });
  const rate = fields['sample_rate'];
  if (typeof rate === 'number' && Number.isInteger(rate) && !callSampleRates.includes(rate)) {
    return fail({ code: 'unsupported_sample_rate' });
  }
  const parsed = startSchema.safeParse({ ...withoutNulls(fields), ...metadataIn(fields) });
  if (!parsed.success) return fail(startFault(parsed.error.issues[0]));
  const { sample_rate, encoding, call_id, metadata, events } = parsed.data;
  return ok({
    callId: call_id,
    sampleRate: sample_rate,
    encoding,
    metadata,
    events: knownMessageTypes(events),
  });
}

/** Many a language writes null for a field that is absent. */
function metadataIn({ metadata }: Readonly<Record<string, unknown>>): { readonly metadata?: unknown } {
  const isMap = typeof metadata === 'object' && metadata !== null && !Array.isArray(metadata);
  return isMap ? { metadata: withoutNulls(metadata) } : {};
}

function startFault(issue: z.core.$ZodIssue | undefined): CallFault {
  const field = String(issue?.path[0]);
  const rules = startRules[field];
  if (rules === undefined) return malformed('start is invalid');
  if (issue?.code === 'custom') return violation(`start.${field} ${rules.limit}`);
  return malformed(`start.${field} ${rules.shape}`);
}

/**
 * The metadata that the engine sees: the client's own without the keys that only signed values may set, the call's
 * rate, then the signed entries (docs/call-protocol.md, A call).
 */
export function callMetadata(
  start: StartMessage,
  signed: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const own = Object.entries(start.metadata).filter(([key]) => !reservedKey(key));
  return Object.fromEntries([...own, ['sample_rate', String(start.sampleRate)], ...Object.entries(signed)]);
}

/** What of a call's metadata came with it, without what the server says of it. */
export const broughtMetadata = (metadata: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(metadata).filter(([key]) => key !== 'sample_rate' && !reservedKey(key)));

function reservedKey(key: string): boolean {
  return (
    key === 'session_id' ||
    key.startsWith('session.') ||
    key === 'input_sample_rate' ||
    key === 'output_sample_rate'
  );
}
