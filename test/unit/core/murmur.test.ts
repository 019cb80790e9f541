/** Where an agent that listens aloud murmurs, as the one rule for it says. */
import { describe, expect, it } from 'vitest';
import { murmurIn } from '../../../worker/core/turn/murmur.ts';

const pause = { startedAt: 1_000, lastVoiceAt: 7_000, decideAt: 8_300, isJudged: true };

describe('an agent that listens aloud', () => {
  it.each([
    ['in a long turn behind which the caller goes on', pause, undefined, 7_350],
    ['in the shortest turn that is long', { ...pause, startedAt: 2_500 }, undefined, 7_350],
    ['not in a shorter one', { ...pause, startedAt: 2_501 }, undefined, undefined],
    ['where the pause may last just long enough', { ...pause, decideAt: 8_000 }, undefined, 7_350],
    ['not in a pause that is soon an end', { ...pause, decideAt: 7_999 }, undefined, undefined],
    ['not in a pause of which nothing is known', { ...pause, isJudged: false }, undefined, undefined],
    ['not within eight seconds of the last time', pause, 0, undefined],
    ['eight seconds behind the last time', { ...pause, lastVoiceAt: 8_650, decideAt: 9_900 }, 1_000, 9_000],
    ['not for a turn that is over before it is long', { ...pause, lastVoiceAt: 900 }, undefined, undefined],
  ])('murmurs %s', (_, given, lastAt, at) => {
    expect(murmurIn(given, lastAt)).toBe(at);
  });
});
