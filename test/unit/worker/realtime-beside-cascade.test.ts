/** One call by script, with the three stages and with a model that speaks: programs, clients and records are told the same of both. */
import { vocabularyOf } from '../../../shared/languages/vocabulary.ts';
import { describe, expect, it } from 'vitest';
import { conversationMessage } from '../../../worker/transports/conversation-message.ts';
import { messageOf } from '../../../worker/agent-link/messages.ts';
import type { CallObserver, CallStep } from '../../../worker/call/observer.ts';
import type { ConversationEvent, TurnTimes } from '../../../worker/core/told.ts';
import { realtimeStages } from '../../../worker/stages/realtime/stages.ts';
import { ScriptedModel } from '../../support/core/scripted-model.ts';
import { newFailoverScope } from '../../support/core/failover.ts';
import { newWorld, type OneCall, type OneCallOptions, type World } from './one-call.ts';

type Kind = 'cascade' | 'own' | 'vendor';

interface Told {
  readonly event: ConversationEvent;
  readonly at: number;
}

/** What drives a call of either kind by the same words. */
class ScriptedCall {
  readonly world: World = newWorld();
  readonly told: Told[] = [];
  readonly call: OneCall;
  readonly model = new ScriptedModel();
  readonly #kind: Kind;
  #answers = 0;
  #turns = 0;
  #contexts = 1;

