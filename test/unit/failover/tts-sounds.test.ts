/** A voice whose sounds are no speech, as pretended servers make them: the other goes on by the share of the text that was heard. */
import { describe, expect, it } from 'vitest';
import { newPrng } from '../../../shared/base/prng.ts';
import { KeptSpeech } from '../../../worker/stages/failover/kept-speech.ts';
import { speechIn } from '../../../worker/stages/failover/sounds-like-speech.ts';
import { newFailoverTts } from '../../../worker/stages/failover/tts.ts';
import type { TtsEvent, TtsSession, TtsStage } from '../../../worker/stages/stage.ts';
import { newFailoverScope } from '../../support/failover.ts';
import { madeVoice } from '../../support/made-voice.ts';
import { newStageContext } from '../../support/stage-context.ts';
import { newVirtualClock, type VirtualClock } from '../../support/virtual-clock.ts';

const perMs = 8;
const chance = newPrng(1);

const sounds = {
  'constant samples': () => 900,
  'a tone': (at: number) => 8_000 * Math.sin((2 * Math.PI * 440 * at) / 8_000),
  'a loud square': (at: number) => (at % 20 < 10 ? 12_000 : -12_000),
  noise: () => 8_000 * (chance.next() - 0.5),
  'tones of two pitches': (at: number) => 5_000 * Math.sin(at * 0.3) + 5_000 * Math.sin(at * 0.71),
  silence: () => 0,
} as const;
type Sound = (at: number) => number;

interface Manner {
  readonly sound: Sound;
  readonly msPerChar: number;
  /** How much faster than real time audio is made. */
  readonly speed: number;
}

interface Job {
  readonly context: number;
  /** Absent: the context ends. */
  readonly text?: string;
}

/** Says any text in as many milliseconds as it has characters, times so many; what it was asked is written down. */
class PlainSession implements TtsSession {
  readonly sampleRate = 8_000;
  readonly asked: string[];
  private readonly clock: VirtualClock;
  private readonly manner: Manner;
  private readonly sink: (event: TtsEvent) => void;
  private readonly queue: Job[] = [];
  private chars = 0;
  private isBusy = false;
  private isOver = false;

  constructor(clock: VirtualClock, manner: Manner, of: { asked: string[]; sink: (event: TtsEvent) => void }) {
    this.clock = clock;
    this.manner = manner;
    this.asked = of.asked;
    this.sink = of.sink;
  }

  speak(context: number, text: string): void {
    this.asked.push(text);
    this.later({ context, text });
  }

  flush(context: number): void {
    this.later({ context });
  }

  cancel(): void {}
  pause(): void {}
  resume(): void {}

  close(): void {
    this.isOver = true;
  }

  die(): void {
    this.isOver = true;
    this.sink({ type: 'error', error: { kind: 'disconnected' } });
  }

  private tell(event: TtsEvent): void {
    if (!this.isOver) this.sink(event);
  }

  private later(job: Job): void {
    this.queue.push(job);
    this.clock.after(0, () => this.work());
  }

  private work(): void {
    const job = this.isBusy || this.isOver ? undefined : this.queue.shift();
    if (job === undefined) return;
    const { context, text } = job;
    if (text === undefined) {
      this.chars = 0;
      this.tell({ type: 'flushed', context });
      this.work();
      return;
    }
    this.isBusy = true;
    this.clock.after(100, () => this.say(context, text, 0));
  }

  private say(context: number, text: string, at: number): void {
    const { sound, msPerChar, speed } = this.manner;
    const samples = Math.round(text.trim().length * msPerChar * perMs);
    const to = Math.min(samples, at + 40 * perMs);
    const pcm = Int16Array.from({ length: to - at }, (_, index) => sound(at + index));
    this.tell({ type: 'audio', context, pcm });
    this.clock.after((to - at) / perMs / speed, () => {
      if (to < samples) {
        this.say(context, text, to);
        return;
      }
      this.chars += text.length;
      this.isBusy = false;
      this.tell({ type: 'spoken', context, chars: this.chars });
      this.work();
    });
  }
}

function newPlainVoice(clock: VirtualClock, manner: Manner) {
  const asked: string[] = [];
  const sessions: PlainSession[] = [];
  const stage: TtsStage = {
    provider: 'plain',
    close: () => Promise.resolve(),
    open: (_context, sink) => {
      const session = new PlainSession(clock, manner, { asked, sink });
      sessions.push(session);
      return session;
    },
  };
  return { stage, asked, die: () => sessions.at(-1)?.die() };
}

const greeting = 'Hello, this is the library, how can I help you today? ';
const pieces = [
  'Well, the reading room is open from nine to five, ',
  'and on Saturdays a little longer. ',
  'Is there anything else that you would like to know about it?',
];
const answer = pieces.join('');
/** The second voice's samples are these. */
const marked = 701;

interface Heard {
  /** Milliseconds of the first voice. */
  readonly firstMs: number;
  /** Of the answer, what was asked of the second, from here on. */
  readonly from: number;
}

