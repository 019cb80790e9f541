/** Facts about speech from probabilities of frames of 32 ms. */
import { describe, expect, it } from 'vitest';
import type { FrameSound } from '../../../worker/media/vad/frame-sound.ts';
import { SpeechDetector, type SpeechDetectorSettings } from '../../../worker/media/vad/speech-detector.ts';

const settings = { threshold: 0.5, minSpeechMs: 96, confirmMs: 192, sureMs: 96, stopMs: 160 };

/** A detector and the facts that each frame caused. */
function newDetector(changed: Partial<SpeechDetectorSettings> = {}) {
  let facts: string[] = [];
  const detector = new SpeechDetector({ ...settings, ...changed }, (fact) => facts.push(fact));
  return (probability: number, frames = 1): string[] => {
    facts = [];
    for (let i = 0; i < frames; i += 1) detector.take(probability, 32);
    return facts;
  };
}

describe('the speech detector', () => {
  it('reports speech once the voice has lasted long enough, at the very frame', () => {
    const take = newDetector();
    expect(take(0.5, 2)).toEqual([]);
    expect(take(0.5)).toEqual(['speech.started']);
    expect(take(0.9, 2)).toEqual([]);
    expect(take(0.9)).toEqual(['speech.confirmed']);
    expect(take(0.9, 500)).toEqual([]);
  });

  it('tells that a voice goes on by the voice in it, once for each of its lengths', () => {
    const take = newDetector({ lastsMs: [320, 640] });
    expect(take(0.9, 9)).toEqual(['speech.started', 'speech.confirmed']);
    // A voice that ends here has not lasted for so long.
    expect([...take(0, 4)]).toEqual([]);
    expect(take(0.9)).toEqual(['voice.lasted']);
    expect([...take(0.9, 9)]).toEqual([]);
    expect([...take(0.9, 100)]).toEqual(['voice.lasted']);
    expect(take(0, 5)).toEqual(['speech.stopped']);
    expect(take(0.9, 10)).toEqual(['voice.resumed', 'speech.started', 'speech.confirmed', 'voice.lasted']);
  });

  it('says which of its lengths a voice has reached', () => {
    const detector = new SpeechDetector({ ...settings, lastsMs: [320, 640] }, () => undefined);
    const after = (frames: number): number => {
      for (let i = 0; i < frames; i += 1) detector.take(0.9, 32);
      return detector.lastedMs;
    };
    expect([after(9), after(1), after(9), after(1)]).toEqual([0, 320, 320, 640]);
  });

  it('takes nothing below the threshold for the beginning of speech', () => {
    expect(newDetector()(0.499, 1_000)).toEqual([]);
  });

  it('starts anew when the voice breaks off before it was speech', () => {
    const take = newDetector();
    expect([...take(0.9, 2), ...take(0.49), ...take(0.9, 2)]).toEqual([]);
    expect(take(0.9)).toEqual(['speech.started']);
  });

  it('goes on with speech down to 0.15 below the threshold', () => {
    const take = newDetector();
    take(0.9, 10);
    expect(take(0.351, 1_000)).toEqual([]);
    expect(take(0.349, 4)).toEqual([]);
    expect(take(0.349)).toEqual(['speech.stopped']);
  });

  it('ends speech only after silence in one piece', () => {
    const take = newDetector();
    take(0.9, 10);
    expect([...take(0, 4), ...take(0.6), ...take(0, 4)]).toEqual([]);
    expect(take(0)).toEqual(['speech.stopped']);
    expect(take(0, 100)).toEqual([]);
  });

  it('counts voice over short silences towards the confirmation, and the silences not', () => {
    const take = newDetector();
    expect(take(0.9, 3)).toEqual(['speech.started']);
    expect([...take(0, 4), ...take(0.9, 2), ...take(0, 4)]).toEqual([]);
    expect(take(0.9)).toEqual(['speech.confirmed']);
  });

  it('confirms each speech anew', () => {
    const take = newDetector();
    take(0.9, 10);
    take(0, 5);
    expect(take(0.9, 10)).toEqual(['voice.resumed', 'speech.started', 'speech.confirmed']);
  });

  it('reports a voice that comes back, but not the first of the call', () => {
    const take = newDetector();
    expect(take(0.9, 2)).toEqual([]);
    take(0);
    expect(take(0.9, 3)).toEqual(['speech.started']);
    take(0, 5);
    expect(take(0.9)).toEqual(['voice.resumed']);
    expect(take(0)).toEqual([]);
    expect(take(0.9)).toEqual(['voice.resumed']);
  });

  it('starts with the first frame of voice when no length is asked for, confirmed where that is short too', () => {
    expect(newDetector({ minSpeechMs: 0, confirmMs: 0 })(0.9)).toEqual([
      'speech.started',
      'speech.confirmed',
    ]);
  });

  it.each([0.05, 0.1, 0.15, 0.5, 0.95])('ends speech in plain silence at a threshold of %f', (threshold) => {
    const take = newDetector({ threshold });
    take(0.99, 10);
    expect(take(0.01, 5)).toEqual(['speech.stopped']);
  });
});

