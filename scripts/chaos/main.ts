/** `npm run chaos`: reads the options, runs, prints the report. */
import { parseArgs } from 'node:util';
import { faultNames, type FaultName } from './faults.ts';
import { reportText, verdictOf } from './report.ts';
import { runChaos } from './run.ts';

const help = `Usage: npm run chaos -- [options]

  --calls N      calls that are held (20)
  --seconds S    time for faults (60)
  --seed X       the same seed gives the same schedule (1)
  --workers N    call workers (2)
  --faults LIST  names with commas between them (all but log-full and memory-limit); --list names them
  --provider-seconds N   how long one stage of providers is at fault (2)
  --log FILE     the service's log is written there
  --lenient      promises about time do not count: for machines that do other work as well
`;

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
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help || values.list) {
    process.stdout.write(values.help ? help : `${faultNames.join('\n')}\n`);
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
      ? faultNames.filter((name) => name !== 'log-full' && name !== 'memory-limit')
      : named(values.faults);
  const options = {
    calls: whole('calls', 1),
    seconds: whole('seconds', 1),
    seed: whole('seed', 0),
    workers: whole('workers', 1),
    providerMs: whole('provider-seconds', 1) * 1_000,
  };
  const result = await runChaos({ ...options, faults, logFile: values.log, root }, (text) =>
    process.stderr.write(text),
  );
  process.stdout.write(reportText(result));
  const { broken, late } = verdictOf(result);
  return broken.length > 0 || (late.length > 0 && !values.lenient) ? 1 : 0;
}

function named(list: string): FaultName[] {
  const isName = (name: string): name is FaultName => faultNames.some((known) => known === name);
  const names = list.split(',').filter((name) => name !== '');
  const valid = names.filter(isName);
  if (valid.length < names.length) throw new Error(`--faults knows: ${faultNames.join(', ')}`);
  return valid;
}