  constructor(kind: Kind, start?: OneCallOptions['start']) {
    this.#kind = kind;
    const { world } = this;
    const stepped = ({ orders, now: at }: CallStep): void => {
      for (const order of orders) if (order.type === 'told') this.told.push({ event: order.event, at });
    };
    const observe = (): readonly CallObserver[] => [{ stepped }];
    this.call = world.newCall({
      begin: false,
      ...(start && { start }),
      agent: { observe, ...(kind !== 'cascade' && this.#speaking(kind)) },
    });
    this.call.begin();
    if (kind !== 'cascade') this.model.ready();
  }

  #speaking(words: 'own' | 'vendor') {
    const fakes = (): OneCall['stages'] => this.call.stages;
    const close = (): Promise<void> => Promise.resolve();
    const stages = realtimeStages({
      vendor: {
        ...newFailoverScope('realtime', {
          primary: this.model.model,
          machineMs: () => this.world.clock.now(),
        }),
        failedOver: () => expect.unreachable('the model is there'),
        isAlone: false,
      },
      cascade: {
        stt: { provider: 'fake', close, open: (context, sink) => fakes().sttStage.open(context, sink) },
        llm: { provider: 'fake', close, open: (context, call) => fakes().llmStage.open(context, call) },
        tts: { provider: 'fake', close, open: (context, sink) => fakes().ttsStage.open(context, sink) },
      },
      sampleRate: 16_000,
      modelSpeaks: true,
      sentences: vocabularyOf(['en']).sentences,
      maxSilenceMs: 2_500,
      words,
      hasStt: true,
    });
    const ready = { fillers: true, farewell: true };
    return { ...stages, tts: { ...stages.tts, ready, known: () => undefined } };
  }

  /** A line of the service, which TTS speaks. */
  line(ms: number): void {
    this.call.say(this.#kind === 'cascade' ? this.#contexts : 1, ms);
    this.world.clock.advance(ms + 1_000);
  }

  asks(text: string): void {
    const { call, model } = this;
    call.hear(700, 0.9);
    call.hear(700, 0.01);
    this.#turns += 1;
    if (this.#kind !== 'vendor') {
      call.stt().emit({ type: 'transcript', text, isFinal: true, speechFinal: true, fromFinalize: true });
      call.stt().emit({ type: 'finalized' });
      this.world.clock.advance(1);
      return;
    }
    this.world.clock.advance(1);
    call.enter(() => model.last.say({ type: 'user-text', turn: this.#turns, text, final: true }));
  }

  /** The agent answers, with sound of so many milliseconds. */
  answers(text: string, ms: number, tool?: string): void {
    const { call, model } = this;
    this.#answers += 1;
    this.#contexts += 1;
    this.world.clock.advance(200);
    if (this.#kind === 'cascade') {
      call.llm().emit({ type: 'text', text });
      if (tool !== undefined)
        call.llm().emit({ type: 'tool-call', index: 0, id: 'x', name: tool, arguments: '{}' });
      const finish = tool === undefined ? 'stop' : 'tool_calls';
      call.llm().emit({ type: 'done', finish, usage: undefined });
      call.say(this.#contexts, ms);
      return;
    }
    const answer = this.#answers;
    const item = `item ${answer}`;
    call.enter(() => {
      model.last.say({ type: 'text', answer, item, text });
      model.last.say({ type: 'audio', answer, item, pcm: new Int16Array(ms * 8).fill(500) });
      if (tool !== undefined)
        model.last.say({ type: 'tool-call', answer, id: 'x', name: tool, arguments: '{}' });
      model.last.say({ type: 'done', answer, finish: 'completed' });
    });
    this.world.clock.advance(1);
  }
}

function play(kind: Kind): ScriptedCall {
  const script = new ScriptedCall(kind);
  const { world, call } = script;
  script.line(600);
  script.asks('What time is it?');
  script.answers('It is noon.', 800);
  world.clock.advance(2_000);
  script.asks('Tell me a story.');
  script.answers('Once upon a time there was a king who had no sons.', 6_000);
  world.clock.advance(1_500);
  // The caller speaks over it.
  call.hear(400, 0.9);
  call.hear(700, 0.01);
  const text = 'No, something else.';
  call.stt().emit({ type: 'transcript', text, isFinal: true, speechFinal: true, fromFinalize: true });
  call.stt().emit({ type: 'finalized' });
  world.clock.advance(1);
  script.answers('As you like. Goodbye.', 900, 'end_call');
  world.clock.advance(4_000);
  return script;
}

/** The kinds of what is told and the fields of each, in order; times and partial words of a transcript differ. */
const shapes = (
  told: readonly Told[],
  messageIn: (event: ConversationEvent) => object | undefined,
): string[] =>
  told.flatMap(({ event }) => {
    const message = messageIn(event);
    if (message === undefined) return [];
    const fields = Object.entries<unknown>({ ...message }).map(([key, value]) =>
      typeof value === 'object' && value !== null ? `${key}{${Object.keys(value).join()}}` : key,
    );
    return [`${event.type} ${fields.join()}`];
  });

const cascade = play('cascade');

describe.each(['own', 'vendor'] as const)('a call of a speaking model, words of %s', (words) => {
  const speaking = play(words);

  it.each([
    ['its agent process', messageOf],
    ['clients that follow it', conversationMessage],
    ['observers, which records, traces and recordings are', (event: ConversationEvent) => event],
  ])('tells %s what a call of the three stages does', (_who, messageIn) => {
    const expected = shapes(cascade.told, messageIn);
    expect(expected.length).toBeGreaterThan(15);
    const told = shapes(speaking.told, messageIn);
    if (words === 'own') expect(told).toEqual(expected);
    // Words that come late are told when they come.
    else expect(told.toSorted()).toEqual(expected.toSorted());
  });

  it('ends as that does', () => {
    expect(speaking.call.transport.told.at(-1)).toBe('end ended');
    expect(cascade.call.transport.told.at(-1)).toBe('end ended');
  });

  it('tells what was heard, and cuts what was not', () => {
    const heard = speaking.told.flatMap(({ event }) =>
      event.type === 'bot.heard' && event.end !== undefined ? [event.end] : [],
    );
    expect(heard.map(({ how, complete }) => [how, complete])).toEqual(
      cascade.told.flatMap(({ event }) =>
        event.type === 'bot.heard' && event.end !== undefined ? [[event.end.how, event.end.complete]] : [],
      ),
    );
    const cut = heard.find(({ how }) => how === 'interrupted')?.heard ?? '';
    expect('Once upon a time there was a king who had no sons.').toContain(cut);
    expect(cut.split(' ').length).toBeLessThan(6);
    expect(speaking.model.last.told.some((one) => one.startsWith('truncate item 2 '))).toBe(true);
  });

  it('measures each turn by parts that add up to what the caller waited', () => {
    const times = (told: readonly Told[]): TurnTimes[] =>
      told.flatMap(({ event }) => (event.type === 'turn.measured' ? [event.times] : []));
    expect(times(speaking.told)).toHaveLength(times(cascade.told).length);
    for (const one of times(speaking.told)) {
      const parts = one.endOfTurnMs + one.sttFinalMs + one.llmTtftMs + one.ttsTtfbMs + one.wireMs;
      expect(Math.abs(parts - one.responseMs)).toBeLessThan(2);
      expect(one.llmTtftMs).toBeGreaterThanOrEqual(190);
    }
  });
});

describe.each(['own', 'vendor'] as const)('a telephone call of a speaking model, words of %s', (words) => {
  /** The caller speaks for a second on a line of mu-law, all of whose samples are 32,124. */
  function speakOn(sampleRate: 8_000 | 16_000): ScriptedCall {
    const script = new ScriptedCall(words, { sampleRate, encoding: 'mulaw' });
    const { call, world } = script;
    script.line(100);
    for (let frame = 0; frame < 50; frame += 1) {
      call.enter(() => call.runner.audio(new Uint8Array(sampleRate / 50).fill(0x80)));
      world.clock.advance(20);
      world.inference.beat(world.clock.now());
      world.inference.judge(call.slot, () => 0.9);
      call.enter(() => call.runner.collectSpeech());
    }
    return script;
  }

  it('gives the model the samples of the line beside its own', () => {
    const { model } = speakOn(8_000);
    expect(model.last.law).toBe('mulaw');
    const heard = model.last.told.find((one) => one.startsWith('audio'))?.split(',') ?? [];
    expect(heard.length).toBeGreaterThan(10);
    expect(heard.every((one) => one.endsWith("of the line's 32124"))).toBe(true);
  });

  it("has no such samples where the sound is no telephone's", () => {
    const { model } = speakOn(16_000);
    expect(model.last.law).toBeUndefined();
    expect(model.last.told.join()).toContain('audio');
    expect(model.last.told.join()).not.toContain('line');
  });
});
