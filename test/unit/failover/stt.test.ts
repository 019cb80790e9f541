import { describe, expect, it } from 'vitest';
import { HeardAudio, keptAudioMs } from '../../../worker/stages/failover/heard-audio.ts';
import { newFailoverStt } from '../../../worker/stages/failover/stt.ts';
import type {
  StageContext,
  SttEvent,
  SttSession,
  SttStage,
  Transcript,
} from '../../../worker/stages/stage.ts';
import { newFailoverScope, type Recorded } from '../../support/core/failover.ts';
import { ScriptedStt } from '../../support/core/scripted-stages.ts';
import { Events, newStageContext } from '../../support/core/stage-context.ts';
import { newVirtualClock, type VirtualClock } from '../../support/core/virtual-clock.ts';

const pcm = (value: number, ms = 20): Int16Array => new Int16Array(ms * 16).fill(value);
const final = (text: string, more: Partial<Transcript> = {}): Transcript => ({
  type: 'transcript',
  text,
  isFinal: true,
  speechFinal: false,
  fromFinalize: false,
  ...more,
});
const lost: SttEvent = { type: 'error', error: { kind: 'disconnected' } };

interface Opened {
  readonly clock: VirtualClock;
  readonly primary: ScriptedStt;
  readonly secondary: ScriptedStt;
  readonly scope: Recorded & { readonly context: StageContext };
  readonly events: Events<SttEvent>;
  readonly stage: SttStage;
  readonly session: SttSession;
}

function open({ alone = false, retries = true } = {}): Opened {
  const clock = newVirtualClock();
  const [primary, secondary] = [new ScriptedStt(), new ScriptedStt()];
  const scope = newFailoverScope('stt', {
    primary: primary.stage,
    ...(!alone && { secondary: secondary.stage }),
    machineMs: () => clock.now() + 1_000,
    retries,
  });
  const events = new Events<SttEvent>();
  const stage = newFailoverStt(scope);
  const context = newStageContext(clock);
  const session = stage.open(context, events.sink);
  return { clock, primary, secondary, scope: { ...scope, context }, events, stage, session };
}

