/**
 * What it costs to read LLM streams: bytes in, stage events out, without sockets, for 256 calls with 50 deltas a second
 * each, per provider.
 */
import { ChatStream } from '../../worker/stages/llm/chat-stream.ts';
import { GenerateStream } from '../../worker/stages/llm/generate-stream.ts';
import { MessagesStream } from '../../worker/stages/llm/messages-stream.ts';
import { ResponsesStream } from '../../worker/stages/llm/responses-stream.ts';
import type { RoundStream } from '../../worker/stages/llm/round.ts';
import { SseParser } from '../../worker/stages/llm/sse.ts';
import type { FloorRow } from './report.ts';
import type { LlmEvent } from '../../worker/stages/stage.ts';

const EVENTS_PER_S = 256 * 50;
const ROUNDS = 20;
const nextId = (): string => 'call_0';
const names = { toWire: (name: string) => name, fromWire: (name: string) => name };

const event = (body: unknown, type = ''): Buffer =>
  Buffer.from(`${type === '' ? '' : `event: ${type}\n`}data: ${JSON.stringify(body)}\n\n`);

interface Case {
  readonly chunk: Buffer;
  readonly newStream: (emit: (event: LlmEvent) => void) => RoundStream;
}

const CASES: Readonly<Record<string, Case>> = {
  chat_compatible: {
    chunk: event({
      id: 'chatcmpl-8a7b6c5d4e3f2a1b',
      object: 'chat.completion.chunk',
      created: 1_795_000_000,
      model: 'openai/gpt-oss-120b',
      system_fingerprint: 'fp_0123456789',
      choices: [{ index: 0, delta: { content: ' morning' }, logprobs: null, finish_reason: null }],
    }),
    newStream: (emit) => new ChatStream(nextId, emit),
  },
  llm_responses: {
    chunk: event(
      {
        type: 'response.output_text.delta',
        sequence_number: 42,
        item_id: 'msg_0123456789abcdef0123456789abcdef0123456789abcdef',
        output_index: 0,
        content_index: 0,
        delta: ' morning',
        logprobs: [],
      },
      'response.output_text.delta',
    ),
    newStream: (emit) => new ResponsesStream(nextId, emit),
  },
  llm_messages: {
    chunk: event(
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: ' morning' } },
      'content_block_delta',
    ),
    newStream: (emit) => new MessagesStream(nextId, emit),
  },
  llm_generate: {
    chunk: event({
      candidates: [{ content: { role: 'model', parts: [{ text: ' morning' }] }, index: 0 }],
      usageMetadata: { promptTokenCount: 310, candidatesTokenCount: 9, totalTokenCount: 319 },
      modelVersion: 'gemini-3-flash',
      responseId: 'abcdefghijklmnop',
    }),
    newStream: (emit) => new GenerateStream(nextId, { names, emit }),
  },
};

export interface ParseCost {
  readonly provider: string;
  /** Of one core. */
  readonly share: number;
  readonly microsPerDelta: number;
}

/** What is allowed, as a share of one core. */
const mostShare = 0.02;

export function measureParsing(): ParseCost[] {
  return Object.entries(CASES).map(([provider, { chunk, newStream }]) => {
    const parser = new SseParser(1_048_576);
    let chars = 0;
    const stream = newStream((found) => {
      if (found.type === 'text') chars += found.text.length;
    });
    const run = (count: number): void => {
      for (let n = 0; n < count; n += 1) {
        const events = parser.push(chunk);
        if (events === 'too-large') throw new Error('an event is over its bound');
        for (const found of events) stream.event(found);
      }
    };
    run(EVENTS_PER_S * 2);
    const before = process.cpuUsage();
    run(EVENTS_PER_S * ROUNDS);
    const { user, system } = process.cpuUsage(before);
    if (chars !== ' morning'.length * EVENTS_PER_S * (ROUNDS + 2)) throw new Error('text was lost');
    const seconds = (user + system) / 1e6 / ROUNDS;
    return { provider, share: seconds, microsPerDelta: (seconds * 1e6) / EVENTS_PER_S };
  });
}

export const judgeParsing = (costs: readonly ParseCost[]): FloorRow[] =>
  costs.map(({ provider, share, microsPerDelta }) => ({
    rule: 'streams of 256 answers cost at most 2 % of a core to read',
    found: `${provider}: ${(share * 100).toFixed(2)} % of a core, ${microsPerDelta.toFixed(2)} us a delta`,
    passed: share <= mostShare,
  }));
