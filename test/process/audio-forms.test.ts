/** The forms of audio (docs/call-protocol.md, A call): whole calls at every sample rate and encoding. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadFlite } from '../../examples/demo/flite.ts';
import { SAMPLE_RATES } from '../../shared/base/units.ts';
import { newResampler } from '../../shared/audio/resampler.ts';
import type { CallEncoding } from '../../cli/commands/call/call-wire.ts';
import type { CallerEvent } from '../../cli/commands/call/caller.ts';
import { answer } from '../support/fakes/fake-chat.ts';
import { TestService } from '../support/process/service.ts';

const forms = SAMPLE_RATES.flatMap((rate) =>
  (['pcm16', 'mulaw'] as const).map((encoding): [number, CallEncoding] => [rate, encoding]),
);

let service: TestService;
let question: Int16Array;

beforeAll(async () => {
  const flite = await loadFlite();
  question = flite('Could you tell me what time it is, please?', { voice: 'slt', speed: 1 });
  service = await TestService.start({ greeting: 'Hello there.' });
  service.providers.llm.script.push(...forms.map(() => answer('It is noon.')));
});

afterAll(async () => {
  const { llm } = service.providers;
  await service.stop();
  expect(llm.requests).toHaveLength(forms.length);
  for (const { body } of llm.requests) expect(JSON.stringify(body['messages'])).toContain('what time is it');
});

function questionAt(rate: number): Int16Array {
  const resampler = newResampler({ from: 16_000, to: rate });
  return resampler.process(question).slice();
}

// Several at a time; they say and hear the same, because the fakes do not know one call from another.
describe('a call', () => {
  it.concurrent.each(forms)(
    'at %i Hz in %s is greeted, heard and answered in frames of exactly 20 ms',
    async (rate, encoding) => {
      const events: CallerEvent[] = [];
      const call = await service.call({ sampleRate: rate, encoding }, (event) => events.push(event));
      const played = (event: CallerEvent): boolean => event.type === 'mark-played';
      await call.next(played);
      service.providers.stt.utterances.push('what time is it');
      void call.say(questionAt(rate));
      await call.next(played);
      await call.hangUp();
      const frames = events.flatMap((event) => (event.type === 'audio' ? [event.durationMs] : []));
      // The greeting and the answer, at 60 ms a character, without the silence in which the last frame ends.
      const expected = ('Hello there.It is noon.'.length * 60) / 20;
      expect(frames.length).toBeGreaterThanOrEqual(expected);
      expect(frames.length).toBeLessThan(expected + 6);
      expect(new Set(frames)).toEqual(new Set([20]));
      expect(events.filter((event) => event.type === 'error' || event.type === 'fault')).toEqual([]);
    },
  );
});
