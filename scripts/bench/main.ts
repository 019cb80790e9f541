/** The command: reads its options, runs once or searches for the largest number of calls, and prints. */
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { SAMPLE_RATES } from '../../shared/audio/resampler.ts';
import { summariseProfiles } from './profile-summary.ts';
import { describe, judge } from './report.ts';
import { runOnce, stopEverything, type RunOptions, type RunResult } from './run.ts';

const usage = `usage: npm run bench -- [options]
  --calls N        concurrent calls (100)
  --seconds N      length of the measured window (60)
  --workers N      call workers of the service (auto: one for each core)
  --rate HZ        sample rate of the calls (16000)
  --encoding E     pcm16 or mulaw (pcm16)
  --find-max       raise the number of calls until the floor is not kept any more
  --profile DIR    write CPU profiles of the service's processes, and show where the time goes
  --json           print the figures as one JSON object
SVC_TEST_ASSETS names a folder with recordings (audio/speech/*.wav); without it the demo's voice speaks.`;

const steps = [64, 100, 128, 160, 200, 256, 320, 400, 512];

type Command = Omit<RunOptions, 'root'> & { readonly json: boolean; readonly findMax: boolean };

class UsageError extends Error {}

function parse(args: readonly string[]): Command | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      calls: { type: 'string', default: '100' },
      seconds: { type: 'string', default: '60' },
      workers: { type: 'string', default: 'auto' },
      rate: { type: 'string', default: '16000' },
      encoding: { type: 'string', default: 'pcm16' },
      profile: { type: 'string' },
      'find-max': { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  const { encoding } = values;
  if (encoding !== 'pcm16' && encoding !== 'mulaw')
    throw new UsageError('--encoding: must be pcm16 or mulaw');
  const sampleRate = Number(values.rate);
  if (!SAMPLE_RATES.includes(sampleRate))
    throw new UsageError(`--rate: must be one of ${SAMPLE_RATES.join(', ')}`);
  return {
    calls: countOf('--calls', values.calls, 4096),
    seconds: countOf('--seconds', values.seconds, 86_400),
    workers: values.workers === 'auto' ? 'auto' : String(countOf('--workers', values.workers, 256)),
    format: { sampleRate, encoding },
    profile: values.profile === undefined ? undefined : resolve(values.profile),
    assets: process.env['SVC_TEST_ASSETS'],
    json: values.json,
    findMax: values['find-max'],
  };
}

function countOf(name: string, text: string, most: number): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > most)
    throw new UsageError(`${name}: must be a whole number from 1 to ${most}`);
  return value;
}

const passes = (result: RunResult): boolean => judge(result).every((row) => row.passed);

function print(command: Command, result: RunResult): void {
  if (command.json) {
    const metrics = Object.fromEntries(result.metrics);
    process.stdout.write(`${JSON.stringify({ ...result, metrics, floor: judge(result) })}\n`);
  } else process.stdout.write(`${describe(result)}\n\n`);
}

/** A step that fails is tried once more, because a busy machine fails steps too. */
async function findMax(command: Command, options: RunOptions): Promise<boolean> {
  let held = 0;
  for (const calls of steps) {
    let passed = false;
    for (let attempt = 0; attempt < 2 && !passed; attempt += 1) {
      const result = await runOnce({ ...options, calls });
      print(command, result);
      passed = passes(result);
    }
    if (!passed) break;
    held = calls;
  }
  process.stdout.write(`Most calls held within the floor: ${held}\n`);
  return held >= 100;
}

/** @param root the project's folder, as a URL that ends in a slash. Resolves with the exit status. */
export async function main(args: readonly string[], root: URL): Promise<number> {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      stopEverything();
      process.exit(1);
    });
  }
  try {
    const command = parse(args);
    if (command === undefined) {
      process.stdout.write(`${usage}\n`);
      return 0;
    }
    const { json: _json, findMax: search, ...rest } = command;
    if (rest.profile !== undefined) mkdirSync(rest.profile, { recursive: true });
    if (search) return (await findMax(command, { ...rest, root })) ? 0 : 1;
    const result = await runOnce({ ...rest, root });
    print(command, result);
    if (rest.profile !== undefined) process.stdout.write(`${summariseProfiles(rest.profile)}\n`);
    return passes(result) ? 0 : 1;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : 'the bench failed'}\n`);
    if (error instanceof UsageError || (error instanceof TypeError && 'code' in error))
      process.stderr.write(`${usage}\n`);
    return 1;
  }
}