/** The greeting is said, and within the answer the voice dies; undefined when that was over before. */
function hear(
  manner: Manner,
  diesAtMs: number,
  { isKnown }: { readonly isKnown: boolean },
): Heard | undefined {
  const clock = newVirtualClock();
  const first = newPlainVoice(clock, manner);
  const second = newPlainVoice(clock, { ...manner, sound: () => marked });
  const scope = newFailoverScope('tts', {
    primary: first.stage,
    secondary: second.stage,
    machineMs: () => clock.now(),
  });
  let [samples, flushed] = [0, 0];
  const session = newFailoverTts(scope).open(newStageContext(clock), (event) => {
    if (event.type === 'flushed') flushed = event.context;
    if (event.type === 'audio' && event.context === 2)
      samples += event.pcm.reduce((sum, one) => sum + (one === marked ? 0 : 1), 0);
  });
  if (isKnown) {
    session.speak(1, greeting);
    session.flush(1);
    while (flushed < 1) clock.advance(10);
  }
  for (const piece of pieces) session.speak(2, piece);
  session.flush(2);
  clock.advance(diesAtMs);
  if (flushed === 2) return undefined;
  first.die();
  for (let waited = 0; flushed < 2 && waited < 30_000; waited += 10) clock.advance(10);
  expect(flushed).toBe(2);
  session.close();
  const asked = second.asked.join('');
  expect(answer.endsWith(asked)).toBe(true);
  return { firstMs: samples / perMs, from: answer.length - asked.length };
}

/** Where in the audio of the answer its words lie. */
function wordsOf(msPerChar: number): { chars: number; fromMs: number; toMs: number }[] {
  let [chars, ms] = [0, 0];
  return pieces.flatMap((piece) => {
    const words = [...piece.matchAll(/\S+/g)].map((match) => ({
      chars: chars + match.index,
      fromMs: ms + match.index * msPerChar,
      toMs: ms + (match.index + match[0].length) * msPerChar,
    }));
    chars += piece.length;
    ms += piece.trim().length * msPerChar;
    return words;
  });
}

/** Words that were heard whole and asked of the other voice, and those of which a part was heard from nobody. */
function judge({ firstMs, from }: Heard, msPerChar: number): { twice: number; lost: number } {
  const words = wordsOf(msPerChar);
  const off = msPerChar;
  return {
    twice: words.filter(({ chars, toMs }) => chars >= from && toMs <= firstMs - off).length,
    lost: words.filter(({ chars, toMs }) => chars < from && toMs > firstMs + off).length,
  };
}

describe.each(Object.entries(sounds))('a voice that makes %s', (name, sound) => {
  it('is followed at the word in which it died, or behind it, wherever it dies', () => {
    const prng = newPrng(7);
    let runs = 0;
    for (let seed = 0; seed < 250; seed += 1) {
      const msPerChar = prng.pick([8, 15, 40, 62, 90, 140]);
      const speed = prng.pick([1.2, 2, 5, 20]);
      const diesAtMs = prng.next() * (300 + (answer.length * msPerChar) / speed);
      const heard = hear({ sound, msPerChar, speed }, diesAtMs, { isKnown: true });
      if (heard === undefined) continue;
      runs += 1;
      const what = `${name}, ${msPerChar} ms a character, ${speed} times, ${diesAtMs} ms: ${JSON.stringify(heard)}`;
      expect(judge(heard, msPerChar), what).toEqual({ twice: 0, lost: 0 });
    }
    expect(runs).toBeGreaterThan(200);
  });
});

describe('a voice that makes a tone and has said nothing before', () => {
  it('is followed at about the right word when it is as fast as most voices', () => {
    const prng = newPrng(8);
    for (let seed = 0; seed < 100; seed += 1) {
      const manner = { sound: sounds['a tone'], msPerChar: 62, speed: 4 };
      const heard = hear(manner, 300 + prng.next() * 1_500, { isKnown: false });
      // The last word of a piece may be said again: nobody knows that the piece was over.
      const { twice, lost } = judge(heard!, 62);
      expect([twice, lost], JSON.stringify(heard)).toEqual([expect.toBeOneOf([0, 1]), 0]);
    }
  });
});

describe('sounds', () => {
  const keep = (sound: Sound, ms: number): KeptSpeech => {
    const kept = new KeptSpeech(8_000);
    kept.push(Int16Array.from({ length: ms * perMs }, (_, at) => sound(at)));
    return kept;
  };
  it.each(Object.entries(sounds))('that are %s are not taken for speech', (_name, sound) => {
    expect(speechIn(keep(sound, 1_500), { isWhole: false })).toBe(false);
  });

  it('that a mouth makes are, also in a pause', () => {
    for (let seed = 1; seed < 40; seed += 1) {
      const kept = new KeptSpeech(16_000);
      kept.push(madeVoice({ seed, pitchHz: 90 + seed * 4, ms: 700 + seed * 20 }));
      expect(speechIn(kept, { isWhole: false }), `${seed}`).toBe(true);
      kept.push(new Int16Array(16_000 * 2));
      expect(speechIn(kept, { isWhole: false }), `${seed}`).not.toBe(false);
    }
  });

  it('are waited for when a voice begins with silence, but not for ever', () => {
    expect(
      speechIn(
        keep(() => 0, 500),
        { isWhole: false },
      ),
    ).toBeUndefined();
    expect(
      speechIn(
        keep(() => 0, 500),
        { isWhole: true },
      ),
    ).toBe(false);
    expect(
      speechIn(
        keep(() => 0, 900),
        { isWhole: false },
      ),
    ).toBe(false);
  });
});
