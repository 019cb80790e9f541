/** Voices behind the caller, told by the caller's level. Frames of 32 ms; levels in dB below full scale. */
import { describe, expect, it } from 'vitest';
import type { FrameSound } from '../../../worker/media/vad/frame-sound.ts';
import { SpeechDetector } from '../../../worker/media/vad/speech-detector.ts';

const settings = {
  threshold: 0.5,
  minSpeechMs: 120,
  confirmMs: 300,
  sureMs: 150,
  stopMs: 200,
  lastsMs: [1_000],
};
const frameMs = 32;
/** Syllables: how loud frames of a voice are, beside its mean. */
const syllables = [-9, 1, 3, 2, -4, -14, 0, 4, 2, -6, -18, 2, 3, 0, -7];

const sounding = (db: number, judgedByEnergy = false): FrameSound => {
  const power = 10 ** (db / 10);
  return {
    power,
    brightPower: power / 10,
    quarters: [power, power, power, power],
    periodicity: 0.9,
    judgedByEnergy,
  };
};

/** A call: what is heard in it one thing after another, and the facts that it causes with the milliseconds since it began. */
class Call {
  isOverAgent = false;
  readonly detector: SpeechDetector;
  #facts: string[] = [];
  #ms = 0;
  #at = 0;

  constructor() {
    this.detector = new SpeechDetector(settings, (fact) => this.#facts.push(`${fact} ${this.#ms}`), {
      isOverAgent: () => this.isOverAgent,
    });
  }

  /** Somebody talks at so many dB for so long. */
  voice(db: number, ms: number, { judgedByEnergy = false }: { judgedByEnergy?: boolean } = {}): string[] {
    return this.#hear(ms, () => {
      this.#at += 1;
      const level = db + (syllables[this.#at % syllables.length] ?? 0);
      this.detector.take(0.95, frameMs, sounding(level, judgedByEnergy));
    });
  }

  /** Somebody hums: a sound without its bright part. */
  hum(db: number, ms: number): string[] {
    const dark = { ...sounding(db), brightPower: 10 ** (db / 10) / 1_000 };
    return this.#hear(ms, () => this.detector.take(0.95, frameMs, dark));
  }

  silence(ms: number): string[] {
    return this.#hear(ms, () => this.detector.take(0.01, frameMs, sounding(-85)));
  }

  /** A caller of this level has said something that STT has found words in. */
  after(db: number): this {
    this.voice(db, 2_000);
    this.detector.heardWords();
    this.silence(1_000);
    return this;
  }

  overBot(isOverAgent = true): this {
    this.isOverAgent = isOverAgent;
    return this;
  }

  #hear(ms: number, take: () => void): string[] {
    this.#facts = [];
    for (this.#ms = frameMs; this.#ms <= ms; this.#ms += frameMs) take();
    return this.#facts;
  }
}

const kinds = (facts: readonly string[]): string[] => facts.map((fact) => fact.split(' ', 1)[0] ?? '');
const timeOf = (facts: readonly string[], kind: string): number =>
  Number(facts.find((fact) => fact.startsWith(kind))?.split(' ')[1] ?? Infinity);

