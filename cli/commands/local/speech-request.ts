/**
 * What a client may ask of the voice: the fields of `POST /v1/audio/speech`, and the text as sentences.
 *
 * Pure. A message names the field and the rule and never repeats what was sent.
 */
import * as z from 'zod';
import { fail, ok, type Result } from '../../../shared/base/result.ts';
import type { SpeechJob } from './messages.ts';

const maxInputChars = 4_096;
/** A longer sentence is cut at a comma or a space: the first sound comes when the first piece is spoken. */
const longestPieceChars = 300;

/** Names of the voices in `voices.bin` of Kokoro 0.19 (English), in its order. */
const kokoroVoices = [
  'af',
  'af_bella',
  'af_nicole',
  'af_sarah',
  'af_sky',
  'am_adam',
  'am_michael',
  'bf_emma',
  'bf_isabella',
  'bm_george',
  'bm_lewis',
] as const;

/** Fields that other servers know and this one does not are no fault: presets send them. */
const body = z.object(
  {
    input: z
      .string({ error: 'input must be a text' })
      .max(maxInputChars, `input must have at most ${maxInputChars} characters`),
    voice: z
      .union([z.string(), z.int()], { error: 'voice must be a name or a number' })
      .default('default')
      .transform(String),
    response_format: z.enum(['pcm', 'wav'], { error: 'response_format must be pcm or wav' }).default('pcm'),
    speed: z
      .number({ error: 'speed must be a number from 0.25 to 4' })
      .min(0.25, 'speed must be a number from 0.25 to 4')
      .max(4, 'speed must be a number from 0.25 to 4')
      .default(1),
  },
  { error: 'the body must be a JSON object' },
);

export interface SpeechRequest {
  readonly jobs: readonly SpeechJob[];
  readonly format: 'pcm' | 'wav';
}

/** Names a client may use, in the order of the speakers. */
export function voiceNames(kind: 'kokoro' | 'vits', speakers: number): string[] {
  const isEnglishKokoro = kind === 'kokoro' && speakers === kokoroVoices.length;
  return isEnglishKokoro ? [...kokoroVoices] : Array.from({ length: speakers }, (_, index) => String(index));
}

function speakerOf(voice: string, voices: readonly string[]): number | undefined {
  if (voice === 'default' || voice === '') return 0;
  const named = voices.indexOf(voice);
  if (named >= 0) return named;
  // With one speaker there is nothing to choose, and clients often must name something.
  if (voices.length === 1) return 0;
  const index = /^\d{1,4}$/.test(voice) ? Number(voice) : -1;
  return index >= 0 && index < voices.length ? index : undefined;
}

/** Reads a request. The error is for the client. */
export function readSpeechRequest(value: unknown, voices: readonly string[]): Result<SpeechRequest, string> {
  const parsed = body.safeParse(value);
  if (!parsed.success) return fail(parsed.error.issues[0]?.message ?? 'the body must be a JSON object');
  const { input, voice, speed, response_format: format } = parsed.data;
  const speaker = speakerOf(voice, voices);
  if (speaker === undefined) {
    const known =
      voices.length > 20 ? `a number from 0 to ${voices.length - 1}` : `one of ${voices.join(', ')}`;
    return fail(`voice must be ${known}, or default`);
  }
  return ok({ jobs: sentencesOf(input).map((text) => ({ text, speaker, speed })), format });
}

/** The text in pieces that are spoken one after the other; pieces without a letter or digit are left out. */
export function sentencesOf(text: string): string[] {
  const plain = text.replace(/\s+/g, ' ').trim();
  const sentences = plain.split(/(?<=[.!?…][)"'”’]?)\s+(?=\S)|(?<=[。！？])/u);
  return sentences.flatMap(shortPieces).filter((piece) => /[\p{L}\p{N}]/u.test(piece));
}

function shortPieces(sentence: string): string[] {
  const pieces: string[] = [];
  let rest = sentence.trim();
  while (rest.length > longestPieceChars) {
    const head = rest.slice(0, longestPieceChars);
    const comma = Math.max(head.lastIndexOf(', '), head.lastIndexOf('; '), head.lastIndexOf(': '));
    const place = comma > longestPieceChars / 3 ? comma + 1 : head.lastIndexOf(' ');
    const cut = place > 0 ? place : longestPieceChars;
    pieces.push(rest.slice(0, cut).trim());
    rest = rest.slice(cut).trim();
  }
  return rest === '' ? pieces : [...pieces, rest];
}
