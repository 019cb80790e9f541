/** A sound behind the voice, in calls of a running service: it is heard while the agent is silent, and the conversation goes on as ever. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadFlite } from '../../examples/demo/flite.ts';
import { newResampler } from '../../shared/audio/resampler.ts';
import { rmsDbfs } from '../../shared/audio/pcm.ts';
import type { CallEncoding } from '../../cli/commands/call/call-wire.ts';
import type { CallerEvent } from '../../cli/commands/call/caller.ts';
import { answer } from '../support/fakes/fake-chat.ts';
import { TestService } from '../support/process/service.ts';

let service: TestService;
let question: Int16Array;

const forms: [number, CallEncoding][] = [
  [16_000, 'pcm16'],
  [24_000, 'pcm16'],
  [8_000, 'mulaw'],
];

beforeAll(async () => {
  const flite = await loadFlite();
  question = flite('Could you tell me what time it is, please?', { voice: 'slt', speed: 1 });
  const turn = '[audio.background]\nsound = "street"\nvolume = 0.5';
  service = await TestService.start({ greeting: 'Hello there.', turn });
  service.providers.llm.script.push(...forms.map(() => answer('It is noon.')));
});

afterAll(() => service.stop());

it.each(forms)('at %i Hz in %s is there before, between and behind words', async (sampleRate, encoding) => {
  const events: CallerEvent[] = [];
  const call = await service.call({ sampleRate, encoding }, (event) => events.push(event));
  const isPlayed = (event: CallerEvent): boolean => event.type === 'mark-played';
  const frames = async (count: number): Promise<void> => {
    for (let at = 0; at < count; at += 1) await call.next(({ type }) => type === 'audio');
  };
  await call.next(isPlayed);
  await frames(60);
  // The agent is silent: what was played last is the street alone.
  const behind = call.heard().slice(-sampleRate / 2);
  expect(rmsDbfs(behind)).toBeGreaterThan(-45);
  expect(rmsDbfs(behind)).toBeLessThan(-20);
  service.providers.stt.utterances.push('what time is it');
  const resampler = newResampler({ from: 16_000, to: sampleRate });
  void call.say(resampler.process(question).slice());
  await call.next(isPlayed);
  await frames(25);
  await call.hangUp();
  expect(new Set(events.flatMap((event) => (event.type === 'audio' ? [event.durationMs] : [])))).toEqual(
    new Set([20]),
  );
  expect(events.filter((event) => event.type === 'error' || event.type === 'fault')).toEqual([]);
  const said = JSON.stringify(service.providers.llm.requests.at(-1)?.body['messages']);
  expect(said).toContain('Hello there.');
  expect(said).toContain('what time is it');
});
