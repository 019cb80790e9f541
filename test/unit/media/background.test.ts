/** What is heard behind the caller, told from the caller by its level. Frames of 32 ms; levels in dB below full scale. */
import { describe, expect, it } from 'vitest';
import { SpeechDetector } from '../../../worker/media/vad/speech-detector.ts';

const settings = { threshold: 0.5, minSpeechMs: 96, confirmMs: 192, sureMs: 96, stopMs: 160 };

interface Heard {
  readonly probability: number;
  readonly db: number;
  readonly frames?: number;
}

/** Somebody who has spoken for a second at -20 dB, over a background of so much, and the facts that frames cause after that. */
function behind(backgroundDb: number, { isOverAgent = false } = {}) {
  let facts: string[] = [];
  let overBot = false;
  const detector = new SpeechDetector(settings, (fact) => facts.push(fact), { isOverAgent: () => overBot });
  const hear = (...all: Heard[]): string[] => {
    facts = [];
    for (const { probability, db, frames = 1 } of all) {
      const power = 10 ** (db / 10);
      const quarters = [power, power, power, power];
      const sound = { power, brightPower: power / 10, quarters, periodicity: 0.9, judgedByEnergy: false };
      for (let i = 0; i < frames; i += 1) detector.take(probability, 32, sound);
    }
    return facts;
  };
  hear({ probability: 0.05, db: backgroundDb, frames: 40 }, { probability: 0.95, db: -20, frames: 30 });
  overBot = isOverAgent;
  return hear;
}

describe('what is heard behind the caller', () => {
  it('ends the turn where VAD goes on taking it for voice', () => {
    expect(behind(-26)({ probability: 0.8, db: -25, frames: 5 })).toEqual(['speech.stopped']);
  });

  it('begins no turn, and holds no end of one', () => {
    const hear = behind(-26);
    hear({ probability: 0.05, db: -26, frames: 5 });
    expect(hear({ probability: 0.8, db: -24, frames: 100 })).toEqual([]);
  });

  it('is no voice that is as loud as the caller', () => {
    expect(behind(-24)({ probability: 0.8, db: -21.5, frames: 30 })).toEqual([]);
  });

  it('is no voice that is louder than the background was', () => {
    expect(behind(-35)({ probability: 0.8, db: -29, frames: 100 })).toEqual([]);
  });

  it('is no voice that VAD is sure of, however soft', () => {
    expect(behind(-26)({ probability: 0.9, db: -26, frames: 100 })).toEqual([]);
  });

  it('is nothing where it is quiet: a caller who trails off is heard', () => {
    expect(behind(-45)({ probability: 0.8, db: -32, frames: 30 })).toEqual([]);
  });

  it('hides nobody who speaks over the bot', () => {
    expect(behind(-26, { isOverAgent: true })({ probability: 0.8, db: -25, frames: 100 })).toEqual([]);
  });

  it('is still known on a line that sends nothing between words', () => {
    const hear = behind(-26);
    hear({ probability: 0, db: -120, frames: 200 });
    expect(hear({ probability: 0.8, db: -25, frames: 100 })).toEqual([]);
  });

  it('is forgotten when it has gone', () => {
    const hear = behind(-26);
    hear({ probability: 0.05, db: -50, frames: 40 });
    expect(hear({ probability: 0.8, db: -26, frames: 3 })).toContain('speech.started');
  });
});
