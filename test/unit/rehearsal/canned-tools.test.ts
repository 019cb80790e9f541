import { describe, expect, it } from 'vitest';
import { withStandIns } from '../../../cli/rehearsal/scenarios/canned-tools.ts';
import type { CannedTool } from '../../../cli/rehearsal/scenarios/scenario.ts';
import type { CallTools, OrderedRun, ToolReport } from '../../../worker/tools/tool.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';

const order = (name: string): OrderedRun => ({
  call: { id: 'c1', name, arguments: '{}' },
  epoch: 1,
  idempotencyKey: '0'.repeat(16),
  timeoutMs: 1000,
});

function stand(tools: readonly CannedTool[], realTools = true) {
  const clock = newVirtualClock();
  const ran: string[] = [];
  const missing: string[] = [];
  const real: CallTools = {
    declarations: () => [],
    ruleOf: () => undefined,
    performerOf: () => 'runner',
    validate: () => ({ ok: true, canonical: '{}' }),
    run: ({ call }) => {
      ran.push(call.name);
      return { cancel: () => undefined };
    },
  };
  const standIns = { tools, realTools, missing: (name: string) => void missing.push(name) };
  const calls = withStandIns(real, standIns, { clock, bind: (callback) => callback });
  const reports: ToolReport[] = [];
  const run = (name: string) => calls.run(order(name), (report) => void reports.push(report));
  return { run, reports, ran, missing, clock };
}

const weather = { name: 'weather', description: 'd', parameters: { type: 'object' } };
const result = (text: string): CannedTool => ({ ...weather, outcome: { kind: 'result', text } });

describe('a stand-in for a tool', () => {
  it('answers instead of the tool, never from inside the order to run', () => {
    const { run, reports, ran, clock } = stand([result('sunny')]);
    run('weather');
    expect(reports).toEqual([]);
    clock.advance(0);
    expect(reports).toEqual([{ kind: 'result', text: 'sunny' }]);
    expect(ran).toEqual([]);
  });

  it('answers in order, and goes on with the last answer', () => {
    const error: CannedTool = { ...weather, outcome: { kind: 'error', message: 'down' } };
    const { run, reports, clock } = stand([error, result('sunny')]);
    for (let at = 0; at < 3; at += 1) run('weather');
    clock.advance(1);
    expect(reports).toEqual([
      { kind: 'failed', message: 'down', transport: false },
      { kind: 'result', text: 'sunny' },
      { kind: 'result', text: 'sunny' },
    ]);
  });

  it('does not answer once it was cancelled', () => {
    const { run, reports, clock } = stand([result('sunny')]);
    run('weather').cancel('interrupted');
    clock.advance(1);
    expect(reports).toEqual([]);
  });

  it('leaves other tools alone, unless no real tool may be run', () => {
    const free = stand([result('sunny')]);
    free.run('book');
    expect(free.ran).toEqual(['book']);
    const strict = stand([result('sunny')], false);
    strict.run('book');
    strict.clock.advance(1);
    expect(strict.ran).toEqual([]);
    expect(strict.missing).toEqual(['book']);
    expect(strict.reports).toMatchObject([{ kind: 'failed' }]);
  });
});
