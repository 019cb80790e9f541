import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';

/** Pure machines in simulations, golden conversations and tables: what they do depends on nothing but their sources. */
const pure = ['test/{sim,golden}/**/*.test.ts', 'test/unit/{core,failover,eval-turns}/**/*.test.ts'];

/** Real tests that fill the cores on purpose, or ask who gets them. */
const alone = [
  'test/process/faults/{chaos,floods,fuzz,leaks,overload,planted-errors}.test.ts',
  'test/process/{priorities,rolling-update,start-cost}.test.ts',
  'test/interop/page-service.test.ts',
];

/** Real tests that hear every hole in a voice. */
const listening = [
  'test/process/faults/last-resort.test.ts',
  'test/process/audio-forms.test.ts',
  'test/interop/{asterisk,baresip,full-call,page-call,pipecat,real-stack}.test.ts',
  'test/interop/page-background.real.test.ts',
  'test/spec/telephony/{demo,killed-worker,outbound}.real.test.ts',
];

/** Files of one thread share what they load: a fifth of their time. None may leave anything behind in a module or the environment. */
const onSources = { isolate: false, testTimeout: 240_000, hookTimeout: 120_000 };

const ofProcesses = {
  testTimeout: 120_000,
  hookTimeout: 60_000,
  // Optional parts are tested too; what starts the service from here builds them in.
  env: { SVC_BUILD_WITH: 'sip' },
};

/** The SDK by its name, as examples and users import it. */
const alias: Readonly<Record<string, string>> = {
  '@voice-agent-service/agent/testing': sdkFile('testing'),
  '@voice-agent-service/agent': sdkFile('index'),
};

function sdkFile(name: string): string {
  return fileURLToPath(new URL(`sdk/typescript/src/${name}.ts`, import.meta.url));
}

const cores = availableParallelism();
/** Of files that wait most of their time: each of them takes a third of a core, and tests without a clock run beside them. */
const waitingFiles = Math.ceil(1.5 * cores);

/**
 * `pure` and `fast` run on the sources in many threads. The others start real processes from `dist/`, whose calls wait most of their time:
 * of `real` and `listening` half as many files again run at a time as there are cores, of `alone` one. `listening` comes at the end, when nothing
 * else of a build runs any more.
 */
export default defineConfig({
  test: {
    // One worker a core: left to itself vitest keeps one core for its own process, which has little to do.
    maxWorkers: cores,
    sequence: { sequencer: LongestFirst },
    projects: [
      { test: { name: 'pure', include: pure, ...onSources } },
      {
        resolve: { alias },
        test: {
          name: 'fast',
          include: ['test/{unit,contract,spec,privacy,types,sdk}/**/*.test.ts', 'test/*.test.ts'],
          exclude: ['test/**/*.real.test.ts', ...pure],
          ...onSources,
          // Tests of the models load ONNX Runtime themselves; inference/main.ts says what this is for.
          env: { ORT_DISABLE_TELEMETRY: '1' },
        },
      },
      {
        test: {
          name: 'real',
          include: ['test/{process,interop}/**/*.test.ts', 'test/**/*.real.test.ts'],
          exclude: [...alone, ...listening],
          ...ofProcesses,
          // As above; what these load is half of what a short file takes.
          isolate: false,
          sequence: { groupOrder: 1 },
          maxWorkers: waitingFiles,
        },
      },
      {
        test: {
          name: 'alone',
          include: alone,
          ...ofProcesses,
          sequence: { groupOrder: 2 },
          fileParallelism: false,
        },
      },
      {
        test: {
          name: 'listening',
          include: listening,
          ...ofProcesses,
          sequence: { groupOrder: 3 },
          maxWorkers: waitingFiles,
          // Calls side by side, in the tests that say so.
          maxConcurrency: 3,
        },
      },
    ],
  },
});
