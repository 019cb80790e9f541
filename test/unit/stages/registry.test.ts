import { describe, expect, it } from 'vitest';
import { Deadline, Soon } from '../../../worker/stages/timers.ts';
import { loadAdapters, openStages, ownStageServices } from '../../../worker/stages/registry.ts';
import type { StageDefinitions } from '../../../worker/stages/registry.ts';
import { newStageContext } from '../../support/core/stage-context.ts';
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
