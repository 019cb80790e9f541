/** The providers of a run, in a process of their own. They answer the same thing at a set pace, and measure how well they keep it. */
import { chatChunks, ScriptedProviders, type Ports } from '../scripted-providers.ts';
import { answer, pace, wordMs, wordsOf } from './client/script.ts';
import { Distribution, type Summary } from './report/statistics.ts';

export interface ProvidersReady extends Ports {
  readonly type: 'ready';
}

export interface ProvidersResult {
  readonly type: 'result';
  /** How much later than set the three answered. */
  readonly overMs: Summary;
  readonly rounds: number;
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

/** For runs that look at what is left when nothing goes on. */
const shortKeepAliveMs = 3_000;

process.on('message', (order: string) => {
  if (order === 'begin') {
    over = new Distribution();
    rounds = 0;
  } else if (order === 'keep nothing') providers.keepAliveMs = shortKeepAliveMs;
  else process.send?.({ type: 'result', overMs: over.summary(), rounds } satisfies ProvidersResult);
});
process.on('disconnect', () => process.exit(0));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => undefined);

process.send?.({ type: 'ready', ...(await providers.start()) } satisfies ProvidersReady);
