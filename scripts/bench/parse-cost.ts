/**
 * What it costs to read LLM streams: bytes in, stage events out, without sockets, for 256 calls with 50 deltas a second
 * each, per provider. The calls take turns chunk by chunk, as they do in a worker; every answer is a new stream, and all of
 * them share what a stage knows of its events. Judged are answers of 100 deltas, each in a chunk of its own.
 */
import { ChatStream, unreadOfChat } from '../../worker/stages/llm/chat-stream.ts';
import { EventReader } from '../../worker/stages/llm/event-reader.ts';
import { GenerateStream, unreadOfGenerate } from '../../worker/stages/llm/generate-stream.ts';
import { KnownShapes } from '../../worker/stages/llm/known-shapes.ts';
import { MessagesStream } from '../../worker/stages/llm/messages-stream.ts';
import { ResponsesStream, unreadOfResponses } from '../../worker/stages/llm/responses-stream.ts';
import type { RoundStream } from '../../worker/stages/llm/round.ts';
import type { LlmEvent } from '../../worker/stages/stage.ts';
import { newAnswer, WIRES, type Answer } from './parse-answers.ts';
import type { FloorRow } from './report.ts';

const CALLS = 256;
const DELTAS_PER_CALL_S = 50;
/** Of an answer: two seconds of deltas, a short one for a telephone. */
const DELTAS = 100;
/** A sentence: what opens and ends an answer weighs more. */
const FEW_DELTAS = 30;
/** Events that arrive together, where the network is slow or the server waits. */
const EVENTS_IN_CHUNK = 8;
/** Of a network packet: its ends cut events anywhere. */
const PACKET_BYTES = 1_400;
const WARM_ROUNDS = 6;
const ROUNDS = 24;

const nextId = (): string => 'call_0';
const names = { toWire: (name: string) => name, fromWire: (name: string) => name };

type Emit = (event: LlmEvent) => void;

interface Stage {
  readonly newStream: (emit: Emit) => RoundStream;
  readonly newKnown: () => KnownShapes;
}

const STAGES: Readonly<Record<keyof typeof WIRES, Stage>> = {
  chat_compatible: {
    newStream: (emit) => new ChatStream(nextId, emit),
    newKnown: () => new KnownShapes(unreadOfChat),
  },
  llm_responses: {
    newStream: (emit) => new ResponsesStream(nextId, emit),
    newKnown: () => new KnownShapes(unreadOfResponses),
  },
  llm_messages: {
    newStream: (emit) => new MessagesStream(nextId, emit),
    newKnown: () => new KnownShapes(),
  },
  llm_generate: {
    newStream: (emit) => new GenerateStream(nextId, { names, emit }),
    newKnown: () => new KnownShapes(unreadOfGenerate),
  },
};

/** CPU time for a delta, in microseconds. */
interface Micros {
  /** Of the median round. */
  readonly median: number;
  /** Of the round that was disturbed least. */
  readonly least: number;
}

export interface ParseCost {
  readonly provider: string;
  readonly reading: Micros;
  /** JSON.parse alone, of the same events as strings that are there already. */
  readonly json: Micros;
  readonly others: readonly { readonly name: string; readonly reading: Micros }[];
}

/** What is allowed, as a share of one core. */
const mostShare = 0.02;

/** Answers, how they arrive, and what is known when one begins. */
interface Course {
  readonly name: string;
  readonly deltas: number;
  readonly cut: (chunks: readonly Buffer[]) => readonly Buffer[];
  readonly isShared: boolean;
}

const JUDGED: Course = { name: 'judged', deltas: DELTAS, cut: (chunks) => chunks, isShared: true };
const OTHERS: readonly Course[] = [
  { ...JUDGED, name: `answers of ${FEW_DELTAS} deltas`, deltas: FEW_DELTAS },
  {
    ...JUDGED,
    name: `${EVENTS_IN_CHUNK} events in a chunk`,
    cut: (chunks) => joined(chunks, EVENTS_IN_CHUNK),
  },
  { ...JUDGED, name: `chunks of ${PACKET_BYTES} bytes`, cut: (chunks) => packets(chunks, PACKET_BYTES) },
  { ...JUDGED, name: 'each answer the first of its stage', isShared: false },
];