describe('a recogniser with a secondary', () => {
  it('replays what no final covers: from where the final says, utterance by utterance', () => {
    const { primary, secondary, session } = open();
    for (let at = 1; at <= 5; at += 1) session.audio(pcm(at));
    primary.sessions[0]!.say(final('one', { heardMs: 40 }));
    session.finalize();
    session.audio(pcm(6));
    primary.sessions[0]!.say(lost);
    expect(primary.sessions[0]!.isClosed).toBe(true);
    expect(secondary.sessions[0]!.asked).toEqual([
      ...[3, 4, 5].map((value) => `audio ${value} x320`),
      'finalize',
      'audio 6 x320',
    ]);
    session.audio(pcm(7));
    session.finalize();
    expect(secondary.sessions[0]!.asked.slice(-2)).toEqual(['audio 7 x320', 'finalize']);
    // Times of the session that took over count from where it began.
    secondary.sessions[0]!.say(final('two', { heardMs: 20 }));
    secondary.sessions[0]!.say(lost);
    expect(primary.sessions[1]!.asked).toEqual([
      'audio 4 x320',
      'audio 5 x320',
      'finalize',
      'audio 6 x320',
      'audio 7 x320',
      'finalize',
    ]);
  });

  it('replays nothing of an utterance whose last words were delivered, and still has it finalized', () => {
    const { primary, secondary, session } = open();
    session.audio(pcm(1));
    session.finalize();
    primary.sessions[0]!.say(final('all of it', { speechFinal: true, fromFinalize: true }));
    primary.sessions[0]!.say(lost);
    expect(secondary.sessions[0]!.asked).toEqual(['finalize']);
  });

  it('feeds as fast as the session has room, and what is said meanwhile after it', () => {
    const { clock, primary, secondary, session } = open();
    session.audio(pcm(1));
    primary.sessions[0]!.say(lost);
    const next = secondary.sessions[0]!;
    expect(next.asked).toEqual(['audio 1 x320']);
    next.hasRoom = false;
    next.say(lost);
    clock.advance(250);
    const third = primary.sessions[1]!;
    expect(third.asked).toEqual(['audio 1 x320']);
    third.hasRoom = false;
    session.audio(pcm(2));
    expect(third.asked.at(-1)).toBe('audio 2 x320');
  });

  it('holds back audio while the session that takes over has no room', () => {
    const { clock, primary, secondary, session } = open();
    for (let at = 1; at <= 3; at += 1) session.audio(pcm(at));
    const opened = secondary.stage.open.bind(secondary.stage);
    Object.assign(secondary.stage, {
      open: (...args: Parameters<typeof opened>) => {
        const made = opened(...args);
        secondary.sessions.at(-1)!.hasRoom = false;
        return made;
      },
    });
    primary.sessions[0]!.say(lost);
    session.audio(pcm(4));
    session.finalize();
    const next = secondary.sessions[0]!;
    clock.advance(100);
    expect(next.asked).toEqual([]);
    next.hasRoom = true;
    clock.advance(20);
    expect(next.asked).toEqual([...[1, 2, 3, 4].map((value) => `audio ${value} x320`), 'finalize']);
  });

  it('fails when both have failed twice in a row, and starts to count anew when one has worked', () => {
    const { clock, primary, secondary, events, session } = open();
    session.audio(pcm(1));
    primary.sessions[0]!.say(lost);
    secondary.sessions[0]!.say(final('word'));
    secondary.sessions[0]!.say(lost);
    expect(primary.sessions).toHaveLength(2);
    primary.sessions[1]!.say(lost);
    clock.advance(250);
    secondary.sessions[1]!.say(lost);
    expect(events.all).toEqual([final('word'), lost]);
    expect(session.audio(pcm(1))).toBe(false);
  });

  it('changes between utterances, away from a provider that others have found broken, and back', () => {
    const { primary, secondary, scope, session } = open();
    const breaker = scope.breakers.of('stt', 'primary');
    session.audio(pcm(1));
    breaker.failed(breaker.ask(1_000)!, 1_000, { pauseMs: 5_000 });
    session.audio(pcm(2));
    session.finalize();
    expect(secondary.sessions).toEqual([]);
    primary.sessions[0]!.say({ type: 'finalized' });
    session.audio(pcm(3));
    session.finalize();
    expect(primary.sessions[0]!.isClosed).toBe(true);
    expect(secondary.sessions[0]!.asked).toEqual(['audio 3 x320', 'finalize']);
    breaker.succeeded(breaker.force(), 2_000);
    secondary.sessions[0]!.say({ type: 'finalized' });
    session.audio(pcm(4));
    expect(secondary.sessions[0]!.isClosed).toBe(true);
    expect(primary.sessions[1]!.asked).toEqual(['audio 4 x320']);
  });

  it('fails at once when it is alone, or no retry is left', () => {
    for (const options of [{ alone: true }, { retries: false }]) {
      const { clock, primary, secondary, events } = open(options);
      primary.sessions[0]!.say(lost);
      clock.advance(10_000);
      expect(events.all).toEqual([lost]);
      expect([primary.sessions.length, secondary.sessions.length]).toEqual([1, 0]);
    }
  });

  it('counts seconds of audio and the time from the question to the last word', () => {
    const { clock, primary, scope, session } = open({ alone: true });
    for (let at = 0; at < 100; at += 1) session.audio(pcm(1));
    session.finalize();
    clock.advance(230);
    primary.sessions[0]!.say({ type: 'finalized' });
    session.close();
    expect(scope.notes).toEqual([
      'primary requested',
      'primary first result 230',
      'primary spent 2 audio_seconds',
    ]);
  });

  it('gives a finalize that is not answered to the other provider, while the caller waits', () => {
    const { clock, primary, secondary, scope, events, session } = open();
    session.audio(pcm(1));
    session.finalize();
    clock.advance(699);
    expect(secondary.sessions).toEqual([]);
    clock.advance(1);
    expect(primary.sessions[0]!.isClosed).toBe(true);
    expect(secondary.sessions[0]!.asked).toEqual(['audio 1 x320', 'finalize']);
    expect(scope.notes).toContain('primary failed timeout');
    // The other one is not left for being slow as well.
    clock.advance(5_000);
    expect(secondary.sessions[0]!.isClosed).toBe(false);
    secondary.sessions[0]!.say({ type: 'finalized' });
    expect(events.all).toEqual([{ type: 'finalized' }]);
    expect(clock.pending).toBe(0);
  });

  it('waits on when there is no other provider to turn to', () => {
    const { clock, primary, events, session } = open({ retries: false });
    session.audio(pcm(1));
    session.finalize();
    clock.advance(5_000);
    primary.sessions[0]!.say({ type: 'finalized' });
    expect(events.all).toEqual([{ type: 'finalized' }]);
  });

  it('takes a session for stalled that was closed with an old finalize, and begins the next with the other', () => {
    const { clock, secondary, scope, stage, session } = open({ retries: false });
    session.audio(pcm(1));
    session.finalize();
    clock.advance(1_000);
    session.close();
    expect(scope.notes).toContain('primary failed stalled');
    stage.open(scope.context, () => undefined);
    expect(secondary.sessions).toHaveLength(1);
  });

  it('takes a finalize that was answered by the time limit alone for a stall, and passes it on', () => {
    const { primary, scope, session, events } = open();
    session.audio(pcm(1));
    session.finalize();
    primary.sessions[0]!.say({ type: 'finalized', isLate: true });
    expect(scope.notes).toContain('primary failed stalled');
    expect(events.all).toEqual([{ type: 'finalized', isLate: true }]);
  });

  it('says nothing after it was closed', () => {
    const { clock, primary, events, session } = open();
    session.audio(pcm(1));
    session.close();
    primary.sessions[0]!.say(final('late'));
    primary.sessions[0]!.say(lost);
    expect(events.all).toEqual([]);
    expect(clock.pending).toBe(0);
  });
});

