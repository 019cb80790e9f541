/** When a voice is surely speech: what VAD says of its frames, and how they sound. */
import { describe, expect, it } from 'vitest';
import type { FrameSound } from '../../../worker/media/vad/frame-sound.ts';
import { SpeechDetector, type SpeechDetectorSettings } from '../../../worker/media/vad/speech-detector.ts';

const settings = { threshold: 0.5, minSpeechMs: 120, confirmMs: 300, sureMs: 150, stopMs: 200 };

const sounding = (levelDb: number, brightDb: number, periodicity = 0.68): FrameSound => ({
  power: 10 ** (levelDb / 10),
  brightPower: 10 ** ((levelDb + brightDb) / 10),
  quarters: new Array<number>(4).fill(10 ** (levelDb / 10)),
  periodicity,
  judgedByEnergy: false,
});
const room = sounding(-70, -10, 0);
const vowel = sounding(-20, -14);
const clatter = sounding(-20, -12, 0.6);
const hum = sounding(-20, -30);
const hiss = sounding(-28, -4, 0.2);
/** Loud, and neither a voice nor a hiss. */
const blow = sounding(-28, -14, 0.2);
const plain = sounding(-20, -14, 0.9);

type Frame = readonly [probability: number, sound: FrameSound | undefined];
const frames = (count: number, ...[probability, sound]: Frame): Frame[] =>
  Array.from({ length: count }, () => [probability, sound] as const);

/** The frame after a second of a quiet room at which each fact was told, counting from 1. */
function factsOf(
  sequence: readonly Frame[],
  { isOverAgent, ...changed }: Partial<SpeechDetectorSettings> & { isOverAgent?: () => boolean } = {},
): string[] {
  const facts: string[] = [];
  let at = 0;
  const detector = new SpeechDetector({ ...settings, ...changed }, (fact) => facts.push(`${fact} ${at}`), {
    ...(isOverAgent && { isOverAgent }),
  });
  for (const [probability, sound] of frames(31, 0.02, room)) detector.take(probability, 32, sound);
  for (const [probability, sound] of sequence) {
    at += 1;
    detector.take(probability, 32, sound);
  }
  return facts;
}

