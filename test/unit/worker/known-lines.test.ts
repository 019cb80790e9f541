/** Lines that were made ahead of time: played at once, in order with what the provider speaks, and never needed. */
import { describe, it, expect } from 'vitest';
import { newLog } from '../../../shared/runtime/log.ts';
import { Scope } from '../../../shared/runtime/scope.ts';
import { withKnownLines } from '../../../worker/lines/known-lines.ts';
import type { TtsEvent, TtsSession } from '../../../worker/stages/stage.ts';
import { FakeStages, Trap } from '../../support/fakes/fake-call.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';

function newSetup(texts: readonly string[] = ['One moment.', 'Goodbye.'], isDown = () => false) {
  const clock = newVirtualClock();
  const stages = new FakeStages(new Trap());
  const lines: string[] = [];
  const log = newLog({
    role: 'worker 0',
    level: 'info',
    to: { write: (line) => void lines.push((JSON.parse(line) as { msg: string }).msg) },
  });
  const stage = withKnownLines(stages.ttsStage, {
    clock,
    log,
    texts,
    fillers: texts.slice(0, 1),
    farewell: texts.slice(1),
    announcement: { pcm: new Int16Array(800).fill(9), ms: 50 },
    pauseMs: 0,
    isDown,
  });
  const open = (): { session: TtsSession; told: TtsEvent[]; provider: (typeof stages.tts)[number] } => {
    const told: TtsEvent[] = [];
    const scope = new Scope('call', (error) => {
      throw error;
    });
    const session = stage.open({ clock, bind: (callback) => scope.bind(callback) }, (event) =>
      told.push(event),
    );
    const provider = stages.tts.at(-1)!;
    clock.advance(0);
    return { session, told, provider };
  };
  /** The maker's session speaks its next line, `length` samples long. */
  const make = (maker: (typeof stages.tts)[number], line: number, length: number): void => {
    maker.emit({ type: 'audio', context: line, pcm: new Int16Array(length).fill(line) });
    maker.emit({ type: 'flushed', context: line });
    clock.advance(0);
  };
  return { clock, stages, open, make, stage, lines };
}

const shown = (event: TtsEvent): string =>
  event.type === 'audio'
    ? `audio ${event.context} of ${event.pcm[0]}`
    : event.type === 'error'
      ? 'error'
      : `${event.type} ${event.context}${'chars' in event ? ` ${event.chars}` : ''}${'startMs' in event ? ` at ${event.startMs}` : ''}`;

/** A setup in which both lines have been made. */
function newMade() {
  const setup = newSetup();
  const first = setup.open();
  const maker = setup.stages.tts[1]!;
  setup.make(maker, 1, 1_600);
  setup.make(maker, 2, 3_200);
  return { ...setup, maker, first };
}

