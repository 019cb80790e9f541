/**
 * The messages of RTVI: how one looks, which versions there are, and what the client's mean. They are read here as far as the service
 * knows them; an unknown one is named, so that it can be refused by name.
 *
 * Invariant: reading never throws, and nothing that was received stands in an answer but the name of an unknown type.
 */
import { parseJson, writeJson } from '../base/exact-json.ts';

/** What this service speaks. */
export const rtviVersion = '2.1.0';
const label = 'rtvi-ai';

/** What a stock client plays unless it was told otherwise: it does not look at the rate of the frames. */
export const rtviOutputRate = 24_000;

/** Metadata that the listener sets on a call. */
export const rtviKeys = {
  transport: 'session.transport',
  outputRate: 'output_sample_rate',
  evalAudio: 'capture_bot_audio',
  evalSilence: 'skip_tts',
  events: 'session.events',
} as const;

/** Events without a name of their own in RTVI, which a client asks for by `?events=` and gets as `server-message`. */
const rtviEvents = ['bot.heard', 'agent.changed'] as const;
type RtviEvent = (typeof rtviEvents)[number];

/** Those that a call's metadata names. */
export const rtviEventsIn = (names: string | undefined): ReadonlySet<RtviEvent> => {
  const asked = (names ?? '').split(',');
  return new Set(rtviEvents.filter((name) => asked.includes(name)));
};

/**
 * How a client of text frames is sent the agent's audio: the message of RTVI, that of Pipecat's evals, or none, which is what evals by text ask
 * for.
 */
export type TextAudio = 'bot-tts-audio' | 'eval-bot-audio' | 'none';

/** Formats of the messages about the agent: by the major version of the client. */
export type RtviFormat = 1 | 2;

export interface RtviRequest {
  readonly id: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The message in a text: `other` for what is no message of RTVI at all, undefined for what is no JSON object. */
export function readRtviRequest(text: string): RtviRequest | 'other' | undefined {
  const message = objectOf(parsed(text));
  if (message === undefined) return undefined;
  const { id, type, data } = message;
  if (message['label'] !== label || typeof type !== 'string') return 'other';
  return { id: typeof id === 'string' ? id.slice(0, 64) : '', type, data: objectOf(data) ?? {} };
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const objectOf = (value: unknown): Record<string, unknown> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;

/** The format that a client wants, by its `client-ready`; undefined for a version that nobody here speaks. */
export function formatOf(version: unknown): RtviFormat | undefined {
  const numbers = typeof version === 'string' ? /^(\d{1,4})\.\d{1,4}\.\d{1,4}$/.exec(version) : null;
  const major = Number(numbers?.[1]);
  return major === 1 || major === 2 ? major : undefined;
}

/** The text of a message of the service; members that are undefined are left out. */
export const rtviMessage = (type: string, data?: unknown, id?: string): string =>
  writeJson({ label, type, ...(id !== undefined && { id }), ...(data !== undefined && { data }) });

/** Keys of a `dtmf` message: a list since 2.1, one before. Undefined where it names none. */
export function keysOf(data: RtviRequest['data']): readonly string[] | undefined {
  const { buttons, button } = data;
  const keys: readonly unknown[] = Array.isArray(buttons) ? buttons : [button];
  const isRight = keys.length > 0 && keys.length <= mostKeys && keys.every(isKey);
  return isRight ? (keys as readonly string[]) : undefined;
}

const mostKeys = 64;
const isKey = (key: unknown): boolean => typeof key === 'string' && /^[0-9*#]$/.test(key);

/** Whether a text is worth a look for audio, which is most of what comes. */
export const mayBeAudio = (json: string): boolean => json.includes('"raw-audio');

export const isAudioType = (type: string): boolean => type === 'raw-audio' || type === 'raw-audio-batch';

/** Pieces of one message of audio; more is no second of a microphone. */
const mostPieces = 100;

/** The caller's audio in a message, for clients that send text; undefined where it has none. Base64 is decoded as far as it is some. */
export function audioIn(
  data: RtviRequest['data'],
): { readonly samples: Buffer; readonly sampleRate: number; readonly channels: number } | undefined {
  const { base64Audio, base64AudioBatch, sampleRate, numChannels: channels = 1 } = data;
  const pieces: readonly unknown[] = Array.isArray(base64AudioBatch) ? base64AudioBatch : [base64Audio];
  const isText = pieces.length <= mostPieces && pieces.every((piece) => typeof piece === 'string');
  if (!isText || typeof sampleRate !== 'number' || typeof channels !== 'number') return undefined;
  const decoded = pieces.map((piece) => Buffer.from(piece, 'base64'));
  const samples = decoded.length === 1 && decoded[0] !== undefined ? decoded[0] : Buffer.concat(decoded);
  return { samples, sampleRate, channels };
}

/** One frame of the agent's audio, mono, as text. */
export function rtviAudioText(kind: TextAudio, frame: Buffer, sampleRate: number): string | undefined {
  const audio = kind === 'none' ? '' : frame.toString('base64');
  switch (kind) {
    case 'none':
      return undefined;
    case 'eval-bot-audio':
      return rtviMessage(kind, { audio, sampleRate });
    case 'bot-tts-audio':
      return rtviMessage(kind, { audio, sample_rate: sampleRate, num_channels: 1 });
  }
}

/** What Pipecat's evals ask of a connection and want no answer to; undefined for every other message. */
export function evalRequest(data: RtviRequest['data']): TextAudio | 'stop' | 'ignored' | undefined {
  switch (data['t']) {
    case 'eval-connect':
      return objectOf(data['d'])?.['capture_bot_audio'] === true ? 'eval-bot-audio' : 'none';
    case 'eval-cancel':
      return 'stop';
    // Names and arguments of tools are told to nobody, whatever is asked for.
    case 'eval-configure':
      return 'ignored';
    default:
      return undefined;
  }
}

/** An option that is on unless it is switched off. */
const isOn = (options: Record<string, unknown> | undefined, name: string): boolean =>
  options?.[name] !== false;

/** What `send-text` wants; undefined where it has no text. */
export function typedIn(
  data: RtviRequest['data'],
): { readonly text: string; readonly answer: 'speech' | 'text' | 'none' } | undefined {
  const { content, options } = data;
  if (typeof content !== 'string') return undefined;
  const chosen = objectOf(options);
  if (!isOn(chosen, 'run_immediately')) return { text: content, answer: 'none' };
  return { text: content, answer: isOn(chosen, 'audio_response') ? 'speech' : 'text' };
}