describe('a voice that is surely speech', () => {
  it('interrupts after its own time, and one that VAD doubts after the longer one', () => {
    expect(factsOf(frames(12, 0.9, vowel))).toEqual(['speech.started 4', 'speech.confirmed 5']);
    expect(factsOf(frames(12, 0.7, vowel))).toEqual(['speech.started 4', 'speech.confirmed 10']);
  });

  it('needs VAD to be sure of two frames of it', () => {
    const once = [...frames(5, 0.6, vowel), ...frames(1, 0.9, vowel), ...frames(3, 0.6, vowel)];
    expect(factsOf(once)).toEqual(['speech.started 4']);
    expect(factsOf([...once, ...frames(1, 0.9, vowel)])).toEqual(['speech.started 4', 'speech.confirmed 10']);
    const twice = [...frames(5, 0.6, vowel), ...frames(1, 0.9, vowel), ...frames(1, 0.6, vowel)];
    expect(factsOf([...twice, ...frames(1, 0.9, vowel)]).at(-1)).toBe('speech.confirmed 8');
  });

  it('began with its sound, where VAD noticed it late', () => {
    const late = [...frames(4, 0.1, sounding(-30, -14)), ...frames(2, 0.95, vowel)];
    expect(factsOf(late)).toEqual(['speech.started 6', 'speech.confirmed 6']);
    expect(factsOf([...frames(4, 0.1, room), ...frames(2, 0.95, vowel)])).toEqual([]);
  });

  it('is known at its first vowel, behind a hiss as consonants are', () => {
    const consonant = [...frames(3, 0.1, blow), ...frames(2, 0.1, hiss)];
    expect(factsOf([...consonant, ...frames(1, 0.97, vowel)]).at(-1)).toBe('speech.confirmed 6');
    expect(factsOf([...consonant, ...frames(1, 0.94, vowel)])).toEqual([]);
    expect(factsOf([...frames(1, 0.1, hiss), ...frames(1, 0.97, vowel)])).toEqual([]);
  });

  it('may be doubted a little behind a long hiss', () => {
    expect(factsOf([...frames(5, 0.1, hiss), ...frames(1, 0.87, vowel)]).at(-1)).toBe('speech.confirmed 6');
    expect(factsOf([...frames(5, 0.1, hiss), ...frames(1, 0.84, vowel)])).toEqual([]);
    const short = [...frames(3, 0.1, blow), ...frames(2, 0.1, hiss), ...frames(1, 0.87, vowel)];
    expect(factsOf(short)).toEqual([]);
  });

  it('may be doubted more where it has kept the pitch of a voice for three frames', () => {
    const muffled = frames(4, 0.4, plain);
    expect(factsOf([...muffled, ...frames(1, 0.61, plain)]).at(-1)).toBe('speech.confirmed 5');
    expect(factsOf([...muffled, ...frames(1, 0.59, plain)])).toEqual([]);
    const broken = [...frames(1, 0.4, plain), ...frames(2, 0.4, clatter), ...frames(2, 0.61, plain)];
    expect(factsOf(broken)).toEqual([]);
    const clattering = [...frames(4, 0.4, clatter), ...frames(1, 0.61, clatter)];
    expect(factsOf(clattering)).toEqual([]);
  });

  it('keeps its pitch through a dark frame, but not through a hum', () => {
    const nasal = [...frames(2, 0.4, plain), ...frames(1, 0.6, hum), ...frames(2, 0.61, plain)];
    expect(factsOf(nasal).at(-1)).toBe('speech.confirmed 5');
    const hummed = [...frames(1, 0.4, plain), ...frames(3, 0.6, hum), ...frames(3, 0.61, plain)];
    expect(factsOf(hummed).filter((fact) => fact.startsWith('speech.confirmed'))).toEqual([]);
  });

  it('has the pitch of a voice somewhere, or begins with a hiss', () => {
    const taken = frames(7, 0.98, clatter);
    expect(factsOf(taken)).toEqual(['speech.started 4']);
    expect(factsOf([...taken, ...frames(1, 0.98, vowel)]).at(-1)).toBe('speech.confirmed 8');
    expect(factsOf([...frames(1, 0.2, vowel), ...taken]).at(-1)).toBe('speech.confirmed 5');
    expect(factsOf([...frames(4, 0.2, hiss), ...frames(1, 0.98, clatter)]).at(-1)).toBe('speech.confirmed 5');
    const another = [...taken, ...frames(8, 0.01, room), ...taken];
    expect(factsOf([...frames(1, 0.2, vowel), ...frames(8, 0.01, room), ...another])).toEqual([
      'speech.started 13',
      'speech.stopped 23',
      'voice.resumed 25',
      'speech.started 28',
    ]);
  });

  it('begins over the bot with its pitch or a hiss, and as late as it is confirmed without both', () => {
    const isOverAgent = (): boolean => true;
    expect(factsOf(frames(9, 0.98, clatter), { isOverAgent })).toEqual([]);
    expect(factsOf(frames(12, 0.98, clatter), { isOverAgent })).toEqual([
      'speech.started 10',
      'speech.confirmed 10',
    ]);
    expect(factsOf([...frames(5, 0.98, clatter), ...frames(1, 0.98, vowel)], { isOverAgent })[0]).toBe(
      'speech.started 6',
    );
    expect(factsOf([...frames(3, 0.1, hiss), ...frames(4, 0.6, clatter)], { isOverAgent })).toEqual([
      'speech.started 7',
    ]);
    expect(factsOf(frames(9, 0.98, clatter), { isOverAgent: () => false })[0]).toBe('speech.started 4');
  });

  it('begins over the bot as anywhere where noise hides a pitch, or its sound is not known', () => {
    const isOverAgent = (): boolean => true;
    const noisy = [...frames(120, 0.1, sounding(-34, -10, 0)), ...frames(5, 0.98, clatter)];
    expect(factsOf(noisy, { isOverAgent })).toEqual(['speech.started 124']);
    expect(factsOf(frames(5, 0.98, undefined), { isOverAgent })).toEqual(['speech.started 4']);
    expect(factsOf(frames(5, 1, { ...clatter, judgedByEnergy: true }), { isOverAgent })).toEqual([
      'speech.started 4',
    ]);
  });

  it('without a pitch, as whispers are, waits for the longer time', () => {
    expect(factsOf(frames(12, 0.98, clatter)).at(-1)).toBe('speech.confirmed 10');
  });

  it('does not begin with a noise that was there before', () => {
    const noise = sounding(-32, -10);
    const sequence = [...frames(120, 0.1, noise), ...frames(12, 0.9, vowel)];
    expect(factsOf(sequence)).toEqual(['speech.started 124', 'speech.confirmed 125']);
  });

  it('never is one of which only the loudness is known', () => {
    const facts = ['speech.started 4', 'speech.confirmed 10'];
    expect(factsOf(frames(12, 1, { ...vowel, judgedByEnergy: true }))).toEqual(facts);
    expect(factsOf(frames(12, 1, undefined))).toEqual(facts);
  });

  it('waits as long as the settings say', () => {
    expect(factsOf(frames(12, 0.95, vowel), { sureMs: 300 }).at(-1)).toBe('speech.confirmed 10');
    expect(factsOf(frames(12, 0.95, vowel), { sureMs: 200 }).at(-1)).toBe('speech.confirmed 7');
  });
});

