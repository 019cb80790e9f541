/** `npm run chaos`: reads the options, runs, prints the report. */
import { parseArgs } from 'node:util';
import { faultNames, type FaultName } from './faults.ts';
import { reportText, verdictOf } from './report.ts';
import { runChaos } from './run.ts';

export async function main(args: readonly string[], root: URL): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      calls: { type: 'string', default: '20' },
      seconds: { type: 'string', default: '60' },
      seed: { type: 'string', default: '1' },
      workers: { type: 'string', default: '2' },
      faults: { type: 'string' },
      log: { type: 'string' },
      'provider-seconds': { type: 'string', default: '2' },
      lenient: { type: 'boolean', default: false },
      realtime: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
    },
  });
  if (values.list) {
    process.stdout.write(`${faultNames.join('\n')}\n`);
    return 0;
  }
  const whole = (
    name: 'calls' | 'seconds' | 'seed' | 'workers' | 'provider-seconds',
    least: number,
  ): number => {
    const value = Number(values[name]);
    if (!Number.isInteger(value) || value < least || value > 100_000)
      throw new Error(`--${name} must be a whole number from ${least} on`);
    return value;
  };
  const faults =
    values.faults === undefined
      ? faultNames.filter((name) => isUsual(name, values.realtime))
      : named(values.faults);
  const options = {
    calls: whole('calls', 1),
    seconds: whole('seconds', 1),
    seed: whole('seed', 0),
    workers: whole('workers', 1),
    providerMs: whole('provider-seconds', 1) * 1_000,
    realtime: values.realtime,
  };
  const result = await runChaos({ ...options, faults, logFile: values.log, root }, (text) =>
    process.stderr.write(text),
  );
  process.stdout.write(reportText(result));
  const { broken, late } = verdictOf(result);
  return broken.length > 0 || (late.length > 0 && !values.lenient) ? 1 : 0;
}

/** Some faults run only when they are named, and those of the model only where there is one. */
const isUsual = (name: FaultName, realtime: boolean): boolean =>
  name !== 'log-full' && name !== 'memory-limit' && (realtime || !name.startsWith('model-'));

function named(list: string): FaultName[] {
  const isName = (name: string): name is FaultName => faultNames.some((known) => known === name);
  const names = list.split(',').filter((name) => name !== '');
  const valid = names.filter(isName);
  if (valid.length < names.length) throw new Error(`--faults knows: ${faultNames.join(', ')}`);
  return valid;
}
