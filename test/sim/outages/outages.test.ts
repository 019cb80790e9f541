/** Whatever is down, in whatever way: nobody who is owed something hears nothing for longer than three seconds. */
import { describe, expect, it } from 'vitest';
import { longestQuietMs } from '../../../scripts/measure/chaos/owed-silence.ts';
import { defaultCallLimits } from '../../../worker/core/settings.ts';
import { scriptSettings } from '../../support/core/script-settings.ts';
import { outage } from './outage-call.ts';

const numbers = (from: number, to: number, by: number): number[] =>
  Array.from({ length: Math.floor((to - from) / by) + 1 }, (_, at) => from + at * by);

/** Callers are kept, and asked whether they are there, for longer than is watched. */
const patient = {
  limits: defaultCallLimits,
  outage: { ...scriptSettings.outage, keepMs: 60_000 },
  idle: { ...scriptSettings.idle, endAfter: 9 },
};

describe('a call whose recogniser is down', () => {
  it.each(['stalls', 'resets', 'garbage'] as const)('is answered each time, however short (%s)', (stt) => {
    // A session may die between the last audio of a turn and its end, and the next one was given nothing then.
    for (const clipMs of numbers(300, 1_500, 20)) {
      const { longestFirstMs, turns } = outage({ stt, clipMs, turns: 6, echoMs: 40, settings: patient });
      expect({ clipMs, waits: longestFirstMs > longestQuietMs }).toEqual({ clipMs, waits: false });
      expect(turns).toBe(6);
    }
  });
});

describe('a call whose recogniser is silent', () => {
  it('counts the whole pause before the end of a turn', () => {
    for (const silenceEndMs of numbers(700, 1_100, 100))
      for (const fadeMs of [0, 100, 240]) {
        const settings = { ...patient, turn: { ...scriptSettings.turn, silenceEndMs } };
        const { longestFirstMs } = outage({ stt: 'stalls', turns: 3, fadeMs, echoMs: 40, settings });
        const waits = longestFirstMs > longestQuietMs;
        expect({ silenceEndMs, fadeMs, waits }).toEqual({ silenceEndMs, fadeMs, waits: false });
      }
  });
});

/** A loaded machine and a line take their part of the three seconds; an agent that waits for a second takes it itself. */
const marginMs = (silenceEndMs: number): number => (silenceEndMs < 1_000 ? 200 : 0);

describe('a call whose voice is down', () => {
  const rows = (['stalls', 'resets', 'garbage'] as const).flatMap((tts) =>
    [40, 300, undefined].flatMap((echoMs) =>
      [500, 700, 1_000].map((silenceEndMs) => ({ tts, echoMs, silenceEndMs })),
    ),
  );

  it.each(rows)('is never silent, however late the LLM is as well (%j)', ({ tts, echoMs, silenceEndMs }) => {
    for (const llmMs of numbers(100, 3_000, 100)) {
      const settings = { ...patient, turn: { ...scriptSettings.turn, silenceEndMs } };
      const keys = llmMs % 200 === 0;
      const heard = outage({ tts, llmMs, keys, durationMs: 40_000, settings, ...(echoMs && { echoMs }) });
      const waits = heard.longestMs > longestQuietMs - marginMs(silenceEndMs);
      expect({ llmMs, keys, waits }).toEqual({ llmMs, keys, waits: false });
    }
  });

  // Speech detection of a loaded machine is late, and some agents wait for long.
  it.each(['stalls', 'resets', 'garbage'] as const)(
    'counts the whole pause before the end of a turn (%s)',
    (tts) => {
      for (const silenceEndMs of numbers(700, 1_200, 100))
        for (const llmMs of [100, 200, 300]) {
          const settings = { ...patient, turn: { ...scriptSettings.turn, silenceEndMs } };
          const heard = outage({ tts, llmMs, turns: 3, fadeMs: 240, echoMs: 40, settings });
          const waits = heard.longestMs > longestQuietMs - 500;
          expect({ silenceEndMs, llmMs, waits }).toEqual({ silenceEndMs, llmMs, waits: false });
        }
    },
  );

  it.each(['stalls', 'resets', 'garbage'] as const)('answers each turn in time (%s)', (tts) => {
    for (const llmMs of numbers(100, 3_000, 100))
      for (const keys of [false, true]) {
        const heard = outage({ tts, llmMs, keys, turns: 4, fadeMs: 240, echoMs: 40, settings: patient });
        // A text that comes right before the filler has half a second in any case.
        const isLate = llmMs > 1_200 && llmMs < 1_500;
        const waits = heard.longestMs > longestQuietMs - (isLate ? 50 : 200);
        expect({ llmMs, keys, waits, turns: heard.turns }).toEqual({ llmMs, keys, waits: false, turns: 4 });
      }
  });
});
