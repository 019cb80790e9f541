/** A fault that repeats must not fill the disk. */
import { describe, expect, it } from 'vitest';
import { auditOf, LineLimit, newLog } from '../../../shared/runtime/log.ts';

const call = {};

describe('the limit on lines', () => {
  it('lets twenty lines of a kind through, then one a second, and says how many are missing', () => {
    const limit = new LineLimit();
    const said = (now: number): (number | undefined)[] =>
      Array.from({ length: 100 }, () => limit.admit(call, 'stage failed', now));
    expect(said(0).filter((leftOut) => leftOut === 0)).toHaveLength(20);
    expect(limit.admit(call, 'stage failed', 999)).toBeUndefined();
    expect(limit.admit(call, 'stage failed', 1_000)).toBe(81);
    expect(limit.admit(call, 'stage failed', 1_500)).toBeUndefined();
    expect(limit.admit(call, 'stage failed', 3_600_000)).toBe(1);
  });

  it('counts each sentence and each call by itself', () => {
    const limit = new LineLimit();
    while (limit.admit(call, 'stage failed', 0) !== undefined);
    expect(limit.admit(call, 'call ended', 0)).toBe(0);
    expect(limit.admit({}, 'stage failed', 0)).toBe(0);
  });
});

describe('lines on who did what', () => {
  it('are written at every level of the log, and marked', () => {
    const lines: string[] = [];
    const log = newLog({ role: 'test', level: 'fatal', to: { write: (line) => void lines.push(line) } });
    log.info('nothing');
    auditOf(log).info({ by: 'Maria' }, 'an operator and a call');
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { audit: true, by: 'Maria', msg: 'an operator and a call' },
    ]);
  });
});
