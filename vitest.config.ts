import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** Pure machines in simulations, golden conversations and tables: what they do depends on nothing but their sources. */
const pure = ['test/{sim,golden}/**/*.test.ts', 'test/unit/{core,failover,eval-turns}/**/*.test.ts'];

/** Real tests that fill the cores on purpose, ask who gets them, or hear every hole in a voice. */
const alone = [
  'test/process/faults/{chaos,floods,fuzz,last-resort,leaks,overload,planted-errors}.test.ts',
  'test/process/{audio-forms,priorities,rolling-update,start-cost}.test.ts',
  'test/interop/{asterisk,baresip,full-call,page-call,page-service,pipecat}.test.ts',
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

/**
 * `pure` and `fast` run on the sources in many threads. `real` starts real processes from `dist/`; its calls wait most of their time, so as
 * many files of it run at a time as there are cores. `alone` does the same one file after the other.
 */
export default defineConfig({
  test: {
    // One worker a core: left to itself vitest keeps one core for its own process, which has little to do.
    maxWorkers: availableParallelism(),
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
          exclude: alone,
          ...ofProcesses,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'alone',
          include: alone,
          ...ofProcesses,
          sequence: { groupOrder: 2 },
          fileParallelism: false,
          // Calls side by side, in the tests that say so.
          maxConcurrency: 3,
        },
      },
    ],
  },
});
