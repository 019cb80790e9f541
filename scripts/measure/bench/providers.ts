/** The providers of a run, in a process of their own. They answer the same thing at a set pace, and measure how well they keep it. */
import { ScriptedModel } from '../scripted-model.ts';
import { chatChunks, ScriptedProviders, type Ports, type Traffic } from '../scripted-providers.ts';
import { answer, pace, wordMs, wordsOf } from './client/script.ts';
import { Distribution, type Summary } from './report/statistics.ts';

export interface ProvidersReady extends Ports {
  /** Of the speaking model. */
  readonly model: number;
  readonly type: 'ready';
}

export interface ProvidersResult {
  readonly type: 'result';
  /** How much later than set the three answered. */
  readonly overMs: Summary;
  readonly rounds: number;
  readonly traffic: Traffic;
}

const speechRate = 24_000;
const heardText = 'please book a table for two people tonight';
const heardWords = heardText.split(' ');
/** A partial result for every so many messages of 100 ms. */
const partialEvery = 5;

let over = new Distribution();
let rounds = 0;

/** Something with the shape of speech: cheap to make, not silent. */
const sound = Buffer.from(
  Int16Array.from({ length: (speechRate * pace.ttsChunkMs) / 1000 }, (_, i) =>
    Math.round(6000 * Math.sin(i / 9) * Math.sin(i / 480)),
  ).buffer,
);

function soundFor(text: string): Buffer[] {
  const bytes = Math.round((wordsOf(text) * wordMs * speechRate) / 1000) * 2;
  const length = Math.ceil(bytes / sound.length);
  return Array.from({ length }, (_, at) => sound.subarray(0, bytes - at * sound.length));
}

const providers = new ScriptedProviders({
  stt: {
    text: heardText,
    finalMs: pace.sttFinalMs,
    late: (lateMs) => over.add(lateMs),
    partial: (messages) =>
      messages % partialEvery === 0 ? heardWords.slice(0, messages / partialEvery).join(' ') : undefined,
  },
  llm: () => {
    rounds += 1;
    const chunks = chatChunks(answer.split(' ').map((word) => `${word} `));
    return {
      type: 'text/event-stream; charset=utf-8',
      chunks,
      firstMs: pace.llmFirstMs,
      everyMs: pace.llmDeltaMs,
      late: (lateMs) => over.add(lateMs),
    };
  },
  tts: ({ input }) => ({
    type: 'audio/pcm',
    chunks: soundFor(String(input)),
    firstMs: pace.ttsFirstMs,
    everyMs: pace.ttsChunkEveryMs,
    late: (lateMs, chunk) => chunk === 0 && over.add(lateMs),
  }),
});

/** The answer in pieces, the words of each at its beginning. */
function spoken(): readonly { readonly text: string; readonly sound: Buffer }[] {
  const words = answer.split(' ');
  const sounds = soundFor(answer);
  const each = words.length / sounds.length;
  return sounds.map((piece, at) => {
    const own = words.slice(Math.ceil(at * each), Math.ceil((at + 1) * each));
    return { text: own.map((word) => `${word} `).join(''), sound: piece };
  });
}

const said = spoken();
const model = new ScriptedModel({
  heardText,
  reply: () => {
    rounds += 1;
    return said;
  },
  wordsMs: pace.sttFinalMs,
  // As soon as the three stages together.
  firstMs: pace.llmFirstMs + pace.ttsFirstMs,
  everyMs: pace.ttsChunkEveryMs,
  late: (lateMs) => over.add(lateMs),
});

/** For runs that look at what is left when nothing goes on. */
const shortKeepAliveMs = 3_000;

process.on('message', (order: string) => {
  if (order === 'begin') {
    over = new Distribution();
    rounds = 0;
    providers.takeTraffic();
  } else if (order === 'keep nothing') providers.keepAliveMs = shortKeepAliveMs;
  else
    process.send?.({
      ...{ type: 'result', overMs: over.summary(), rounds },
      traffic: providers.takeTraffic(),
    } satisfies ProvidersResult);
});
process.on('disconnect', () => process.exit(0));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => undefined);

const ports = { ...(await providers.start()), model: await model.start() };
process.send?.({ type: 'ready', ...ports } satisfies ProvidersReady);