describe('somebody who talks behind the caller', () => {
  it.each([12, 15, 20, 30])('is nobody over the agent, %i dB below the caller', (below) => {
    const call = new Call().after(-25).overBot();
    const facts = call.voice(-25 - below, 20_000);
    expect(kinds(facts).filter((kind) => kind !== 'voice.resumed')).toEqual([]);
  });

  it.each([15, 20, 30])('holds no turn open where the agent was talked over before, %i dB below', (below) => {
    const call = new Call().after(-25).overBot();
    call.voice(-25 - below, 2_000);
    call.overBot(false).voice(-25, 2_000);
    const facts = call.voice(-25 - below, 10_000);
    expect(timeOf(facts, 'speech.stopped')).toBeLessThanOrEqual(settings.stopMs + 200);
    expect(kinds(facts)).not.toContain('speech.started');
  });

  it('lets the caller interrupt', () => {
    const call = new Call().after(-25).overBot();
    call.voice(-42, 3_000);
    const facts = call.voice(-25, 1_000);
    expect(timeOf(facts, 'speech.started')).toBeLessThan(250);
    expect(kinds(facts)).toContain('speech.confirmed');
  });

  it('who was there first is not the caller once a louder one speaks', () => {
    const call = new Call();
    call.voice(-45, 3_000);
    call.voice(-27, 2_000);
    const facts = call.voice(-45, 5_000);
    expect(timeOf(facts, 'speech.stopped')).toBeLessThanOrEqual(settings.stopMs + 200);
    expect(kinds(facts)).not.toContain('speech.started');
  });

  it('who was written down by STT is not the caller either', () => {
    const call = new Call();
    call.voice(-45, 3_000);
    call.detector.heardWords();
    call.voice(-27, 2_000);
    call.detector.heardWords();
    expect(timeOf(call.voice(-45, 5_000), 'speech.stopped')).toBeLessThanOrEqual(settings.stopMs + 200);
  });

  it('is known through a turn that is long', () => {
    const call = new Call().overBot();
    call.voice(-42, 2_000);
    call.overBot(false).voice(-25, 9_000);
    expect(timeOf(call.voice(-42, 5_000), 'speech.stopped')).toBeLessThanOrEqual(settings.stopMs + 200);
  });

  it('is told how much softer', () => {
    const call = new Call();
    call.voice(-25, 200);
    expect(call.detector.belowCallerDb).toBeUndefined();
    call.after(-25).overBot().voice(-45, 2_000);
    expect(call.detector.belowCallerDb).toBeGreaterThan(17);
    expect(call.detector.belowCallerDb).toBeLessThan(23);
    call.voice(-20, 1_000);
    expect(call.detector.belowCallerDb).toBeLessThan(-1);
  });

  it('is not proved by a look between two frames', () => {
    const lookAt = (db: number): string[] => {
      const facts: string[] = [];
      const detector = new SpeechDetector(settings, (fact) => facts.push(fact), { isOverAgent: () => true });
      const hear = (probability: number, level: number, frames: number): void => {
        const sound = { ...sounding(level), periodicity: 0 };
        for (let i = 0; i < frames; i += 1) detector.take(probability, frameMs, sound);
      };
      hear(0.95, -25, 60);
      detector.heardWords();
      hear(0.01, -85, 60);
      hear(0.6, -25, 6);
      facts.length = 0;
      detector.peek(0.99, 16, sounding(db));
      return facts;
    };
    expect(lookAt(-25)).toContain('speech.confirmed');
    expect(lookAt(-45)).toEqual([]);
  });
});

