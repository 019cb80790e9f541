/** A voice that tells no times of its words, with a secondary: what of it is held, and where the other goes on. */
import { describe, expect, it } from 'vitest';
import { Pace, resumeAt } from '../../../worker/stages/failover/spoken-place.ts';
import { newFailoverTts } from '../../../worker/stages/failover/tts.ts';
import type { TtsEvent } from '../../../worker/stages/stage.ts';
import { newFailoverScope } from '../../support/failover.ts';
import { openVoices } from '../../support/failover-voices.ts';
import { ScriptedTts, type ScriptedSession } from '../../support/scripted-stages.ts';
import { Events, newStageContext } from '../../support/stage-context.ts';
import { newVirtualClock, type VirtualClock } from '../../support/virtual-clock.ts';

const lost: TtsEvent = { type: 'error', error: { kind: 'disconnected' } };

describe('a voice that tells no times', () => {
  /** Two tones that are others in each "word". */
  const sounding = (word: number, at: number): number => {
    const wave = (hz: number): number => Math.sin((2 * Math.PI * hz * at) / 8_000);
    return 8_000 * (wave(300 + ((word * 5) % 7) * 90) + wave(1_100 + ((word * 3) % 8) * 280));
  };
  /** Voice, silence, voice, as told; at 8 kHz. */
  const samples = (...parts: readonly number[]): Int16Array =>
    Int16Array.from(
      parts.flatMap((ms, part) =>
        Array.from({ length: ms * 8 }, (_, at) =>
          part % 2 === 0 ? sounding(Math.floor(at / 1_000), at) : 0,
        ),
      ),
    );
  const spoken = (context: number, ...parts: readonly number[]): TtsEvent => ({
    type: 'audio',
    context,
    pcm: samples(...parts),
  });
  const heardMs = (events: Events<TtsEvent>): number =>
    events.of('audio').reduce((sum, { pcm }) => sum + pcm.length / 8, 0);

  it('is passed on as it is needed, whole and in order, and its end last', () => {
    const { clock, primary, events, session } = openVoices();
    session.speak(1, 'Hello there.');
    session.flush(1);
    const voice = primary.sessions[0]!;
    voice.say(spoken(1, 2_000));
    voice.say({ type: 'spoken', context: 1, chars: 12 });
    voice.say({ type: 'flushed', context: 1 });
    expect(heardMs(events)).toBe(400);
    clock.advance(1_000);
    expect(heardMs(events)).toBeGreaterThanOrEqual(1_200);
    expect(heardMs(events)).toBeLessThan(1_500);
    clock.advance(1_000);
    expect(heardMs(events)).toBe(2_000);
    expect(events.all.slice(-2).map(({ type }) => type)).toEqual(['spoken', 'flushed']);
    expect(clock.pending).toBe(0);
  });

  it('is held for five seconds at most', () => {
    const { clock, primary, events, session } = openVoices();
    session.speak(1, 'Hello there.');
    primary.sessions[0]!.say(spoken(1, 60_000));
    expect(heardMs(events)).toBe(55_000);
    clock.advance(60_000);
    expect(heardMs(events)).toBe(60_000);
  });

  it('is not held back where no other voice could go on', () => {
    const clock = newVirtualClock();
    const only = new ScriptedTts();
    const events = new Events<TtsEvent>();
    const stage = newFailoverTts(
      newFailoverScope('tts', { primary: only.stage, machineMs: () => clock.now() }),
    );
    stage.open(newStageContext(clock), events.sink).speak(1, 'Hello.');
    only.sessions[0]!.say(spoken(1, 2_000));
    expect(heardMs(events)).toBe(2_000);
    expect(clock.pending).toBe(0);
  });

  it('is left at the end of a piece when what came of the next one is not needed yet', () => {
    const { clock, primary, secondary, events, session } = openVoices();
    session.speak(1, 'Hello there. ');
    session.speak(1, 'How are you today?');
    const voice = primary.sessions[0]!;
    voice.say(spoken(1, 900));
    voice.say({ type: 'spoken', context: 1, chars: 13 });
    voice.say(spoken(1, 400));
    voice.say(lost);
    expect(secondary.sessions[0]!.asked).toEqual(['speak 1 How are you today?']);
    clock.advance(2_000);
    expect(heardMs(events)).toBe(900);
    secondary.sessions[0]!.say(spoken(1, 100));
    expect(heardMs(events)).toBe(1_000);
  });

  /** A voice so slow that to hear it again would take too long. */
  const saySlowly = (clock: VirtualClock, voice: ScriptedSession<TtsEvent>, ...parts: number[]): void => {
    voice.say(spoken(1, 80));
    clock.advance(40_000);
    voice.say(spoken(1, ...parts));
    clock.advance(4_000);
    voice.say(lost);
  };

  it('is left in a pause, with a little of it, when the text tells which one it is and the voices are slow', () => {
    const { clock, primary, secondary, events, session } = openVoices();
    session.speak(1, `${'so '.repeat(30)}my dear, it is about time to go.`);
    saySlowly(clock, primary.sessions[0]!, 6_000, 300, 500);
    expect(secondary.sessions[0]!.asked).toEqual(['speak 1 it is about time to go.']);
    clock.advance(5_000);
    expect(heardMs(events)).toBe(6_200);
  });

  /** So many "words" of 150 ms at the pace 1, each with a sound of its own. */
  const words = (from: number, to: number, { pace = 1 } = {}): TtsEvent => ({
    type: 'audio',
    context: 1,
    pcm: Int16Array.from({ length: (to - from) * 1_200 * pace }, (_, at) =>
      sounding(from + Math.floor(at / (1_200 * pace)), at),
    ),
  });
  const phrase = 'Well then my dear friend it is about time to go.';

  it('is followed within a phrase by one that says it again, and is heard from the same word on', () => {
    const { clock, primary, secondary, events, session } = openVoices();
    session.speak(1, phrase);
    session.flush(1);
    primary.sessions[0]!.say(words(0, 8));
    primary.sessions[0]!.say(lost);
    const second = secondary.sessions[0]!;
    expect(second.asked).toEqual([`speak 1 ${phrase}`, 'flush 1']);
    expect(heardMs(events)).toBe(400);
    second.say(words(0, 4, { pace: 1.2 }));
    // Meanwhile what is left of the first is heard.
    clock.advance(300);
    expect(heardMs(events)).toBe(600);
    second.say(words(4, 14, { pace: 1.2 }));
    second.say({ type: 'spoken', context: 1, chars: phrase.length });
    second.say({ type: 'flushed', context: 1 });
    clock.advance(5_000);
    // Between 600 and 1,100 ms of the first, and the words behind it at the pace of the second.
    expect(heardMs(events)).toBeGreaterThan(1_100 + (2_100 - 1_100) * 1.2 - 50);
    expect(heardMs(events)).toBeLessThan(600 + (2_100 - 600) * 1.2 + 50);
    expect(events.all.slice(-2)).toEqual([
      { type: 'spoken', context: 1, chars: phrase.length },
      { type: 'flushed', context: 1 },
    ]);
    expect(clock.pending).toBe(0);
  });

  it('is followed by the next one in the same way when that dies before it was heard, or by none when it is cancelled', () => {
    const { clock, primary, secondary, events, session } = openVoices();
    session.speak(1, phrase);
    primary.sessions[0]!.say(words(0, 8));
    primary.sessions[0]!.say(lost);
    secondary.sessions[0]!.say(words(0, 4));
    secondary.sessions[0]!.say(lost);
    clock.advance(300);
    expect(primary.sessions[1]!.asked).toEqual([`speak 1 ${phrase}`]);
    primary.sessions[1]!.say(words(0, 5));
    session.cancel(1);
    const before = heardMs(events);
    primary.sessions[1]!.say(words(5, 14));
    clock.advance(5_000);
    expect(heardMs(events)).toBe(before);
  });

  it('is followed by one that begins a bit before the place when four seconds were heard', () => {
    const { clock, primary, secondary, events, session } = openVoices();
    const long = `${'so '.repeat(60)}it is about time to go.`;
    session.speak(1, long);
    primary.sessions[0]!.say(spoken(1, 6_000));
    clock.advance(4_000);
    primary.sessions[0]!.say(lost);
    const [asked = ''] = secondary.sessions[0]!.asked;
    expect(asked).toMatch(/^speak 1 (so )+it is about time to go\.$/);
    // 4.3 s were heard, which is about 70 characters, and of these it says 1 to 3 s again.
    expect(long.length - asked.length + 'speak 1 '.length).toBeGreaterThan(20);
    expect(long.length - asked.length + 'speak 1 '.length).toBeLessThan(55);
    // It says what the first said from 2.5 s on, and is heard where that ended.
    secondary.sessions[0]!.say({ type: 'audio', context: 1, pcm: samples(11_000).subarray(2_500 * 8) });
    secondary.sessions[0]!.say({ type: 'spoken', context: 1, chars: asked.length - 'speak 1 '.length });
    clock.advance(20_000);
    expect(heardMs(events)).toBeGreaterThan(11_000 - 60);
    expect(heardMs(events)).toBeLessThan(11_000 + 60);
    expect(events.all.at(-1)).toEqual({ type: 'spoken', context: 1, chars: long.length });
  });

  it('is not followed in that way where a slow one would leave the listener without a sound for two seconds', () => {
    const { clock, primary, secondary, events, session } = openVoices();
    session.speak(1, `${'so '.repeat(60)}it is about time to go.`);
    saySlowly(clock, primary.sessions[0]!, 5_000);
    const before = heardMs(events);
    expect(secondary.sessions[0]!.asked[0]).toMatch(/^speak 1 (so )+it is about time to go\.$/);
    expect(secondary.sessions[0]!.asked[0]!.length).toBeLessThan(150);
    // The place is estimated, and a word that was begun is left out.
    clock.advance(3_000);
    expect(heardMs(events)).toBe(before);
  });

  it('is followed in that way however long it was silent before it was given up', () => {
    const { clock, primary, secondary, session } = openVoices();
    session.speak(1, phrase);
    primary.sessions[0]!.say(words(0, 4));
    clock.advance(100);
    primary.sessions[0]!.say(words(4, 8));
    clock.advance(4_000);
    primary.sessions[0]!.say(lost);
    expect(secondary.sessions[0]!.asked).toEqual([`speak 1 ${phrase}`]);
  });

  it('is heard to its end when no voice is left, and then the session fails', () => {
    const { clock, primary, secondary, events, session } = openVoices();
    session.speak(1, 'Hello there.');
    primary.sessions[0]!.say(spoken(1, 300));
    primary.sessions[0]!.say({ type: 'spoken', context: 1, chars: 12 });
    session.speak(1, 'And more.');
    primary.sessions[0]!.say(lost);
    secondary.sessions[0]!.say(lost);
    clock.advance(250);
    primary.sessions[1]!.say(lost);
    expect(events.all.map(({ type }) => type).slice(-2)).toEqual(['spoken', 'error']);
    expect(heardMs(events)).toBe(300);
    expect(clock.pending).toBe(0);
  });

  it('says nothing more of what was cancelled, and waits while it is paused', () => {
    const { clock, primary, events, session } = openVoices();
    session.speak(1, 'Hello there.');
    primary.sessions[0]!.say(spoken(1, 2_000));
    session.pause();
    clock.advance(5_000);
    expect(heardMs(events)).toBe(400);
    session.resume();
    clock.advance(300);
    expect(heardMs(events)).toBeGreaterThan(400);
    session.cancel(1);
    const before = heardMs(events);
    clock.advance(5_000);
    expect(heardMs(events)).toBe(before);
    session.close();
    expect(clock.pending).toBe(0);
  });
});