const joined = (chunks: readonly Buffer[], count: number): Buffer[] =>
  Array.from({ length: Math.ceil(chunks.length / count) }, (_, n) =>
    Buffer.concat(chunks.slice(n * count, (n + 1) * count)),
  );

function packets(chunks: readonly Buffer[], bytes: number): Buffer[] {
  const whole = Buffer.concat(chunks);
  return Array.from({ length: Math.ceil(whole.length / bytes) }, (_, n) =>
    whole.subarray(n * bytes, (n + 1) * bytes),
  );
}

/** Every answer once, in turns; gives the characters of text that came out. */
function readAll(
  answers: readonly Answer[],
  newStream: Stage['newStream'],
  knownOf: () => KnownShapes,
): number {
  let chars = 0;
  const emit: Emit = (found) => {
    if (found.type === 'text') chars += found.text.length;
  };
  const readers = answers.map(({ chunks }) => {
    const stream = newStream(emit);
    const isOver = (): boolean => stream.closed;
    const reader = new EventReader(stream, { maxEventBytes: 1_048_576, isOver, known: knownOf() });
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

/** CPU time of one round, in microseconds, with everything that the process did meanwhile. */
function microsOf(round: () => void): number {
  const before = process.cpuUsage();
  round();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

function summary(rounds: readonly number[], deltas: number): Micros {
  const sorted = rounds.slice(WARM_ROUNDS).sort((a, b) => a - b);
  const perDelta = (micros = 0): number => micros / (CALLS * deltas);
  return { median: perDelta(sorted[Math.floor(sorted.length / 2)]), least: perDelta(sorted[0]) };
}

function measure(
  provider: keyof typeof WIRES,
  { deltas, cut, isShared }: Course,
): { reading: Micros; json: Micros } {
  const { newStream, newKnown } = STAGES[provider];
  const answers = Array.from({ length: CALLS }, (_, call) => {
    const answer = newAnswer(WIRES[provider], { deltas, seed: call + 1 });
    return { ...answer, chunks: cut(answer.chunks) };
  });
  const chars = answers.reduce((sum, { textChars }) => sum + textChars, 0);
  const shared = newKnown();
  const reading: number[] = [];
  const json: number[] = [];
  // In turns, so that what else the machine does meets both.
  for (let round = 0; round < WARM_ROUNDS + ROUNDS; round += 1) {
    const read = (): void => {
      const found = readAll(answers, newStream, isShared ? () => shared : newKnown);
      if (found !== chars) throw new Error('text was lost');
    };
    reading.push(microsOf(read));
    json.push(microsOf(() => parseAll(answers)));
  }
  return { reading: summary(reading, deltas), json: summary(json, deltas) };
}

export function measureParsing(): ParseCost[] {
  const providers = Object.keys(STAGES) as (keyof typeof WIRES)[];
  return providers.map((provider) => {
    const { reading, json } = measure(provider, JUDGED);
    const others = OTHERS.map((course) => ({
      name: course.name,
      reading: measure(provider, course).reading,
    }));
    return { provider, reading, json, others };
  });
}

const shareOf = (microsPerDelta: number): number => (microsPerDelta * CALLS * DELTAS_PER_CALL_S) / 1e6;
const percent = (microsPerDelta: number): string => `${(shareOf(microsPerDelta) * 100).toFixed(2)} %`;
const micros = ({ median, least }: Micros): string =>
  `${median.toFixed(2)} us a delta, ${least.toFixed(2)} at least`;

function found({ provider, reading, json }: ParseCost): string {
  const ratio = (reading.median / json.median).toFixed(2);
  const alone = `${json.median.toFixed(2)} us for JSON.parse alone, ratio ${ratio}`;
  return `${provider}: ${percent(reading.median)} of a core, ${micros(reading)} (${alone})`;
}

export const judgeParsing = (costs: readonly ParseCost[]): FloorRow[] =>
  costs.map((cost) => ({
    rule: 'streams of 256 answers cost at most 2 % of a core to read',
    found: found(cost),
    passed: shareOf(cost.reading.median) <= mostShare,
  }));

export const describeParsing = (costs: readonly ParseCost[]): string =>
  costs
    .flatMap((cost) => [
      found(cost),
      ...cost.others.map(({ name, reading }) => `  ${name}: ${percent(reading.median)}, ${micros(reading)}`),
    ])
    .join('\n');