describe('a hum', () => {
  const breath = sounding(-30, -15);

  it('is a voice that does not interrupt, however sure VAD is of it', () => {
    const said = [...frames(8, 0.99, hum), ...frames(3, 0.99, breath), ...frames(8, 0.99, hum)];
    expect(factsOf([...said, ...frames(10, 0.01, room)])).toEqual(['speech.started 4', 'speech.stopped 26']);
  });

  it('is one over a noise as well', () => {
    const noise = sounding(-35, -6);
    const over: FrameSound = {
      power: hum.power + noise.power,
      brightPower: hum.brightPower + noise.brightPower,
      quarters: new Array<number>(4).fill(hum.power + noise.power),
      periodicity: hum.periodicity,
      judgedByEnergy: false,
    };
    expect(factsOf([...frames(120, 0.1, noise), ...frames(15, 0.99, over)])).toEqual(['speech.started 124']);
  });

  it('is known by its sound while VAD is away', () => {
    const facts = factsOf(frames(20, 1, { ...hum, judgedByEnergy: true }));
    expect(facts).toEqual(['speech.started 4']);
  });

  it('is no dark beginning of a word', () => {
    const no = [...frames(3, 0.95, hum), ...frames(3, 0.99, sounding(-18, -20))];
    expect(factsOf(no).at(-1)).toBe('speech.confirmed 5');
  });

  it('is not what goes on for longer than anybody hums', () => {
    expect(factsOf(frames(40, 0.99, hum)).at(-1)).toBe('speech.confirmed 32');
  });
});

describe('a voice too quiet to tell how it sounds', () => {
  it('interrupts by its length alone, once it is known that the caller is as quiet', () => {
    expect(factsOf(frames(18, 0.99, sounding(-65, -40))).at(-1)).toBe('speech.confirmed 16');
    expect(factsOf(frames(18, 0.99, sounding(-65, -10))).at(-1)).toBe('speech.confirmed 16');
  });
});

