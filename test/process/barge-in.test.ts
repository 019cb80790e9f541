/** An interruption on the wire: what the caller is told, what is not played, and what the LLM is told that was heard. */
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { loadFlite, type Flite } from '../../examples/demo/flite.ts';
import type { CallClient, CallerEvent } from '../../cli/commands/call/caller.ts';
import { answer, choice, stream } from '../support/fakes/fake-chat.ts';
import { samplesOf } from '../support/fakes/fake-speech.ts';
import { TestService } from '../support/process/service.ts';

interface Message {
  readonly role: string;
  readonly content: string;
}

const longAnswer =
  'First there was nothing at all. Then somebody had an idea. It was a good one, as ideas go. ' +
  'Many people came to look at it. They all went home again in the evening.';

let service: TestService;
let flite: Flite;
let events: CallerEvent[];

beforeAll(async () => {
  flite = await loadFlite();
});

afterEach(async () => {
  await service.stop();
});

const isAudio = (event: CallerEvent): boolean => event.type === 'audio';
const audioFrames = (): number => events.filter(isAudio).length;

const say = (call: CallClient, text: string): ReturnType<CallClient['say']> =>
  call.say(flite(text, { voice: 'slt', speed: 1 }));

/** A call that has asked something and has heard some frames of the answer. */
async function callDuringAnswer(frames: number, text = longAnswer): Promise<CallClient> {
  service = await TestService.start();
  events = [];
  const call = await service.call({}, (event) => events.push(event));
  service.providers.stt.utterances.push('tell me a story');
  service.providers.llm.script.push(answer(text));
  void say(call, 'Please tell me a story about ideas.');
  for (let i = 0; i < frames; i += 1) await call.next(isAudio);
  return call;
}

const messagesOf = (request: number): Message[] =>
  service.providers.llm.requests[request]?.body['messages'] as Message[];

describe('speech of the caller while the bot speaks', () => {
  it('clears at once, moves the epoch, and only what was heard reaches the LLM', async () => {
    const call = await callDuringAnswer(100);
    const { stt, llm } = service.providers;
    stt.utterances.push('stop please');
    llm.script.push(answer('All right.'));
    void say(call, 'Stop that now, please, I have heard enough.');
    const clear = await call.next((event) => event.type === 'clear');
    expect(clear).toMatchObject({ type: 'clear' });
    const sentFrames = audioFrames();
    await llm.until(() => llm.requests.length === 2);
    expect(audioFrames()).toBe(sentFrames);

    const [system, first, heard, second, ...more] = messagesOf(1);
    expect([system?.role, first, second, more]).toEqual([
      'system',
      { role: 'user', content: 'tell me a story' },
      { role: 'user', content: 'stop please' },
      [],
    ]);
    expect(heard?.role).toBe('assistant');
    expect(longAnswer.startsWith(heard?.content ?? '-')).toBe(true);
    expect(longAnswer.charAt(heard?.content.length ?? 0)).toMatch(/\s/);
    const heardMs = (samplesOf(heard?.content ?? '') * 1000) / 24_000;
    expect(heardMs).toBeLessThanOrEqual(sentFrames * 20);
    expect(heardMs).toBeGreaterThan(sentFrames * 20 - 2_000);

    await call.next((event) => event.type === 'mark-played');
    expect(await call.hangUp()).toEqual({ code: 1000, reason: 'ended' });
    expect(events.filter((event) => event.type === 'error' || event.type === 'fault')).toEqual([]);
    expect(events.filter((event) => event.type === 'clear')).toHaveLength(1);
  });

  it('abandons the request of the old epoch; the next interruption has a later epoch', async () => {
    service = await TestService.start();
    events = [];
    const call = await service.call({}, (event) => events.push(event));
    const { stt, llm } = service.providers;
    const endless = stream(
      ['This is the first sentence of many. ', 'And the next.'].map((content) => choice({ content })),
      'hold',
    );
    llm.script.push(endless, endless, answer('Fine.'));
    for (let turn = 0; turn < 3; turn += 1) {
      stt.utterances.push(`turn ${turn}`);
      await say(call, 'Stop that now, please, I have heard enough.');
      await llm.until(() => llm.requests.length === turn + 1);
      await call.next(isAudio);
    }
    const epochs = events.flatMap((event) => (event.type === 'clear' ? [event.epoch] : []));
    expect(epochs).toHaveLength(2);
    expect(epochs[1]).toBeGreaterThan(epochs[0]!);
    await llm.until(() => llm.requests[0]?.aborted === true && llm.requests[1]?.aborted === true);
    expect(await service.metric('svc_interruptions_total')).toBe(2);
  });

  it('a key press interrupts as well', async () => {
    const call = await callDuringAnswer(50);
    service.providers.llm.script.push(answer('Seven it is.'));
    call.sendDtmf('7');
    call.sendDtmf('#');
    await call.next((event) => event.type === 'clear');
    const { llm } = service.providers;
    await llm.until(() => llm.requests.length === 2);
    expect(messagesOf(1).at(-1)).toEqual({ role: 'user', content: '[The caller pressed the keys: 7]' });
    expect(longAnswer.startsWith(messagesOf(1).at(-2)?.content ?? '-')).toBe(true);
  });
});