describe('before it is known how loud the caller is', () => {
  it.each([-50, -60])(
    'a voice of %i dB over the greeting is somebody else, whatever STT writes down',
    (db) => {
      const call = new Call().overBot();
      expect(call.voice(db, 3_000)).toEqual([]);
      call.detector.heardWords();
      expect(call.voice(db, 3_000)).toEqual([]);
    },
  );

  it('and is heard where the agent is silent: nobody else may be there', () => {
    const call = new Call();
    expect(kinds(call.voice(-50, 1_000))).toContain('speech.confirmed');
  });

  it.each([-35, -45])('a voice of %i dB over the greeting holds and cuts nothing by itself', (db) => {
    const call = new Call().overBot();
    const facts = call.voice(db, 5_000);
    expect(kinds(facts).filter((kind) => kind !== 'speech.started')).toEqual([]);
    expect(call.detector.isFaint).toBe(true);
  });

  it('a soft voice over the greeting that begins darkly, as a hum does, begins once more when it is none', () => {
    const call = new Call().overBot();
    expect(kinds(call.hum(-31, 160))).toEqual(['speech.started']);
    expect([call.detector.isFaint, call.detector.isDoubtful]).toEqual([true, false]);
    expect(kinds(call.voice(-31, 600))).toEqual(['speech.started']);
    expect(call.detector.isDoubtful).toBe(true);
  });

  it('a quiet caller is heard', () => {
    const facts = new Call().voice(-45, 1_000);
    expect(timeOf(facts, 'speech.started')).toBeLessThan(200);
    expect(timeOf(facts, 'speech.confirmed')).toBeLessThan(700);
  });

  it('words of a quiet voice over the agent do not say whose it is before it stops: a television goes on', () => {
    const call = new Call().overBot();
    expect(kinds(call.voice(-45, 600))).toEqual(['speech.started']);
    call.detector.heardWords();
    expect(kinds(call.voice(-45, 3_000))).toEqual([]);
    expect(call.detector.isFaint).toBe(true);
    call.silence(1_000);
    call.detector.heardWords();
    expect(timeOf(call.voice(-45, 1_000), 'speech.confirmed')).toBeLessThan(400);
  });

  it('a quiet caller whose words are told late is known by what was heard', () => {
    const call = new Call().overBot();
    call.voice(-45, 1_000);
    call.silence(900);
    call.detector.heardWords();
    expect(timeOf(call.voice(-45, 1_000), 'speech.confirmed')).toBeLessThan(400);
    const other = new Call();
    other.voice(-45, 300);
    other.silence(900);
    other.detector.heardWords();
    expect(timeOf(other.overBot().voice(-45, 1_000), 'speech.confirmed')).toBeLessThan(400);
  });

  it('a caller of a common level interrupts at once', () => {
    expect(timeOf(new Call().overBot().voice(-25, 1_000), 'speech.confirmed')).toBeLessThan(350);
  });

  it('what is judged by its loudness alone is no voice of anybody', () => {
    const call = new Call();
    call.voice(-15, 3_000, { judgedByEnergy: true });
    expect(call.detector.belowCallerDb).toBeUndefined();
  });
});

describe('a caller who becomes softer', () => {
  it('is heard again at once behind a silence, and interrupts once there were words', () => {
    const call = new Call().after(-25);
    const facts = call.voice(-40, 1_500);
    expect(timeOf(facts, 'speech.started')).toBeLessThan(500);
    call.detector.heardWords();
    expect(Math.abs(call.detector.belowCallerDb ?? 99)).toBeLessThan(3);
    call.silence(1_000);
    expect(timeOf(call.overBot().voice(-40, 1_000), 'speech.confirmed')).toBeLessThan(400);
  });

  it('is heard again within a second or so in the middle of a sentence', () => {
    const call = new Call();
    call.voice(-25, 3_000);
    expect(timeOf(call.voice(-46, 3_000), 'speech.started')).toBeLessThan(1_500);
  });

  it('is somebody else when STT finds no words in four seconds', () => {
    const call = new Call().after(-25);
    const facts = call.voice(-42, 15_000);
    expect(kinds(facts).filter((kind) => kind === 'speech.started')).toHaveLength(1);
    expect(timeOf(facts, 'speech.stopped')).toBeLessThan(5_000);
  });

  it('is the caller who comes closer, and who goes away again later', () => {
    const call = new Call().after(-40).after(-22).overBot();
    call.silence(6_000);
    expect(timeOf(call.overBot(false).voice(-40, 1_500), 'speech.started')).toBeLessThan(500);
  });

  it('may trail off', () => {
    const call = new Call();
    call.voice(-25, 2_000);
    expect(kinds(call.voice(-33, 700))).toEqual([]);
  });
});

describe('a short sound that is much louder than the caller', () => {
  it('is not taken for how loud the caller is', () => {
    const call = new Call().after(-30);
    call.voice(-8, 500);
    call.silence(1_000);
    expect(timeOf(call.overBot().voice(-30, 1_000), 'speech.confirmed')).toBeLessThan(400);
  });
});
