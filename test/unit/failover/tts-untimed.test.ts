/** A voice that tells no times of its words, with a secondary: what of it is held, and where the other goes on. */
import { describe, expect, it } from 'vitest';
import { Pace, resumeAt } from '../../../worker/stages/failover/spoken-place.ts';
import { newFailoverTts } from '../../../worker/stages/failover/tts.ts';
import type { TtsEvent } from '../../../worker/stages/stage.ts';
import { newFailoverScope } from '../../support/core/failover.ts';
import { openVoices } from '../../support/core/failover-voices.ts';
import { ScriptedTts } from '../../support/core/scripted-stages.ts';
import { Events, newStageContext } from '../../support/core/stage-context.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';

const lost: TtsEvent = { type: 'error', error: { kind: 'disconnected' } };

describe('a voice that tells no times', () => {
  const spoken = (context: number, ms: number): TtsEvent => ({
    type: 'audio',
    context,
    pcm: new Int16Array(ms * 8).fill(900),
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

  it('is followed by one that says a piece from its start of which a part was heard, and nothing that was heard whole', () => {
    const { clock, primary, secondary, events, session } = openVoices();
    session.speak(1, 'Hello there. ');
    session.speak(1, 'How are you today? ');
    session.speak(1, 'Well?');
    session.flush(1);
    const first = primary.sessions[0]!;
    first.say(spoken(1, 900));
    first.say({ type: 'spoken', context: 1, chars: 13 });
    first.say(spoken(1, 1_000));
    clock.advance(1_000);
    const before = heardMs(events);
    expect(before).toBeGreaterThan(1_000);
    first.say(lost);
    const second = secondary.sessions[0]!;
    expect(second.asked).toEqual(['speak 1 How are you today? ', 'speak 1 Well?', 'flush 1']);
    // What was made and not heard yet would be heard twice.
    clock.advance(2_000);
    expect(heardMs(events)).toBe(before);
    second.say(spoken(1, 1_100));
    second.say({ type: 'spoken', context: 1, chars: 19 });
    second.say({ type: 'flushed', context: 1 });
    clock.advance(5_000);
    expect(heardMs(events)).toBe(before + 1_100);
    expect(events.all.slice(-2)).toEqual([
      { type: 'spoken', context: 1, chars: 32 },
      { type: 'flushed', context: 1 },
    ]);
    expect(clock.pending).toBe(0);
  });

  it('is followed by the next one in the same way when that dies as well, or by none when it is cancelled', () => {
    const { clock, primary, secondary, events, session } = openVoices();
    session.speak(1, 'It is about time to go.');
    primary.sessions[0]!.say(spoken(1, 800));
    primary.sessions[0]!.say(lost);
    secondary.sessions[0]!.say(spoken(1, 400));
    secondary.sessions[0]!.say(lost);
    clock.advance(300);
    expect(primary.sessions[1]!.asked).toEqual(['speak 1 It is about time to go.']);
    session.cancel(1);
    const before = heardMs(events);
    primary.sessions[1]!.say(spoken(1, 1_000));
    clock.advance(5_000);
    expect(heardMs(events)).toBe(before);
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
  const said = { from: 0, fromMs: 0, words: [], msPerChar: 50 };
  const at = (words: readonly { chars: number; startMs: number }[], deliveredMs: number): number =>
    resumeAt(text, { ...said, words, deliveredMs, releasedMs: deliveredMs }).chars;

  it('is the start of the piece where the voice tells no times, and audio that can be taken back is left out', () => {
    const place = (fromMs: number, releasedMs: number) =>
      resumeAt(text, { ...said, from: 6, fromMs, deliveredMs: 1_000, releasedMs });
    expect(place(300, 700)).toEqual({ chars: 6, cutMs: 700 });
    expect(place(300, 200)).toEqual({ chars: 6, cutMs: 300 });
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
});
