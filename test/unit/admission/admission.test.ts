/** Who gets a call slot. */
import { describe, expect, it } from 'vitest';
import {
  Admission,
  BacklogWatch,
  LatenessWatch,
  type AdmissionFacts,
} from '../../../supervisor/admission/admission.ts';

const fine: AdmissionFacts = {
  draining: false,
  sessions: 0,
  readyWorkers: 1,
  inferenceBehind: false,
  workersLate: false,
  inHandOver: 0,
};
const limits = { maxSessions: 2, acceptQueue: 3 };
const pool = { name: 'websocket', most: 4 };

describe('admission', () => {
  it('refuses while as many calls have begun as there may be', () => {
    const admission = new Admission(limits);
    expect(admission.refusal({ ...fine, sessions: 1 }, pool)).toBeUndefined();
    const refusal = admission.refusal({ ...fine, sessions: 2 }, pool);
    expect(refusal).toMatchObject({ code: 'sessions_full', status: 503, retryAfterS: 1 });
  });

  it('counts connections that have not begun at the transport alone, and takes their places back', () => {
    const admission = new Admission(limits);
    for (let i = 0; i < 4; i += 1) {
      expect(admission.refusal(fine, pool)).toBeUndefined();
      admission.take(pool.name);
    }
    expect(admission.refusal(fine, pool)).toMatchObject({ code: 'calls_full', status: 503, retryAfterS: 1 });
    admission.release(pool.name);
    expect([admission.refusal(fine, pool), admission.connections]).toEqual([undefined, 3]);
  });

  it('counts each pool of connections for itself', () => {
    const admission = new Admission(limits);
    for (let i = 0; i < 4; i += 1) admission.take(pool.name);
    expect(admission.refusal(fine, { name: 'other', most: 1 })).toBeUndefined();
    admission.take('other');
    expect(admission.refusal(fine, { name: 'other', most: 1 })?.code).toBe('calls_full');
    expect(admission.connections).toBe(5);
  });

  it.each([
    ['draining without a time to come back', { draining: true }, 'draining', undefined],
    ['a full hand-over', { inHandOver: 3 }, 'hand_over_full', 1],
    ['no worker', { readyWorkers: 0 }, 'no_worker', 1],
    ['inference that is behind, for longer', { inferenceBehind: true }, 'inference_overloaded', 5],
    ['calls that are late already, for longer', { workersLate: true }, 'workers_late', 5],
  ])('refuses for %s', (_, facts, code, retryAfterS) => {
    expect(new Admission(limits).refusal({ ...fine, ...facts }, pool)).toEqual({
      code,
      status: 503,
      message: expect.any(String) as string,
      retryAfterS,
    });
  });

  it.each([{ inHandOver: 2 }])('accepts just below a limit: %o', (facts) => {
    expect(new Admission(limits).refusal({ ...fine, ...facts }, pool)).toBeUndefined();
  });

  it('says draining before anything else, so that nobody comes back here', () => {
    const admission = new Admission({ ...limits, maxSessions: 1 });
    admission.take(pool.name);
    const facts = { draining: true, sessions: 1, readyWorkers: 0, inferenceBehind: true, workersLate: true };
    const refusal = admission.refusal({ ...facts, inHandOver: 9 }, pool);
    expect(refusal?.code).toBe('draining');
  });
});

describe('the watch over the backlog of inference', () => {
  it('takes three looks in a row for a lasting backlog', () => {
    const watch = new BacklogWatch();
    watch.look(6);
    watch.look(8);
    expect(watch.behind).toBe(false);
    watch.look(6);
    expect(watch.behind).toBe(true);
  });

  it('forgets a hiccup', () => {
    const watch = new BacklogWatch();
    for (const unread of [8, 8, 5, 8, 8]) watch.look(unread);
    expect(watch.behind).toBe(false);
    watch.look(8);
    expect(watch.behind).toBe(true);
    watch.look(0);
    expect(watch.behind).toBe(false);
  });
});

describe('the watch over the lateness of calls', () => {
  const looks = (watch: LatenessWatch, ...worst: readonly number[]): boolean => {
    for (const worstMs of worst) watch.look(worstMs);
    return watch.late;
  };

  const times = (count: number, worstMs: number): number[] => Array.from({ length: count }, () => worstMs);

  it('takes three seconds without a pause for a lack of capacity', () => {
    const watch = new LatenessWatch();
    expect(looks(watch, ...times(14, 60))).toBe(false);
    expect(looks(watch, 300)).toBe(true);
  });

  it('forgets stalls that do not last', () => {
    expect(looks(new LatenessWatch(), ...times(14, 90), 59, ...times(14, 90))).toBe(false);
  });

  it('wants the calls to be well for two seconds before it takes new ones', () => {
    const watch = new LatenessWatch();
    looks(watch, ...times(15, 60));
    expect(looks(watch, ...times(9, 19))).toBe(true);
    expect(looks(watch, 20, ...times(9, 19))).toBe(true);
    expect(looks(watch, 0)).toBe(false);
    expect(looks(watch, ...times(14, 60))).toBe(false);
  });
});
