/** Which frames need no run of the model, by their levels and by what the model said of those before. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { QuietGate } from '../../../inference/quiet-gate.ts';
import type { FrameLevel } from '../../../shared/protocol/frame-levels.ts';

const second = 32;
const atDb = (db: number, brightDb = db - 6): FrameLevel => ({
  power: 10 ** (db / 10),
  brightPower: 10 ** (brightDb / 10),
});

function hear(gate: QuietGate, level: FrameLevel, frames = second, probability = 0.004): void {
  for (let i = 0; i < frames; i += 1) gate.judged(level, probability);
}

/** A gate of a call in which somebody has spoken. */
function newGate(): QuietGate {
  const gate = new QuietGate();
  gate.judged(atDb(-20), 0.9);
  return gate;
}

/** A gate whose model has heard nobody for a second in a room as loud as that. */
function settled(level: FrameLevel): QuietGate {
  const gate = newGate();
  hear(gate, level);
  return gate;
}

describe('a quiet frame', () => {
  it('needs half a second in which the model heard nobody, and the calm that rings no bell a second', () => {
    const gate = newGate();
    hear(gate, atDb(-70), second / 2 - 1);
    expect([gate.skips(atDb(-70)), gate.isCalm]).toEqual([false, false]);
    hear(gate, atDb(-70), 1);
    expect([gate.skips(atDb(-70)), gate.isCalm]).toEqual([true, false]);
    hear(gate, atDb(-70), second / 2 - 1);
    expect(gate.isCalm).toBe(false);
    hear(gate, atDb(-70), 1);
    expect(gate.isCalm).toBe(true);
  });

  it('is as loud as what the model heard, neither more nor less', () => {
    expect(settled(atDb(-70)).skips(atDb(-69))).toBe(true);
    expect(settled(atDb(-70)).skips(atDb(-71))).toBe(true);
    expect(settled(atDb(-70)).skips(atDb(-68))).toBe(false);
    expect(settled(atDb(-70)).skips(atDb(-72))).toBe(false);
  });

  it('has no other colour: a hiss as loud as a rumble is something else', () => {
    expect(settled(atDb(-70, -90)).skips(atDb(-70, -75))).toBe(false);
    expect(settled(atDb(-70, -75)).skips(atDb(-70, -90))).toBe(false);
  });

  it('may lie anywhere between the softest and the loudest that the model heard', () => {
    const gate = newGate();
    for (let i = 0; i < second; i += 1) gate.judged(atDb(-75 + (i % 5)), 0.004);
    for (const db of [-76, -73.5, -71, -70]) expect(gate.skips(atDb(db))).toBe(true);
    expect(gate.skips(atDb(-69))).toBe(false);
  });

  it('is none where the background wavers by more than 4.5 dB, however slowly', () => {
    const gate = newGate();
    for (let i = 0; i < 4 * second; i += 1) {
      const level = atDb(-75 + 5 * Math.sin(i / 4));
      expect(gate.skips(level)).toBe(false);
      gate.judged(level, 0.004);
    }
  });

  it('is no louder than -50 dBFS', () => {
    expect(settled(atDb(-50.5)).skips(atDb(-50.5))).toBe(true);
    expect(settled(atDb(-49.5)).skips(atDb(-49.5))).toBe(false);
  });

  it('may be digital silence, and the least noise that samples can hold is no other', () => {
    const silence = { power: 0, brightPower: 0 };
    expect(settled(silence).skips(silence)).toBe(true);
    expect(settled(silence).skips(atDb(-91))).toBe(true);
    expect(settled(silence).skips(atDb(-85))).toBe(false);
  });

  it('has a level that somebody has measured', () => {
    const unknown = { power: NaN, brightPower: NaN };
    expect(settled(atDb(-70)).skips(unknown)).toBe(false);
    const gate = settled(unknown);
    expect([gate.skips(unknown), gate.skips(atDb(-70)), gate.skips({ power: 0, brightPower: 0 })]).toEqual([
      false,
      false,
      false,
    ]);
  });
});

describe('a call that has just begun', () => {
  it('is heard in full until there was a voice', () => {
    const gate = new QuietGate();
    hear(gate, atDb(-70), 100);
    expect([gate.skips(atDb(-70)), gate.isCalm]).toEqual([false, true]);
    hear(gate, atDb(-20), 1, 0.5);
    hear(gate, atDb(-70));
    expect(gate.skips(atDb(-70))).toBe(true);
  });

  it('is heard in full for 16 s when nobody speaks', () => {
    const gate = new QuietGate();
    hear(gate, atDb(-70), 16 * second - 1);
    expect(gate.skips(atDb(-70))).toBe(false);
    hear(gate, atDb(-70), 1);
    expect(gate.skips(atDb(-70))).toBe(true);
  });
});

describe('a change', () => {
  it('is judged, however often it is asked about', () => {
    const gate = settled(atDb(-70));
    expect([gate.skips(atDb(-60)), gate.skips(atDb(-60))]).toEqual([false, false]);
  });

  it('ends the quiet until half a second is alike again, but not the calm', () => {
    const gate = settled(atDb(-70));
    gate.skips(atDb(-60));
    gate.judged(atDb(-60), 0.01);
    expect([gate.skips(atDb(-70)), gate.isCalm]).toEqual([false, true]);
    hear(gate, atDb(-70), second / 2 - 1);
    expect(gate.skips(atDb(-70))).toBe(false);
    hear(gate, atDb(-70), 1);
    expect(gate.skips(atDb(-70))).toBe(true);
  });

  it('ends the calm as well when the model is not sure that it is nobody', () => {
    for (const probability of [0.02, 0.9, NaN]) {
      const gate = settled(atDb(-70));
      gate.judged(atDb(-70), probability);
      expect([gate.skips(atDb(-70)), gate.isCalm]).toEqual([false, false]);
    }
  });
});

describe('a long quiet', () => {
  it('is looked at once in 65 frames', () => {
    const gate = settled(atDb(-70));
    const asked = Array.from({ length: 130 }, () => {
      const skips = gate.skips(atDb(-70));
      if (!skips) gate.judged(atDb(-70), 0.004);
      return skips;
    });
    expect(asked.flatMap((skips, at) => (skips ? [] : [at]))).toEqual([64, 129]);
  });

  it('ends with the call', () => {
    const gate = settled(atDb(-70));
    gate.reset();
    expect([gate.skips(atDb(-70)), gate.isCalm]).toEqual([false, false]);
  });

  it('never passes a frame more than 1.5 dB from all that the model judged in a row', () => {
    const heard = fc.array(fc.double({ min: -95, max: -88, noNaN: true }), {
      minLength: second,
      maxLength: 50,
    });
    fc.assert(
      fc.property(heard, fc.double({ min: -95, max: -84, noNaN: true }), (levels, db) => {
        const gate = newGate();
        for (const level of levels) gate.judged(atDb(level), 0.004);
        if (!gate.skips(atDb(db))) return;
        const clamp = (value: number): number => Math.max(-90, value);
        expect(clamp(db)).toBeLessThanOrEqual(Math.max(...levels.map(clamp)) + 1.51);
        expect(clamp(db)).toBeGreaterThanOrEqual(Math.min(...levels.map(clamp)) - 1.51);
      }),
    );
  });
});