describe('the place where a voice goes on', () => {
  const text = 'alpha beta gamma delta.';
  const said = { from: 0, fromMs: 0, words: [], pauses: [], msPerChar: 50 };
  const at = (words: readonly { chars: number; startMs: number }[], deliveredMs: number): number =>
    resumeAt(text, { ...said, words, deliveredMs, releasedMs: deliveredMs }).chars;

  it('is estimated by the pace of the voice where it tells no times', () => {
    const rest = (ms: number): string => text.slice(at([], ms));
    expect(rest(0)).toBe(text);
    expect(rest(50)).toBe(text);
    expect(rest(100)).toBe('beta gamma delta.');
    expect(rest(50 * 13)).toBe('delta.');
    expect(rest(50 * 22)).toBe('');
  });

  it('does not take a pause behind a word for the word', () => {
    const words = [
      { chars: 0, startMs: 0 },
      { chars: 6, startMs: 2_000 },
    ];
    expect(at(words, 600)).toBe(6);
    expect(at(words, 2_050)).toBe(6);
    expect(at(words, 2_150)).toBe(11);
  });

  it('does not run into words of which the voice has told nothing', () => {
    expect(at([{ chars: 0, startMs: 0 }], 1_200)).toBe(6);
  });

  it('learns the pace from what was finished, within what voices do', () => {
    const pace = new Pace();
    pace.learn(4, 4_000);
    expect(pace.msPerChar).toBe(62);
    pace.learn(20, 1_600);
    expect(pace.msPerChar).toBe(80);
    pace.learn(20, 20_000);
    expect(pace.msPerChar).toBe(120);
  });

  it('depends on how fast a voice makes speech, which counts little when nobody took its audio', () => {
    const pace = new Pace();
    pace.learnSpeed(2_000, 500);
    expect(pace.speed).toBe(4);
    pace.learnSpeed(2_000, 2_000);
    expect(pace.speed).toBeCloseTo(3.7);
    pace.learnSpeed(3_000, 500);
    expect(pace.speed).toBe(6);
  });
});