describe('known lines', () => {
  it('gives the sound of a line by its text, as soon as it is made', () => {
    const setup = newSetup();
    expect(setup.stage.known('One moment.')).toBeUndefined();
    setup.open();
    setup.make(setup.stages.tts.at(-1)!, 1, 160);
    expect(setup.stage.known(' One moment. ')).toEqual({ pcm: new Int16Array(160).fill(1), ms: 10 });
    expect(setup.stage.known('Goodbye.')).toBeUndefined();
  });

  it('are made once, one after another, in a session of their own', () => {
    const { maker, open, stages } = newMade();
    expect(maker.asked).toEqual(['speak 1 One moment.', 'flush 1', 'speak 2 Goodbye.', 'flush 2']);
    expect(maker.closed).toBe(true);
    open();
    expect(stages.tts.length).toBe(3);
  });

  it('are played at once and asked of nobody', () => {
    const { clock, open } = newMade();
    const { session, told, provider } = open();
    session.speak(1, 'One moment. ');
    session.flush(1);
    expect(told).toEqual([]);
    clock.advance(0);
    expect(told.map(shown)).toEqual(['audio 1 of 1', 'spoken 1 12', 'flushed 1']);
    expect(provider.asked).toEqual([]);
  });

  it('move what the provider says of the text behind them', () => {
    const { clock, open } = newMade();
    const { session, told, provider } = open();
    session.speak(1, 'One moment. ');
    session.speak(1, 'It is noon.');
    session.flush(1);
    clock.advance(0);
    provider.emit({ type: 'word', context: 1, chars: 3, startMs: 50 });
    provider.emit({ type: 'spoken', context: 1, chars: 11 });
    provider.emit({ type: 'flushed', context: 1 });
    expect(told.slice(2).map(shown)).toEqual(['word 1 15 at 150', 'spoken 1 23', 'flushed 1']);
    expect(provider.asked).toEqual(['speak 1 It is noon.', 'flush 1']);
  });

  it('wait for nothing behind text that the provider has spoken, and are left to it while it has not', () => {
    const { clock, open } = newMade();
    const { session, told, provider } = open();
    session.speak(1, 'Well. ');
    session.speak(1, 'One moment. ');
    expect(provider.asked).toEqual(['speak 1 Well. ', 'speak 1 One moment. ']);
    provider.emit({ type: 'spoken', context: 1, chars: 18 });
    session.speak(1, 'One moment. ');
    session.speak(1, 'Noon.');
    clock.advance(0);
    provider.emit({ type: 'spoken', context: 1, chars: 23 });
    expect(told.map(shown)).toEqual(['spoken 1 18', 'audio 1 of 1', 'spoken 1 30', 'spoken 1 35']);
  });

  it('are silent once their context was cancelled', () => {
    const { clock, open } = newMade();
    const { session, told } = open();
    session.speak(1, 'One moment.');
    session.cancel(1);
    clock.advance(0);
    expect(told).toEqual([]);
  });

  it('do not keep from the provider that the agent was silenced, of texts that are over as well', () => {
    const { open } = newMade();
    const { session, provider } = open();
    session.speak(1, 'Something else.');
    session.flush(1);
    session.cancel(1);
    session.speak(2, 'Something else.');
    session.flush(2);
    provider.emit({ type: 'flushed', context: 2 });
    session.cancel(2);
    expect(provider.asked.slice(-4)).toEqual(['cancel 1', 'speak 2 Something else.', 'flush 2', 'silenced']);
  });

  it('that could not be made are asked of the provider, and tried again with later calls, after longer and longer waits', () => {
    const { clock, open, stages } = newSetup();
    const { session, provider } = open();
    const makers = (): number => stages.tts.filter(({ asked }) => asked[0] === 'speak 1 One moment.').length;
    expect(makers()).toBe(1);
    for (const [at, waitMs] of [5_000, 20_000, 80_000, 320_000, 600_000, 600_000].entries()) {
      stages.tts.at(-1)!.emit({ type: 'error', error: { kind: 'disconnected' } });
      clock.advance(waitMs - 1);
      open();
      expect(makers()).toBe(at + 1);
      clock.advance(1);
      open();
      expect(makers()).toBe(at + 2);
    }
    session.speak(1, 'One moment.');
    expect(provider.asked).toEqual(['speak 1 One moment.']);
  });

  it('that could not be made are one line of the log, and one when they are made', () => {
    const { clock, stages, open, make, lines } = newSetup();
    for (let time = 0; time < 3; time += 1) {
      open();
      stages.tts.at(-1)!.emit({ type: 'error', error: { kind: 'disconnected' } });
      clock.advance(3_600_000);
    }
    expect(lines).toEqual(['known lines were not all made']);
    open();
    const maker = stages.tts.at(-1)!;
    make(maker, 1, 1_600);
    make(maker, 2, 1_600);
    expect(lines).toEqual(['known lines were not all made', 'known lines are made']);
  });

  it('are not asked of a voice that is known to be down', () => {
    let isDown = true;
    const { clock, open, stages } = newSetup(['One moment.'], () => isDown);
    open();
    expect(stages.tts.length).toBe(1);
    isDown = false;
    clock.advance(5_000);
    open();
    expect(stages.tts.at(-1)!.asked).toEqual(['speak 1 One moment.', 'flush 1']);
  });

  it('that take too long are given up', () => {
    const { clock, open, stages } = newSetup();
    open();
    clock.advance(20_000);
    expect(stages.tts[1]!.closed).toBe(true);
  });

  it('are told as ready once they are made, fillers and farewell apart', () => {
    const { open, make, stage, stages } = newSetup();
    const before = stage.ready;
    expect(before).toEqual({ fillers: false, farewell: false });
    open();
    expect(stage.ready).toBe(before);
    const maker = stages.tts[1]!;
    make(maker, 1, 1_600);
    expect(stage.ready).toEqual({ fillers: true, farewell: false });
    make(maker, 2, 3_200);
    expect(stage.ready).toEqual({ fillers: true, farewell: true });
  });

  it('that make no sound are not ready', () => {
    const { open, make, stage, stages } = newSetup(['One moment.']);
    open();
    make(stages.tts[1]!, 1, 0);
    expect(stage.ready).toEqual({ fillers: false, farewell: true });
  });

  it('are not what is played for the announcement, which needs nobody and has the text behind it', () => {
    const { clock, open } = newMade();
    const { session, told, provider } = open();
    session.speak(1, 'One moment. ', { recorded: true });
    session.speak(1, 'It is noon.');
    session.flush(1);
    clock.advance(0);
    provider.emit({ type: 'word', context: 1, chars: 3, startMs: 50 });
    provider.emit({ type: 'flushed', context: 1 });
    expect(told.map(shown)).toEqual(['audio 1 of 9', 'spoken 1 12', 'word 1 15 at 100', 'flushed 1']);
    expect(provider.asked).toEqual(['speak 1 It is noon.', 'flush 1']);
  });

  it('leave an announcement without words its sound and no character', () => {
    const { clock, open } = newSetup();
    const { session, told } = open();
    session.speak(1, '', { recorded: true });
    session.flush(1);
    clock.advance(0);
    expect(told.map(shown)).toEqual(['audio 1 of 9', 'spoken 1 0', 'flushed 1']);
  });
});
