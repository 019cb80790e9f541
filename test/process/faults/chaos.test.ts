/**
 * A short run of `npm run chaos`: what the callers heard agrees with what the service says that they heard, whatever died. Promises
 * about time are printed and not judged, because other work may run on the same machine.
 */
import { execFileSync } from 'node:child_process';
import { beforeAll, describe, expect, it } from 'vitest';
import { runChaos } from '../../../scripts/measure/chaos/run.ts';
import { reportText, verdictOf } from '../../../scripts/measure/chaos/report.ts';

const root = new URL('../../../', import.meta.url);

beforeAll(() => {
  const code = `import { ensureBuilt } from './scripts/install.mjs'; await ensureBuilt();`;
  execFileSync(process.execPath, ['--input-type=module', '-e', code], { cwd: root, stdio: 'pipe' });
});

describe('calls under faults', () => {
  it('go on with their context and hear nothing twice; a dead supervisor leaves nothing behind', async () => {
    const result = await runChaos({
      calls: 8,
      seconds: 24,
      seed: 11,
      workers: 2,
      providerMs: 2_000,
      faults: ['worker-kill', 'inference-kill', 'client-stop', 'supervisor-kill'],
      root,
    });
    console.log(reportText(result));
    expect(verdictOf(result).broken).toEqual([]);
    expect(result.faults.map(({ name }) => name).sort()).toEqual([
      'client-stop',
      'inference-kill',
      'worker-kill',
    ]);
    expect(result.totals.answered).toBeGreaterThan(8);
    expect(result.orphans).toMatchObject({ count: 0 });
    const withoutInference = result.faults.find(({ name }) => name === 'inference-kill');
    expect(withoutInference?.fallback?.count).toBeGreaterThan(0);
  });
});

describe('a disk without room for the log', () => {
  it('costs no call', async () => {
    const result = await runChaos({
      calls: 4,
      seconds: 7,
      seed: 5,
      workers: 2,
      providerMs: 2_000,
      faults: ['log-full', 'clock-step'],
      root,
    });
    console.log(reportText(result));
    expect(verdictOf(result).broken).toEqual([]);
    expect(result.totals).toMatchObject({ ended: 0 });
    expect(result.totals.answered).toBeGreaterThan(0);
  });
});
