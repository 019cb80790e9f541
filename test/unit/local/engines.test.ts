/** What stands between sockets and engines: the line of the voice, and the streams of the recogniser. */
import { describe, expect, it } from 'vitest';
import type { FromRecognizer, Recognition, ToVoice } from '../../../cli/commands/local/messages.ts';
import { whenIdle } from '../../../cli/commands/local/local-command.ts';
import { hasCapitalsOnly, Recognizing } from '../../../cli/commands/local/recognition.ts';
import type { OnlineRecognizer, OnlineStream } from '../../../cli/commands/local/sherpa.ts';
import { EngineSpeaking, VoiceBusy, VoiceFailed } from '../../../cli/commands/local/speaking.ts';
import { newVirtualClock } from '../../support/core/virtual-clock.ts';

const job = (text: string) => ({ text, speaker: 0, speed: 1 });

class FakeVoice {
  readonly sent: ToVoice[] = [];
  isReady = true;
  send(message: ToVoice): boolean {
    this.sent.push(message);
    return this.isReady;
  }
  get texts(): string[] {
    return this.sent.flatMap((message) => (message.type === 'speak' ? [message.speech.text] : []));
  }
}

describe('the end of local speech', () => {
  const stopping = (): {
    clock: ReturnType<typeof newVirtualClock>;
    work: { open: number };
    ends: number[];
  } => {
    const [clock, work, ends] = [newVirtualClock(), { open: 2 }, [] as number[]];
    whenIdle(() => work.open, { clock, withinMs: 5_000, done: () => ends.push(clock.now()) });
    return { clock, work, ends };
  };

  it('waits for the work in hand', () => {
    const { clock, work, ends } = stopping();
    clock.advance(1_000);
    expect(ends).toEqual([]);
    work.open = 0;
    clock.advance(10_000);
    expect(ends).toEqual([1_050]);
  });

  it('does not wait for ever', () => {
    const { clock, ends } = stopping();
    clock.advance(20_000);
    expect(ends).toEqual([5_000]);
  });
});

