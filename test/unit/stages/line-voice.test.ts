/** The voice of lines where an agent has no TTS: what the model is told to read, and what the call hears of it. */
import { beforeEach, describe, expect, it } from 'vitest';
import { ScriptedModel } from '../../support/core/scripted-model.ts';
import { newStageContext } from '../../support/core/stage-context.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';
import { absentLlm, absentStt, absentTts } from '../../../worker/stages/absent.ts';
import { lineVoice } from '../../../worker/stages/realtime/line-voice.ts';
import type { LlmEvent, SttEvent, TtsEvent, TtsSession } from '../../../worker/stages/stage.ts';

let clock: ReturnType<typeof newVirtualClock>;
let model: ScriptedModel;
let voice: TtsSession;
let told: TtsEvent[];
let spent: Record<string, number>;

beforeEach(() => {
  clock = newVirtualClock();
  model = new ScriptedModel();
  told = [];
  spent = {};
  voice = lineVoice(model.model, {
    sampleRate: 8_000,
    meter: { spent: (unit, amount) => void (spent[unit] = amount) },
  }).open(newStageContext(clock), (event) => told.push(event));
});

const line = (context: number, ...pieces: string[]): void => {
  for (const piece of pieces) voice.speak(context, piece);
  voice.flush(context);
  clock.advance(0);
};
const sounds = (first: number): void =>
  model.last.say({ type: 'audio', answer: 1, item: 'a', pcm: new Int16Array(80).fill(first) });
const reads = (first: number): void => {
  sounds(first);
  model.last.say({ type: 'done', answer: 1, finish: 'completed' });
  clock.advance(0);
};

const shown = (): string[] =>
  told.map((event) =>
    event.type === 'error'
      ? `error ${event.error.kind}`
      : `${event.type} ${event.context}${event.type === 'audio' ? `: ${event.pcm[0]}` : ''}`,
  );

describe('a line', () => {
  it('is read in a session of its own, which ends with it', () => {
    expect(model.sessions).toHaveLength(0);
    line(1, 'Hello there. ', 'How may I help?');
    expect(model.last.seed).toMatchObject({ tools: [], history: [] });
    expect(model.last.seed.instructions).toContain('word for word');
    expect(model.last.told).toEqual(['user: Hello there. How may I help?', 'respond 1']);
    reads(7);
    expect(shown()).toEqual(['audio 1: 7', 'spoken 1', 'flushed 1']);
    expect(told[1]).toMatchObject({ chars: 'Hello there. How may I help?'.length });
    expect(model.last.isClosed).toBe(true);
  });

  it('is charged like an answer', () => {
    line(1, 'One.');
    const usage = {
      ...{ inputTokens: 9, outputTokens: 40, cachedTokens: 0, inputAudioTokens: 0 },
      ...{ outputAudioTokens: 30, cachedAudioTokens: 0, reasoningTokens: 0 },
    };
    model.last.say({ type: 'done', answer: 1, finish: 'completed', usage });
    expect(spent).toMatchObject({ input_tokens: 9, audio_output_tokens: 30 });
  });

  it('waits for the one before', () => {
    line(1, 'One.');
    line(2, 'Two.');
    expect(model.sessions).toHaveLength(1);
    reads(1);
    expect(model.sessions).toHaveLength(2);
    reads(2);
    expect(shown()).toEqual(['audio 1: 1', 'spoken 1', 'flushed 1', 'audio 2: 2', 'spoken 2', 'flushed 2']);
  });

  it('is asked for when it is whole, and an empty one is not asked for', () => {
    voice.speak(1, 'One.');
    clock.advance(0);
    expect(model.sessions).toHaveLength(0);
    line(2);
    voice.flush(1);
    clock.advance(0);
    reads(1);
    clock.advance(0);
    expect(shown().slice(-2)).toEqual(['spoken 2', 'flushed 2']);
    expect(model.sessions).toHaveLength(1);
  });

  it('that is cancelled is heard no more, and the next one is read', () => {
    line(1, 'One.');
    const first = model.last;
    sounds(1);
    voice.cancel(1);
    line(2, 'Two.');
    first.say({ type: 'audio', answer: 1, item: 'a', pcm: new Int16Array(80) });
    expect(first.isClosed).toBe(true);
    reads(2);
    expect(shown()).toEqual(['audio 1: 1', 'cancelled 1', 'audio 2: 2', 'spoken 2', 'flushed 2']);
  });

  it('waits while the call takes no more', () => {
    line(1, 'One.');
    voice.pause();
    reads(1);
    expect(shown()).toEqual([]);
    voice.resume();
    clock.advance(0);
    expect(shown()).toEqual(['audio 1: 1', 'spoken 1', 'flushed 1']);
  });

  it.each([
    ['refuses', () => model.last.say({ type: 'done', answer: 1, finish: 'failed' }), 'disconnected'],
    ['dies', () => model.last.say({ type: 'error', error: { kind: 'protocol', rule: 'r' } }), 'protocol'],
    ['is silent', () => clock.advance(20_000), 'timeout'],
  ])('of a model that %s has failed', (_how, fail, kind) => {
    line(1, 'One.');
    fail();
    clock.advance(0);
    expect(shown()).toEqual([`error ${kind}`]);
    expect(model.last.isClosed).toBe(true);
  });

  it('is told nothing of behind a close', () => {
    line(1, 'One.');
    voice.close();
    reads(1);
    expect(shown()).toEqual([]);
    expect(model.last.isClosed).toBe(true);
  });
});

describe('stages that an agent does without', () => {
  it('are what a provider is that is down', () => {
    const context = newStageContext(clock);
    const events: (SttEvent | LlmEvent | TtsEvent)[] = [];
    const ears = absentStt.open(context, (event) => events.push(event));
    expect(ears.audio(new Int16Array(1))).toBe(true);
    absentTts.open(context, (event) => events.push(event)).speak(1, 'a');
    const mind = absentLlm.open(context, {});
    mind.start({ messages: [], tools: [] }, (event) => events.push(event));
    mind.start({ messages: [], tools: [] }, (event) => events.push(event)).cancel();
    expect(events).toEqual([]);
    clock.advance(0);
    const error = { kind: 'rejected', status: 404, retryable: false };
    expect(events).toEqual([1, 2, 3].map(() => ({ type: 'error', error })));
  });
});
