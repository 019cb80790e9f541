/**
 * A call whose data is the end of every worker that has it: it is taken up once, and at the second time it is ended, whatever it does to its
 * workers. The calls beside it go on.
 */
import { afterEach, describe, expect, it } from 'vitest';
import type { CallerEvent } from '../../../cli/commands/call/caller.ts';
import { TestService } from '../../support/process/service.ts';

const longGreeting = 'This goes on and on. '.repeat(45);
const plant = new URL('../../support/process/poison-plant.mjs', import.meta.url).href;
const neighbours = 6;

let service: TestService;

afterEach(async () => {
  await service.stop();
});

const isAudio = (event: CallerEvent): boolean => event.type === 'audio';

describe('a call that is the end of its workers', () => {
  it.each(['loop', 'expression', 'abort', 'fault', 'leave', 'memory', 'killed'])(
    'is ended at the second time, and its neighbours go on: %s',
    async (how) => {
      service = await TestService.start({
        workers: 1,
        greeting: longGreeting,
        env: { NODE_OPTIONS: `--import ${plant} --max-old-space-size=160` },
      });
      const others = await Promise.all(Array.from({ length: neighbours }, () => service.call()));
      const poison = await service.call({ callId: `poison:${how}` });
      expect((await poison.closed).code).toBe(1011);
      const ended = await service.says('a call is ended: workers hung or died during it twice');
      expect(ended['call']).toBe(`poison:${how}`);
      for (const other of others) expect(await other.next(isAudio)).toBeDefined();
      const goodbyes = await Promise.all(others.map((other) => other.hangUp()));
      expect(goodbyes).toEqual(others.map(() => ({ code: 1000, reason: 'ended' })));
      expect(service.log.filter(({ msg }) => msg === 'child process died')).toHaveLength(2);
      expect((await (await service.call()).hangUp()).code).toBe(1000);
    },
  );
});