describe('the line in front of the voice', () => {
  const open = (mostWaiting = 2): { engine: FakeVoice; line: EngineSpeaking } => {
    const engine = new FakeVoice();
    return { engine, line: new EngineSpeaking(() => engine, { mostWaiting }) };
  };
  const { signal } = new AbortController();

  it('gives the engine one sentence at a time, in order', async () => {
    const { engine, line } = open();
    const [first, second] = [line.speak(job('a'), signal), line.speak(job('b'), signal)];
    expect(engine.texts).toEqual(['a']);
    line.take({ type: 'spoken', job: 1, pcm: Int16Array.of(1) });
    expect(engine.texts).toEqual(['a', 'b']);
    line.take({ type: 'failed', job: 2 });
    expect([...(await first)]).toEqual([1]);
    await expect(second).rejects.toBeInstanceOf(VoiceFailed);
  });

  it('refuses what would wait too long', async () => {
    const { line } = open(1);
    void line.speak(job('works'), signal).catch(() => undefined);
    void line.speak(job('waits'), signal).catch(() => undefined);
    await expect(line.speak(job('is too much'), signal)).rejects.toBeInstanceOf(VoiceBusy);
  });

  it('leaves out who went away while waiting, and takes no late answer for another', async () => {
    const { engine, line } = open(3);
    const [going, gone] = [new AbortController(), new AbortController()];
    const working = line.speak(job('a'), going.signal);
    const waiting = line.speak(job('b'), gone.signal);
    const last = line.speak(job('c'), signal);
    gone.abort();
    going.abort();
    await expect(waiting).rejects.toBeInstanceOf(VoiceFailed);
    await expect(working).rejects.toBeInstanceOf(VoiceFailed);
    line.take({ type: 'spoken', job: 1, pcm: Int16Array.of(1) });
    expect(engine.texts).toEqual(['a', 'c']);
    line.take({ type: 'spoken', job: 1, pcm: Int16Array.of(9) });
    line.take({ type: 'spoken', job: 2, pcm: Int16Array.of(3) });
    expect([...(await last)]).toEqual([3]);
  });

  it('fails everything when the engine dies, and at once while it is away', async () => {
    const { engine, line } = open();
    const all = ['a', 'b'].map((text) => line.speak(job(text), signal));
    line.lost();
    expect((await Promise.allSettled(all)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    engine.isReady = false;
    await expect(line.speak(job('c'), signal)).rejects.toBeInstanceOf(VoiceFailed);
    expect(line.waiting).toBe(0);
  });
});

/** Each piece of audio is one step of decoding, or several, and each step is one more letter. */
class FakeModel implements OnlineRecognizer {
  readonly streams: { heard: number; decoded: number; ended: boolean }[] = [];
  readonly batches: number[] = [];
  stepsOfPiece = 1;
  endpointAt = Number.POSITIVE_INFINITY;
  result: (text: string) => unknown = (text) => ({
    text,
    tokens: Array.from(text),
    timestamps: [],
    segment: 0,
  });
  readonly #of = new Map<OnlineStream, { heard: number; decoded: number; ended: boolean }>();

  createStream(): OnlineStream {
    const state = { heard: 0, decoded: 0, ended: false };
    this.streams.push(state);
    const stream: OnlineStream = {
      acceptWaveform: () => {
        if (state.ended) throw new Error('audio for a finished stream');
        state.heard += this.stepsOfPiece;
      },
      inputFinished: () => {
        state.ended = true;
      },
    };
    this.#of.set(stream, state);
    return stream;
  }
  #state(stream: OnlineStream): { heard: number; decoded: number; ended: boolean } {
    return this.#of.get(stream)!;
  }
  isReady(stream: OnlineStream): boolean {
    return this.#state(stream).decoded < this.#state(stream).heard;
  }
  decodeStreams(streams: readonly OnlineStream[]): void {
    this.batches.push(streams.length);
    for (const stream of streams) this.#state(stream).decoded += 1;
  }
  isEndpoint(stream: OnlineStream): boolean {
    return this.#state(stream).decoded >= this.endpointAt;
  }
  reset(stream: OnlineStream): void {
    Object.assign(this.#state(stream), { heard: 0, decoded: 0 });
  }
  getResult(stream: OnlineStream): unknown {
    const { decoded, ended } = this.#state(stream);
    return this.result('ABCDEFGH'.slice(0, ended ? decoded - 1 : decoded));
  }
}

describe('the streams of the recogniser', () => {
  const open = (capitalsOnly = true) => {
    const model = new FakeModel();
    const told: FromRecognizer[] = [];
    const recognizing = new Recognizing(model, { tell: (message) => told.push(message), capitalsOnly });
    const run = (): void => {
      for (let steps = 0; recognizing.advance(); steps += 1)
        if (steps > 1_000) throw new Error('it never comes to rest');
    };
    const heard = (stream: number): Recognition[] =>
      told.flatMap((message) =>
        message.type === 'heard' && message.stream === stream ? [message.result] : [],
      );
    const say = (stream: number, pieces: number): void => {
      for (let i = 0; i < pieces; i += 1)
        recognizing.take({ type: 'audio', stream, samples: new Float32Array(100) });
    };
    return { model, told, recognizing, run, heard, say };
  };

  it('tells what is new, and the whole at the end, in small letters where the model has only capitals', () => {
    const { recognizing, run, heard, say, told } = open();
    say(1, 3);
    run();
    expect(heard(1).map(({ text, isFinal }) => [text, isFinal])).toEqual([
      ['a', false],
      ['ab', false],
      ['abc', false],
    ]);
    recognizing.take({ type: 'finish', stream: 1 });
    run();
    expect(heard(1).at(-1)).toMatchObject({
      text: 'abc',
      tokens: ['a', 'b', 'c'],
      isFinal: true,
      isEof: true,
    });
    expect(told.at(-1)).toEqual({ type: 'finished', stream: 1 });
    expect(told.filter(({ type }) => type === 'finished')).toHaveLength(1);
  });

  it('decodes all streams together, and reports audio as taken only when its turn has come', () => {
    const { model, recognizing, run, told, say } = open();
    say(1, 2);
    say(2, 1);
    recognizing.advance();
    const taken = (stream: number): number =>
      told.filter((message) => message.type === 'taken' && message.stream === stream).length;
    expect([taken(1), taken(2), model.batches]).toEqual([1, 1, [2]]);
    run();
    expect([taken(1), taken(2), model.batches]).toEqual([2, 1, [2, 1]]);
  });

  it('gives the model nothing more while it still works on what it has', () => {
    const { model, recognizing, told, say } = open();
    model.stepsOfPiece = 3;
    say(1, 2);
    const taken: number[] = [];
    for (let step = 0; step < 4; step += 1) {
      recognizing.advance();
      taken.push(told.filter(({ type }) => type === 'taken').length);
    }
    expect(taken).toEqual([1, 1, 1, 2]);
  });

  it('gives no audio to a finished stream: what follows begins anew', () => {
    const { model, recognizing, run, heard, say, told } = open();
    say(1, 1);
    recognizing.take({ type: 'finish', stream: 1 });
    run();
    say(1, 2);
    recognizing.take({ type: 'finish', stream: 1 });
    run();
    expect(model.streams).toHaveLength(2);
    expect(
      heard(1)
        .filter(({ isEof }) => isEof)
        .map(({ text }) => text),
    ).toEqual(['a', 'ab']);
    expect(told.filter(({ type }) => type === 'finished')).toHaveLength(2);
  });

  it('ends a segment where the model finds its end', () => {
    const { model, run, heard, say } = open();
    model.endpointAt = 2;
    say(1, 3);
    run();
    expect(heard(1).map(({ text, isFinal }) => [text, isFinal])).toEqual([
      ['a', false],
      ['ab', true],
      ['a', false],
    ]);
  });

  it('forgets a stream that was dropped, and survives a result that is none', () => {
    const { model, recognizing, run, heard, say } = open(false);
    model.result = () => {
      throw new SyntaxError('nan');
    };
    say(1, 2);
    recognizing.take({ type: 'drop', stream: 1 });
    say(2, 1);
    run();
    expect([heard(1), heard(2)]).toEqual([[], []]);
    model.result = (text) => ({ text, tokens: 'none' });
    say(2, 1);
    run();
    expect(heard(2)).toEqual([
      { text: 'AB', tokens: [], timestamps: [], segment: 0, startTimeS: 0, isFinal: false, isEof: false },
    ]);
  });

  it.each([
    ['HE 1\n▁LLO 2\n<blk> 0', true],
    ['HE 1\n▁llo 2\n<blk> 0', false],
    ['你 1\n好 2', true],
  ])('looks into the table of tokens for capitals: %j', (table, only) => {
    expect(hasCapitalsOnly(table)).toBe(only);
  });
});