/** A detector whose voice is an echo while `isEcho` says so, and how often that was asked. */
function newDetectorWithEcho() {
  const facts: string[] = [];
  const world = { isEcho: true, asked: 0, facts };
  const detector = new SpeechDetector(settings, (fact) => facts.push(fact), {
    isEcho: () => {
      world.asked += 1;
      return world.isEcho;
    },
  });
  const take = (probability: number, frames = 1): void => {
    for (let i = 0; i < frames; i += 1) detector.take(probability, 32);
  };
  return { world, take };
}

describe("the bot's own voice in the speech detector", () => {
  it('is no speech, however long it lasts, and is looked at in every third frame', () => {
    const { world, take } = newDetectorWithEcho();
    take(0.99, 300);
    expect(world).toEqual({ isEcho: true, asked: 100, facts: [] });
  });

  it('is not asked about in silence', () => {
    const { world, take } = newDetectorWithEcho();
    take(0.49, 100);
    expect(world.asked).toBe(0);
  });

  it('ends where a caller begins, who is speech after the usual time', () => {
    const { world, take } = newDetectorWithEcho();
    take(0.99, 31);
    world.isEcho = false;
    take(0.99, 4);
    expect(world.facts).toEqual([]);
    take(0.99);
    expect(world.facts).toEqual(['speech.started']);
  });

  it('is silence in speech that is not confirmed yet', () => {
    const { world, take } = newDetectorWithEcho();
    world.isEcho = false;
    take(0.9, 3);
    world.isEcho = true;
    take(0.9, 5);
    expect(world.facts).toEqual(['speech.started', 'speech.stopped']);
  });

  it('is nobody any more once the voice is confirmed as the caller', () => {
    const { world, take } = newDetectorWithEcho();
    world.isEcho = false;
    take(0.9, 6);
    const { asked } = world;
    world.isEcho = true;
    take(0.9, 100);
    expect(world).toEqual({ isEcho: true, asked, facts: ['speech.started', 'speech.confirmed'] });
    take(0, 5);
    take(0.9, 100);
    expect(world.facts).toEqual(['speech.started', 'speech.confirmed', 'speech.stopped']);
  });
});

describe('the end of the sound of a voice', () => {
  /** A frame whose quarters have these levels. */
  const sounding = (...levelsDb: readonly number[]): FrameSound => {
    const quarters = levelsDb.map((level) => 10 ** (level / 10));
    const power = quarters.reduce((sum, one) => sum + one, 0) / quarters.length;
    return { power, quarters, brightPower: power / 30, periodicity: 0.7, judgedByEnergy: false };
  };
  const level = (db: number): FrameSound => sounding(db, db, db, db);

  /** How long ago it was when speech stopped. */
  function quietAtStop(backgroundDb: number, ...tail: readonly (readonly [number, FrameSound])[]): number {
    let quietMs = -1;
    const detector = new SpeechDetector({ ...settings, stopMs: 320 }, (fact) => {
      if (fact === 'speech.stopped') quietMs = detector.quietMs;
    });
    for (let i = 0; i < 60; i += 1) detector.take(0.02, 32, level(backgroundDb));
    for (let i = 0; i < 10; i += 1) detector.take(0.9, 32, level(-20));
    for (const [probability, sound] of tail) detector.take(probability, 32, sound);
    for (let i = 0; i < 10; i += 1) detector.take(0.02, 32, level(backgroundDb));
    return quietMs;
  }

  it('is known to a quarter of a frame, and before VAD notices it', () => {
    expect(quietAtStop(-80)).toBe(320);
    expect(quietAtStop(-80, [0.9, sounding(-20, -80, -80, -80)])).toBe(320 + 24);
    expect(quietAtStop(-80, [0.9, level(-80)], [0.9, level(-80)])).toBe(320 + 64);
  });

  it('is no fading away: what is 30 dB softer than the loudest part is not heard', () => {
    expect(quietAtStop(-80, [0.9, level(-49)])).toBe(320);
    expect(quietAtStop(-80, [0.9, level(-51)])).toBe(320 + 32);
  });

  it('stands out from the background, or VAD knows it best', () => {
    expect(quietAtStop(-45, [0.9, level(-36)])).toBe(320 + 32);
    expect(quietAtStop(-45, [0.9, level(-34)])).toBe(320);
    expect(quietAtStop(-25)).toBe(320);
  });
});
