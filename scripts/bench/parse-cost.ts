/**
 * What it costs to read LLM streams: bytes in, stage events out, without sockets, for 256 calls with 50 deltas a second
 * each, per provider. The calls take turns delta by delta, as they do in a worker, and every answer is a new stream.
 */
import { ChatStream } from '../../worker/stages/llm/chat-stream.ts';
import { EventReader } from '../../worker/stages/llm/event-reader.ts';
import { GenerateStream } from '../../worker/stages/llm/generate-stream.ts';
import { MessagesStream } from '../../worker/stages/llm/messages-stream.ts';
import { ResponsesStream } from '../../worker/stages/llm/responses-stream.ts';
import type { RoundStream } from '../../worker/stages/llm/round.ts';
import type { LlmEvent } from '../../worker/stages/stage.ts';
import { newAnswer, WIRES, type Answer } from './parse-answers.ts';
import type { FloorRow } from './report.ts';

const CALLS = 256;
const DELTAS_PER_CALL_S = 50;
/** Of an answer: two seconds of deltas, a short one for a telephone. */
const DELTAS = 100;
const WARM_ROUNDS = 6;
const ROUNDS = 24;

const nextId = (): string => 'call_0';
const names = { toWire: (name: string) => name, fromWire: (name: string) => name };

type Emit = (event: LlmEvent) => void;

const STREAMS: Readonly<Record<keyof typeof WIRES, (emit: Emit) => RoundStream>> = {
  chat_compatible: (emit) => new ChatStream(nextId, emit),
  llm_responses: (emit) => new ResponsesStream(nextId, emit),
  llm_messages: (emit) => new MessagesStream(nextId, emit),
  llm_generate: (emit) => new GenerateStream(nextId, { names, emit }),
};

export interface ParseCost {
  readonly provider: string;
  /** Of one core. */
  readonly share: number;
  /** Of the median round. */
  readonly microsPerDelta: number;
  /** Of the round that was disturbed least. */
  readonly leastMicrosPerDelta: number;
  /** JSON.parse alone, of the same events as strings that are there already. */
  readonly jsonMicrosPerDelta: number;
}

/** What is allowed, as a share of one core. */
const mostShare = 0.02;

/** Every answer once, in turns; gives the characters of text that came out. */
function readAll(answers: readonly Answer[], newStream: (emit: Emit) => RoundStream): number {
  let chars = 0;
  const emit: Emit = (found) => {
    if (found.type === 'text') chars += found.text.length;
  };
  const readers = answers.map(({ chunks }) => {
    const stream = newStream(emit);
    const reader = new EventReader(stream, { maxEventBytes: 1_048_576, isOver: () => stream.closed });
    const push = (chunk: Buffer): void => {
      if (!reader.push(chunk)) throw new Error('an event is over its bound');
    };
    return { chunks, stream, push };
  });
  const most = Math.max(...readers.map(({ chunks }) => chunks.length));
  for (let at = 0; at < most; at += 1) {
    for (const { chunks, push } of readers) {
      const chunk = chunks[at];
      if (chunk !== undefined) push(chunk);
    }
  }
  for (const { stream } of readers) {
    stream.end();
    if (stream.failed) throw new Error('a stream failed');
  }
  return chars;
}

function parseAll(answers: readonly Answer[]): number {
  let found = 0;
  const most = Math.max(...answers.map(({ bodies }) => bodies.length));
  for (let at = 0; at < most; at += 1) {
    for (const { bodies } of answers) {
      const body = bodies[at];
      if (body !== undefined && JSON.parse(body) !== null) found += 1;
    }
  }
  return found;
}

/** CPU time of one round for a delta, in microseconds, with everything that the process did meanwhile. */
function microsOf(round: () => void): number {
  const before = process.cpuUsage();
  round();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / (CALLS * DELTAS);
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

export function measureParsing(): ParseCost[] {
  const providers = Object.keys(STREAMS) as (keyof typeof WIRES)[];
  return providers.map((provider) => {
    const answers = Array.from({ length: CALLS }, (_, call) =>
      newAnswer(WIRES[provider], { deltas: DELTAS, seed: call + 1 }),
    );
    const chars = answers.reduce((sum, { textChars }) => sum + textChars, 0);
    const reading: number[] = [];
    const json: number[] = [];
    // In turns, so that what else the machine does meets both.
    for (let round = 0; round < WARM_ROUNDS + ROUNDS; round += 1) {
      const readMicros = microsOf(() => {
        if (readAll(answers, STREAMS[provider]) !== chars) throw new Error('text was lost');
      });
      const jsonMicros = microsOf(() => parseAll(answers));
      if (round < WARM_ROUNDS) continue;
      reading.push(readMicros);
      json.push(jsonMicros);
    }
    const microsPerDelta = median(reading);
    const share = (microsPerDelta * CALLS * DELTAS_PER_CALL_S) / 1e6;
    const leastMicrosPerDelta = Math.min(...reading);
    return { provider, share, microsPerDelta, leastMicrosPerDelta, jsonMicrosPerDelta: median(json) };
  });
}

export const judgeParsing = (costs: readonly ParseCost[]): FloorRow[] =>
  costs.map(({ provider, share, microsPerDelta, leastMicrosPerDelta, jsonMicrosPerDelta }) => {
    const reading = `${microsPerDelta.toFixed(2)} us a delta, ${leastMicrosPerDelta.toFixed(2)} at least`;
    const ratio = (microsPerDelta / jsonMicrosPerDelta).toFixed(2);
    const json = `${jsonMicrosPerDelta.toFixed(2)} us for JSON.parse alone, ratio ${ratio}`;
    return {
      rule: 'streams of 256 answers cost at most 2 % of a core to read',
      found: `${provider}: ${(share * 100).toFixed(2)} % of a core, ${reading} (${json})`,
      passed: share <= mostShare,
    };
  });
