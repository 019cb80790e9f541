/** Whatever is down, in whatever way: nobody who is owed something hears nothing for longer than three seconds. */
import { describe, expect, it } from 'vitest';
import { longestQuietMs } from '../../../scripts/measure/chaos/owed-silence.ts';
import { scriptSettings } from '../../support/core/script-settings.ts';
import { outage } from './outage-call.ts';

const numbers = (from: number, to: number, by: number): number[] =>
  Array.from({ length: Math.floor((to - from) / by) + 1 }, (_, at) => from + at * by);

/** Callers are kept, and asked whether they are there, for longer than is watched. */
const patient = {
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

describe('a call whose voice is down', () => {
  const rows = (['stalls', 'resets'] as const).flatMap((tts) =>
    [40, 300, undefined].flatMap((echoMs) =>
      [700, 1_000].map((silenceEndMs) => ({ tts, echoMs, silenceEndMs })),
    ),
  );

  it.each(rows)('is never silent, however late the LLM is as well (%j)', ({ tts, echoMs, silenceEndMs }) => {
    for (const llmMs of numbers(100, 3_000, 100)) {
      const settings = { ...patient, turn: { ...scriptSettings.turn, silenceEndMs } };
      const heard = outage({ tts, llmMs, durationMs: 40_000, settings, ...(echoMs && { echoMs }) });
      expect({ llmMs, waits: heard.longestMs > longestQuietMs }).toEqual({ llmMs, waits: false });
    }
  });
});
