import { describe, expect, it } from 'vitest';
import { dialects } from '../../../worker/stages/realtime/openai/declaration.ts';
import { Deadline, Soon } from '../../../worker/stages/timers.ts';
import { loadAdapters, openStages, ownStageServices, withRealtime } from '../../../worker/stages/registry.ts';
import type { StageDefinitions } from '../../../worker/stages/registry.ts';
import { newStageContext } from '../../support/core/stage-context.ts';
import { ScriptedModel } from '../../support/core/scripted-model.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';

describe('the registry of providers', () => {
  it('opens the three stages of a definition', async () => {
    const speech = (baseUrl: string): NonNullable<StageDefinitions['tts']>['primary'] => ({
      access: { apiKey: 'k', language: 'en', sampleRate: 24_000 },
      chosen: {
        provider: 'speech_compatible',
        options: {
          baseUrl,
          preset: 'generic',
          model: 'm',
          format: 'pcm',
          firstAudioTimeoutMs: 1000,
          warmText: '',
          warmIntervalMs: 1000,
        },
      },
    });
    const definitions: StageDefinitions = {
      stt: {
        primary: {
          access: { language: 'en' },
          chosen: {
            provider: 'stt_local_ws',
            options: {
              baseUrl: 'ws://127.0.0.1:6006',
              path: '/',
              sampleRate: 16_000,
              finalizeTimeoutMs: 1500,
              finalizePaddingMs: 0,
            },
          },
        },
      },
      llm: {
        primary: {
          access: {},
          chosen: { provider: 'chat_compatible', options: { baseUrl: 'http://127.0.0.1/v1', model: 'm' } },
        },
      },
      tts: { primary: speech('https://tts.example/v1'), secondary: speech('https://voice.example/v1') },
    };
    const stages = openStages(definitions, await loadAdapters(definitions), ownStageServices());
    const all = [stages.stt, stages.llm, stages.tts];
    expect(all.map((stage) => stage.provider)).toEqual([
      'stt_local_ws',
      'chat_compatible',
      'speech_compatible',
    ]);
    await Promise.all(all.map((stage) => stage.close()));
  });
});

describe('a model that speaks, alone', () => {
  const chosen = { dialect: dialects.openai, baseUrl: 'ws://127.0.0.1', model: 'm' };
  const access = { language: 'en', output: 'audio', words: 'vendor' } as const;

  it.each([
    [true, ['begin', 'audio 7']],
    [false, undefined],
  ])('hears what is said over it in a session of its own where it can: %s', async (writesOver, heard) => {
    const definitions: StageDefinitions = {
      realtime: {
        primary: { access, chosen: { provider: 'openai_realtime', options: chosen } },
        maxSilenceMs: 2_000,
        writesOver,
      },
    };
    const { model, sessions } = new ScriptedModel();
    const services = ownStageServices();
    const stages = openStages(definitions, await loadAdapters({}), services);
    const own = withRealtime(definitions, { model, stages, sampleRate: 8_000 }, services);
    const clock = newVirtualClock();
    const context = newStageContext(clock);
    const ears = own.stt.open(context, () => undefined);
    const voice = own.tts.open(context, () => undefined);
    const mind = own.llm.open(context, {});
    const [call] = sessions;
    call?.say({ type: 'ready', caps: new ScriptedModel().caps });
    mind.start({ messages: [{ role: 'user', text: 'Hello.' }], tools: [] }, () => undefined);
    call?.say({ type: 'text', answer: 1, item: 'a', text: 'Good evening.' });
    call?.say({ type: 'audio', answer: 1, item: 'a', pcm: new Int16Array(8_000) });
    voice.speak(1, 'Good evening.');
    clock.advance(0);
    ears.audio(new Int16Array(320).fill(7));
    expect(sessions[1]?.told).toEqual(heard);
    expect(call?.told.filter((line) => line.startsWith('audio'))).toEqual([]);
    for (const session of [ears, voice, mind]) session.close();
  });
});

describe('a deadline', () => {
  it('passes once, at its last setting, with one timer however often it moves', () => {
    const clock = newVirtualClock();
    let passed = 0;
    const deadline = new Deadline(newStageContext(clock), () => (passed += 1));
    for (let i = 0; i < 10; i += 1) {
      deadline.set(100);
      expect(clock.pending).toBe(1);
      clock.advance(50);
    }
    expect(passed).toBe(0);
    clock.advance(50);
    expect(passed).toBe(1);
    clock.advance(1_000);
    expect(passed).toBe(1);
  });

  it('moves to an earlier time, and can be cleared', () => {
    const clock = newVirtualClock();
    let passed = 0;
    const deadline = new Deadline(newStageContext(clock), () => (passed += 1));
    deadline.set(1_000);
    deadline.set(10);
    clock.advance(10);
    expect(passed).toBe(1);
    deadline.set(10);
    deadline.clear();
    clock.advance(100);
    expect(passed).toBe(1);
    deadline.set(5);
    deadline.close();
    expect(clock.pending).toBe(0);
  });
});

describe('what shall happen soon', () => {
  it('happens once however often it is asked for, and not after the call ended', () => {
    const clock = newVirtualClock();
    const context = newStageContext(clock);
    let ran = 0;
    const soon = new Soon(context, () => (ran += 1));
    soon.ask();
    soon.ask();
    expect(ran).toBe(0);
    clock.advance(0);
    expect(ran).toBe(1);
    soon.ask();
    context.end();
    clock.advance(0);
    expect(ran).toBe(1);
  });
});
