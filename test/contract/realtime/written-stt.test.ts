/** The words of what is said over the agent where an agent has no STT: what the model is told, and what the call hears of it. */
import { beforeEach, describe, expect, it } from 'vitest';
import { ScriptedModel } from '../../support/core/scripted-model.ts';
import { newStageContext } from '../../support/core/stage-context.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';
import { writtenStt } from '../../../worker/stages/realtime/written-stt.ts';
import type { SttEvent, SttSession } from '../../../worker/stages/stage.ts';

let clock: ReturnType<typeof newVirtualClock>;
let model: ScriptedModel;
let ears: SttSession;
let told: SttEvent[];

beforeEach(() => {
  clock = newVirtualClock();
  model = new ScriptedModel();
  told = [];
  ears = writtenStt(model.model).open(newStageContext(clock), (event) => told.push(event));
});

const speaks = (first: number): void => {
  ears.audio(new Int16Array(320).fill(first));
  ears.finalize();
  clock.advance(0);
};
const writes = (turn: number, text: string, final = true): void =>
  model.last.say({ type: 'user-text', turn, text, final });
const shown = (): string[] => told.map((event) => (event.type === 'transcript' ? event.text : event.type));

describe('a stretch over the agent', () => {
  it('is written down by a session that is never asked for an answer, and opened with the first sound', () => {
    expect(model.sessions).toHaveLength(0);
    speaks(7);
    speaks(8);
    writes(1, 'stop');
    writes(2, 'please');
    expect(model.sessions).toHaveLength(1);
    expect(model.last.seed).toEqual({ instructions: '', tools: [], history: [] });
    expect(model.last.told).toEqual(['begin', 'audio 7', 'end', 'begin', 'audio 8', 'end']);
    expect(told[0]).toEqual({
      type: 'transcript',
      text: 'stop',
      isFinal: true,
      speechFinal: true,
      fromFinalize: true,
    });
    expect(shown()).toEqual(['stop', 'finalized', 'please', 'finalized']);
  });

  it('has its words in the order in which it was spoken', () => {
    speaks(7);
    speaks(8);
    writes(2, 'please');
    expect(shown()).toEqual([]);
    writes(1, 'stop');
    expect(shown()).toEqual(['stop', 'finalized', 'please', 'finalized']);
  });

  it('is a noise where there are no words for it', () => {
    speaks(7);
    writes(1, ' ');
    expect(shown()).toEqual(['finalized']);
  });

  it('is told once, and not before its words are whole', () => {
    speaks(7);
    writes(1, 'st', false);
    expect(shown()).toEqual([]);
    writes(1, 'stop');
    writes(1, 'stop it');
    expect(shown()).toEqual(['stop', 'finalized']);
  });

  it('without sound is over at once, but behind the one before it', () => {
    ears.finalize();
    expect(shown()).toEqual([]);
    clock.advance(0);
    expect(shown()).toEqual(['finalized']);
    speaks(7);
    ears.finalize();
    clock.advance(0);
    expect(shown()).toEqual(['finalized']);
    writes(2, 'stop');
    expect(shown()).toEqual(['finalized', 'stop', 'finalized', 'finalized']);
    expect(model.last.told).toEqual(['begin', 'audio 7', 'end']);
  });

  it('keeps nobody waiting whose words never come', () => {
    speaks(7);
    clock.advance(2_999);
    expect(shown()).toEqual([]);
    clock.advance(1);
    expect(shown()).toEqual(['finalized']);
    writes(1, 'stop');
    speaks(8);
    writes(2, 'please');
    expect(shown()).toEqual(['finalized', 'please', 'finalized']);
  });
});

describe('the session', () => {
  it('that fails is the end of this STT, which says so once', () => {
    speaks(7);
    model.last.say({ type: 'error', error: { kind: 'disconnected' } });
    writes(1, 'stop');
    clock.advance(5_000);
    expect(shown()).toEqual(['error']);
  });

  it('is closed with it', () => {
    speaks(7);
    ears.close();
    writes(1, 'stop');
    clock.advance(5_000);
    expect(shown()).toEqual([]);
    expect(model.last.isClosed).toBe(true);
  });
});
