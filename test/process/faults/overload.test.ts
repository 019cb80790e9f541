/**
 * Twice the allowed load: what does not fit is refused at once with a time to come back, what was admitted goes on. How long
 * refusals take is printed and not judged, because other work may run on the same machine.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { CallRefused } from '../../../cli/commands/call/call-wire.ts';
import { TestService } from '../../support/process/service.ts';

const allowed = 40;
/** The calls and the refused ones share a process, which is late itself while it opens forty at once. */
const longestHoleMs = 3_000;
const longGreeting = 'This goes on and on. '.repeat(45);

let service: TestService;

afterEach(async () => {
  await service.stop();
});

describe('twice the allowed load', () => {
  it('is refused with 503 and Retry-After; admitted calls keep their voice', async () => {
    service = await TestService.start({
      workers: 2,
      greeting: longGreeting,
      env: { SVC_MAX_SESSIONS: String(allowed) },
    });
    const calls = await Promise.all(
      Array.from({ length: allowed }, () => service.call({ microphone: false })),
    );
    const holes = calls.map(() => ({ lastMs: Number.NaN, longestMs: 0, frames: 0 }));
    for (const [index, call] of calls.entries()) {
      const hole = holes[index]!;
      call.on((event) => {
        if (event.type !== 'audio') return;
        if (hole.frames > 0) hole.longestMs = Math.max(hole.longestMs, event.atMs - hole.lastMs);
        hole.lastMs = event.atMs;
        hole.frames += 1;
      });
    }
    const times: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      const refusals = await Promise.all(
        Array.from({ length: allowed }, async () => {
          const startedAt = performance.now();
          const error: unknown = await service.call().catch((thrown: unknown) => thrown);
          times.push(performance.now() - startedAt);
          return error;
        }),
      );
      for (const refusal of refusals) {
        expect(refusal).toBeInstanceOf(CallRefused);
        expect(refusal).toMatchObject({ status: 503, retryAfter: '1' });
      }
    }
    times.sort((a, b) => a - b);
    const at = (share: number): string => (times[Math.ceil(times.length * share) - 1] ?? 0).toFixed(1);
    console.log(`refusals: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, ${allowed} at once`);
    await Promise.all(calls.map((call, index) => call.next(() => holes[index]!.frames > 50)));
    expect(Math.max(...holes.map(({ longestMs }) => longestMs))).toBeLessThan(longestHoleMs);
    const ends = await Promise.all(calls.map((call) => call.hangUp()));
    expect(ends.every(({ code }) => code === 1000)).toBe(true);
    expect((await (await service.call()).hangUp()).code).toBe(1000);
  });
});

describe('a machine that paces its calls late', () => {
  it('takes no new call until those that it has are well again', async () => {
    const preload = new URL('../../support/process/chaos-busy.mjs', import.meta.url).href;
    service = await TestService.start({
      workers: 1,
      greeting: longGreeting,
      env: { NODE_OPTIONS: `--import ${preload}` },
    });
    const call = await service.call({ microphone: false });
    const worker = service.children('worker')[0]!;

    process.kill(worker, 'SIGWINCH');
    await service.readyWhen((body) => body['workers_late'] === 1);
    expect(await service.call().catch((error: unknown) => error)).toMatchObject({
      status: 503,
      retryAfter: '5',
    });
    expect(await service.metric('svc_refusals_total{reason="workers_late"}')).toBe(1);

    process.kill(worker, 'SIGWINCH');
    await service.readyWhen((body) => body['ready'] === 1);
    expect((await (await service.call()).hangUp()).code).toBe(1000);
    expect((await call.hangUp()).code).toBe(1000);
  });
});