describe('audio that no final covers', () => {
  const replay = (heard: HeardAudio): number[] => {
    const values: number[] = [];
    heard.rewind();
    for (let next = heard.next(); next !== undefined; next = heard.next())
      values.push(next.type === 'end' ? -1 : next.pcm[0]!);
    return values;
  };

  it('is cut in the pause where a final does not say how far it goes', () => {
    const heard = new HeardAudio();
    for (const value of [9, 9, 9, 9, 9]) heard.push(pcm(value * 1_000, 100));
    heard.push(pcm(20, 300));
    for (const value of [7, 7]) heard.push(pcm(value * 1_000, 100));
    heard.markFed();
    heard.covered({ isWhole: false });
    const values = replay(heard);
    expect(values.filter((value) => value >= 7_000)).toEqual([7_000, 7_000]);
  });

  it('is bounded: the oldest goes, and it says so', () => {
    const heard = new HeardAudio();
    const chunks = keptAudioMs / 100;
    const kept = Array.from({ length: chunks + 3 }, (_, at) => heard.push(pcm(at + 1, 100)));
    expect([kept.indexOf(false), kept.filter((fits) => !fits).length]).toEqual([chunks, 3]);
    expect(replay(heard)).toEqual(Array.from({ length: chunks }, (_, at) => at + 4));
  });

  it('is forgotten with its utterance', () => {
    const heard = new HeardAudio();
    heard.push(pcm(1));
    heard.end();
    heard.push(pcm(2));
    heard.settle();
    expect(replay(heard)).toEqual([2]);
  });
});
