/**
 * What four kinds of chat servers send for an answer, byte for byte, made ahead of the measurement: an opening, deltas, an
 * end. Between deltas it varies what real servers vary: the text, its length, counters, padding of random length.
 *
 * Invariant: the same seed gives the same bytes, and no two answers share identifiers.
 */
import { newPrng, type Prng } from '../../shared/base/prng.ts';

export interface Answer {
  /** One for each event, as servers flush them. */
  readonly chunks: readonly Buffer[];
  /** The JSON texts within the chunks. */
  readonly bodies: readonly string[];
  /** UTF-16 code units of the text that is to be emitted. */
  readonly textChars: number;
}

interface Event {
  readonly name?: string;
  readonly body: unknown;
}

interface Wire {
  readonly lineEnd: string;
  readonly opening: (ids: Ids) => Event[];
  readonly delta: (text: string, at: Place) => Event;
  readonly ending: (ids: Ids) => Event[];
}

interface Ids {
  readonly id: string;
  readonly created: number;
}

interface Place extends Ids {
  /** Of the delta, from 0. */
  readonly number: number;
  readonly padding: string;
}

const LETTERS = 'etaoinshrdlucmfw';
const ACCENTS = 'äéñöüığşøç';
const IDEOGRAPHS = '你好今天明日時間';
const ESCAPED = ['\n', '\n\n', ' "', '."', '\t'];

const letters = (prng: Prng, count: number, from = LETTERS): string =>
  Array.from({ length: count }, () => prng.pick([...from])).join('');

/** 1 to 12 characters: about 5 % with what JSON escapes, 5 % with accents, 2 % without any ASCII. */
function token(prng: Prng): string {
  const kind = prng.next();
  if (kind < 0.02) return letters(prng, 1 + prng.below(3), IDEOGRAPHS);
  const word = letters(prng, 1 + prng.below(1 + prng.below(10)));
  if (kind < 0.07) return word + prng.pick(ESCAPED);
  if (kind < 0.12) return ` ${letters(prng, 1, ACCENTS)}${word}`;
  return prng.chance(0.75) ? ` ${word}` : `${word}e`;
}

const chatChunk = ({ id, created }: Ids, rest: object): object => ({
  id: `chatcmpl-${id}`,
  object: 'chat.completion.chunk',
  created,
  model: 'openai/gpt-oss-120b',
  service_tier: 'default',
  system_fingerprint: 'fp_0123456789',
  ...rest,
});
const chatChoice = (delta: object, reason: string | null = null): object => ({
  choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }],
});
const typed = (type: string, rest: object): Event => ({ name: type, body: { type, ...rest } });
const generated = ({ id }: Ids, { parts, tokens, ...rest }: { parts: object[]; tokens: number }): Event => ({
  body: {
    candidates: [{ content: { role: 'model', parts }, ...rest, index: 0 }],
    usageMetadata: {
      promptTokenCount: 310,
      candidatesTokenCount: tokens,
      totalTokenCount: 310 + tokens,
      promptTokensDetails: [{ modality: 'TEXT', tokenCount: 310 }],
    },
    modelVersion: 'gemini-3-flash',
    responseId: id,
  },
});

export const WIRES = {
  chat_compatible: {
    lineEnd: '\n',
    opening: (ids) => [{ body: chatChunk(ids, chatChoice({ role: 'assistant', content: '' })) }],
    delta: (content, at) => ({
      body: { ...chatChunk(at, chatChoice({ content })), usage: null, obfuscation: at.padding },
    }),
    ending: (ids) => [
      { body: chatChunk(ids, chatChoice({}, 'stop')) },
      { body: chatChunk(ids, { choices: [], usage: { prompt_tokens: 310, completion_tokens: 100 } }) },
    ],
  },
  llm_responses: {
    lineEnd: '\n',
    opening: ({ id }) => [
      typed('response.created', { sequence_number: 0, response: { id, status: 'in_progress', output: [] } }),
      typed('response.in_progress', {
        sequence_number: 1,
        response: { id, status: 'in_progress', output: [] },
      }),
      typed('response.output_item.added', {
        sequence_number: 2,
        output_index: 0,
        item: { id: `msg_${id}`, type: 'message', status: 'in_progress', content: [], role: 'assistant' },
      }),
    ],
    delta: (delta, { id, number, padding }) =>
      typed('response.output_text.delta', {
        sequence_number: number + 3,
        item_id: `msg_${id}`,
        output_index: 0,
        content_index: 0,
        delta,
        logprobs: [],
        obfuscation: padding,
      }),
    ending: ({ id }) => [
      typed('response.completed', {
        sequence_number: 104,
        response: { id, status: 'completed', output: [], usage: { input_tokens: 310, output_tokens: 100 } },
      }),
    ],
  },
  llm_messages: {
    lineEnd: '\n',
    opening: ({ id }) => [
      typed('message_start', {
        message: {
          id: `msg_${id}`,
          role: 'assistant',
          content: [],
          usage: { input_tokens: 310, output_tokens: 1 },
        },
      }),
      typed('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
      typed('ping', {}),
    ],
    delta: (text) => typed('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
    ending: () => [
      typed('content_block_stop', { index: 0 }),
      typed('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 100 } }),
      typed('message_stop', {}),
    ],
  },
  llm_generate: {
    lineEnd: '\r\n',
    opening: () => [],
    delta: (text, at) => generated(at, { parts: [{ text }], tokens: 1 + at.number }),
    ending: (ids) => {
      const last = { parts: [{ text: '' }], tokens: 100, finishReason: 'STOP' };
      return [generated(ids, last)];
    },
  },
} satisfies Readonly<Record<string, Wire>>;

/** An answer of so many deltas, one of many that differ. */
export function newAnswer(
  wire: Wire,
  { deltas, seed }: { readonly deltas: number; readonly seed: number },
): Answer {
  const prng = newPrng(seed);
  const ids = { id: letters(prng, 24), created: 1_795_000_000 + seed };
  const texts = Array.from({ length: deltas }, () => token(prng));
  const events = [
    ...wire.opening(ids),
    ...texts.map((text, number) => {
      return wire.delta(text, { ...ids, number, padding: letters(prng, 1 + prng.below(16)) });
    }),
    ...wire.ending(ids),
  ];
  const bodies = events.map(({ body }) => JSON.stringify(body));
  const chunks = events.map(({ name }, at) => {
    const lines = [...(name === undefined ? [] : [`event: ${name}`]), `data: ${bodies[at] ?? ''}`, '', ''];
    return Buffer.from(lines.join(wire.lineEnd));
  });
  return { chunks, bodies, textChars: texts.join('').length };
}