describe('a look at the newest audio, over the bot', () => {
  /** What is told after these frames and a look at 16 ms more. */
  const lookAfter = (
    sequence: readonly Frame[],
    [probability, sound]: readonly [number, FrameSound],
    { isOverAgent = true, isEcho = false }: { isOverAgent?: boolean; isEcho?: boolean } = {},
  ): { wanted: boolean; facts: string[] } => {
    const facts: string[] = [];
    const detector = new SpeechDetector(settings, (fact) => facts.push(fact), {
      isOverAgent: () => isOverAgent,
      isEcho: () => isEcho,
    });
    for (const [before, heard] of frames(31, 0.02, room)) detector.take(before, 32, heard);
    for (const [before, heard] of sequence) detector.take(before, 32, heard);
    const wanted = detector.wantsPeek(16);
    facts.length = 0;
    detector.peek(probability, 16, sound);
    return { wanted, facts: [...facts] };
  };
  const proved = { wanted: true, facts: ['speech.started', 'speech.confirmed'] };
  const doubted = { wanted: true, facts: [] };
  const notAsked = { wanted: false, facts: [] };
  const consonant = [...frames(3, 0.1, blow), ...frames(2, 0.2, hiss)];

  it('proves a vowel behind a hiss, and a voice that goes on', () => {
    expect(lookAfter(consonant, [0.98, vowel])).toEqual(proved);
    expect(lookAfter(frames(5, 0.6, vowel), [0.98, vowel]).facts).toEqual(['speech.confirmed']);
    const late = [...frames(4, 0.2, sounding(-30, -14)), ...frames(1, 0.6, vowel)];
    expect(lookAfter(late, [0.98, vowel])).toEqual(proved);
  });

  it('asks VAD to be surer than a frame does, and for sound that is no hum', () => {
    expect(lookAfter(consonant, [0.96, vowel])).toEqual(doubted);
    expect(lookAfter(consonant, [0.98, hum])).toEqual(doubted);
    expect(lookAfter(consonant, [0.98, sounding(-65, -10)])).toEqual(doubted);
    expect(lookAfter(frames(5, 0.6, clatter), [0.98, clatter])).toEqual(doubted);
  });

  it('is believed sooner behind a long hiss, and of what has kept a pitch', () => {
    const long = frames(5, 0.1, hiss);
    expect(lookAfter(long, [0.87, vowel])).toEqual(proved);
    expect(lookAfter(long, [0.84, vowel])).toEqual(doubted);
    const pitched = frames(4, 0.4, plain);
    expect(lookAfter([...frames(1, 0.1, clatter), ...pitched], [0.61, plain])).toEqual(proved);
    expect(lookAfter([...frames(1, 0.1, clatter), ...pitched], [0.59, plain])).toEqual(doubted);
    expect(lookAfter([...frames(1, 0.1, clatter), ...pitched], [0.61, clatter])).toEqual(doubted);
    const dark = [...frames(1, 0.6, hum), ...pitched];
    expect(lookAfter(dark, [0.61, plain])).toEqual(proved);
    expect(lookAfter(dark, [0.99, clatter])).toEqual(doubted);
  });

  it('is wanted only where it may decide something', () => {
    expect(lookAfter(frames(5, 0.2, sounding(-30, -14)), [0.98, vowel])).toEqual(notAsked);
    expect(lookAfter(frames(3, 0.1, hiss), [0.98, vowel])).toEqual(notAsked);
    expect(lookAfter(frames(5, 0.9, hum), [0.98, vowel])).toEqual(notAsked);
    expect(lookAfter(frames(12, 0.9, vowel), [0.98, vowel])).toEqual(notAsked);
    expect(lookAfter(frames(20, 0.1, hiss), [0.98, vowel])).toEqual(notAsked);
    expect(lookAfter(consonant, [0.98, vowel], { isOverAgent: false })).toEqual(notAsked);
  });

  it('proves nothing of what is the bot itself', () => {
    expect(lookAfter(consonant, [0.98, vowel], { isEcho: true })).toEqual(doubted);
  });

  it('is told that the voice pauses after four frames of silence: the bot stands still meanwhile', () => {
    const facts: string[] = [];
    const detector = new SpeechDetector(settings, (fact) => facts.push(fact), { isOverAgent: () => true });
    for (const [before, heard] of frames(8, 0.9, vowel)) detector.take(before, 32, heard);
    for (const [before, heard] of frames(3, 0.01, room)) detector.take(before, 32, heard);
    expect(facts).not.toContain('voice.paused');
    detector.take(0.01, 32, room);
    expect(facts.at(-1)).toBe('voice.paused');
  });

  it('is told that the voice pauses while the agent is silent only where it is asked for, and not behind the end', () => {
    const factsOf = (more: { pauseMs?: number; stopMs?: number }): string[] => {
      const facts: string[] = [];
      const detector = new SpeechDetector({ ...settings, stopMs: 300, ...more }, (fact) =>
        facts.push(`${fact} ${detector.silenceMs}`),
      );
      const said = [...frames(8, 0.9, vowel), ...frames(8, 0.01, room), ...frames(2, 0.9, vowel)];
      for (const [before, heard] of [...said, ...frames(12, 0.01, room)]) detector.take(before, 32, heard);
      return facts.filter((fact) => !fact.startsWith('speech.confirmed'));
    };
    const [paused, started, stopped] = ['voice.paused 224', 'speech.started 0', 'speech.stopped 320'];
    expect(factsOf({ pauseMs: 200 })).toEqual([started, paused, started, paused, stopped]);
    expect(factsOf({})).toEqual([started, stopped]);
    expect(factsOf({ pauseMs: 300 })).toEqual([started, stopped]);
  });

  it('leaves the frame to be taken, and is told as a voice that is back', () => {
    const facts: string[] = [];
    const detector = new SpeechDetector(settings, (fact) => facts.push(fact), { isOverAgent: () => true });
    for (const [before, heard] of frames(31, 0.02, room)) detector.take(before, 32, heard);
    for (const [before, heard] of frames(8, 0.9, vowel)) detector.take(before, 32, heard);
    for (const [before, heard] of frames(9, 0.01, room)) detector.take(before, 32, heard);
    for (const [before, heard] of consonant) detector.take(before, 32, heard);
    detector.peek(0.98, 16, vowel);
    for (const [before, heard] of frames(2, 0.98, vowel)) detector.take(before, 32, heard);
    for (const [before, heard] of frames(9, 0.01, room)) detector.take(before, 32, heard);
    const spoken = ['speech.started', 'speech.confirmed', 'voice.paused', 'speech.stopped'];
    expect(facts).toEqual([...spoken, 'voice.resumed', ...spoken]);
  });
});
