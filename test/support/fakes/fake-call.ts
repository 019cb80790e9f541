/**
 * The world around one call, in memory: a client behind its transport, and the three providers. Everything that the engine
 * asks of them is noted in order; what they answer is up to the test.
 */
import { pino } from 'pino';
import { newWorkerMetrics } from '../../../shared/runtime/metrics.ts';
import type { Mailboxes } from '../../../shared/protocol/mailbox.ts';
import type { AgentServices, CallAgents, CallServices } from '../../../worker/call/services.ts';
import { dtmfSettings } from '../core/script-settings.ts';
import { defaultCallLimits } from '../../../worker/core/settings.ts';
import type { SpokenStage } from '../../../worker/lines/known-lines.ts';
import type {
  LlmEvent,
  LlmRequest,
  LlmCall,
  LlmStage,
  SttEvent,
  SttStage,
  TtsEvent,
  TtsStage,
} from '../../../worker/stages/stage.ts';
import type { ConversationEvent } from '../../../worker/core/told.ts';
import type { CallTransport } from '../../../worker/transports/transport.ts';
import type { OpenedTools } from '../../../worker/tools/registry.ts';
import { newMailboxes } from '../audio/mailboxes.ts';
import { newToolBook } from '../core/tool-book.ts';
import { newVirtualClock, type VirtualClock } from '../core/virtual-clock.ts';

/** Throws in the place that a test names, the next time it is reached. */
export class Trap {
  place: string | undefined;

  pass(place: string): void {
    if (this.place !== place) return;
    this.place = undefined;
    throw new Error(`trap: ${place}`);
  }
}

export class FakeTransport implements CallTransport {
  readonly trap: Trap;
  readonly bufferedBytes = 0;
  leadMs = 0;
  /** Everything the client was told but frames of audio. */
  readonly told: string[] = [];
  readonly frames: { readonly frame: Buffer; readonly rate: number }[] = [];
  /** What it was told of the conversation. */
  readonly events: ConversationEvent[] = [];
  inputTakenCount = 0;

  constructor(trap: Trap) {
    this.trap = trap;
  }

  /** Frames and messages so far. */
  get count(): number {
    return this.told.length + this.frames.length;
  }

  accept(): void {
    this.#tell('accept');
  }
  refuse(code: string): void {
    this.#tell(`refuse ${code}`);
  }
  sendAudio(frame: Buffer, rate: number): void {
    this.trap.pass('audio out');
    this.frames.push({ frame, rate });
  }
  /** Frames that had nothing of the agent. */
  readonly backdrops: { readonly frame: Buffer; readonly rate: number }[] = [];
  sendBackdrop(frame: Buffer, rate: number): void {
    this.backdrops.push({ frame, rate });
  }
  /** How often the output was made to stand still. */
  pauses = 0;
  pause(): void {
    this.pauses += 1;
  }
  sendClear(epoch: number): void {
    this.#tell(`clear ${epoch}`);
  }
  sendMark(id: string): boolean {
    this.#tell(`mark ${id}`);
    return true;
  }
  tell(event: ConversationEvent): void {
    this.events.push(event);
  }
  end(reason: string): void {
    this.#tell(`end ${reason}`);
  }
  fail(): void {
    this.#tell('fail');
  }
  /** What a transport does that was told of a start and had no answer. */
  onRestart: () => void = () => undefined;
  restart(): void {
    this.onRestart();
  }
  inputTaken(): void {
    this.inputTakenCount += 1;
  }
  tick(): void {
    this.trap.pass('tick');
  }
  save(): { kind: string; json: string } {
    return { kind: 'fake', json: '{}' };
  }

  #tell(what: string): void {
    this.trap.pass(what.split(' ')[0]!);
    this.told.push(what);
  }
}

/** One session or round of a provider; `emit` says something as if from its socket. */
export interface Opened<E> {
  readonly asked: string[];
  readonly emit: (event: E) => void;
  closed: boolean;
}

export class FakeStages {
  readonly trap: Trap;
  readonly stt: (Opened<SttEvent> & { heard: number })[] = [];
  readonly llm: (Opened<LlmEvent> & { readonly request: LlmRequest })[] = [];
  readonly tts: Opened<TtsEvent>[] = [];
  ttsRate = 16_000;

  constructor(trap: Trap) {
    this.trap = trap;
  }

  /** Everything that is open. */
  get open(): number {
    return [...this.stt, ...this.llm, ...this.tts].filter(({ closed }) => !closed).length;
  }

  readonly sttStage: SttStage = {
    provider: 'fake',
    close: () => Promise.resolve(),
    open: (context, sink) => {
      this.trap.pass('stt.open');
      const emit = context.bind(sink);
      const session = { asked: [] as string[], emit, closed: false, heard: 0 };
      this.stt.push(session);
      return {
        audio: (pcm) => {
          this.trap.pass('stt.audio');
          session.heard += pcm.length;
          return true;
        },
        finalize: () => {
          this.trap.pass('stt.finalize');
          session.asked.push('finalize');
        },
        close: () => {
          session.closed = true;
          this.trap.pass('stt.close');
        },
      };
    },
  };

  /** What each call asked of its LLM. */
  readonly llmCalls: LlmCall[] = [];

  readonly llmStage: LlmStage = {
    provider: 'fake',
    close: () => Promise.resolve(),
    open: (context, call) => {
      this.llmCalls.push(call);
      return {
        start: (request, sink) => {
          this.trap.pass('llm.start');
          const round = { asked: [] as string[], emit: context.bind(sink), closed: false, request };
          this.llm.push(round);
          return {
            cancel: () => {
              round.closed = true;
            },
          };
        },
        close: () => undefined,
      };
    },
  };

  readonly ttsStage: TtsStage = {
    provider: 'fake',
    close: () => Promise.resolve(),
    open: (context, sink) => {
      this.trap.pass('tts.open');
      const session = { asked: [] as string[], emit: context.bind(sink), closed: false };
      this.tts.push(session);
      const ask = (what: string): void => {
        this.trap.pass(`tts.${what.split(' ')[0]!}`);
        session.asked.push(what);
      };
      return {
        sampleRate: this.ttsRate,
        speak: (number, text) => ask(`speak ${number} ${text}`),
        flush: (number) => ask(`flush ${number}`),
        cancel: (number) => ask(`cancel ${number}`),
        silenced: () => ask('silenced'),
        pause: () => ask('pause'),
        resume: () => ask('resume'),
        close: () => {
          session.closed = true;
        },
      };
    },
  };
}

/** A call that nobody gave a tool but `end_call`, which the core performs. */
const noTools: OpenedTools = {
  tools: {
    declarations: () => [],
    ruleOf: () => undefined,
    performerOf: () => undefined,
    validate: () => ({ ok: false, rule: 'there is no such tool' }),
    run: () => {
      throw new Error('no tool was given to the call');
    },
  },
  refused: [],
  close: () => undefined,
};

/** A stage without lines of its own. */
const spoken = (stage: TtsStage): SpokenStage => ({
  ...stage,
  ready: { fillers: true, farewell: true },
  known: () => undefined,
});

export interface FakeWorld {
  readonly clock: VirtualClock;
  readonly boxes: Mailboxes;
  readonly services: CallServices;
  takesCalls: boolean;
  /** Calls that count as sessions, and how many may. */
  readonly sessions: { now: number; most: number };
}

/** A worker whose calls all have one agent. */
export function withOneAgent<T extends AgentServices>(
  services: T,
  other: CallAgents['other'] = () => undefined,
): T & { readonly agents: CallAgents } {
  const called = { services, release: () => undefined };
  return { ...services, agents: { of: () => called, other, again: () => called } };
}

/** Sessions that are counted in an object of the test. */
function placesOf(sessions: () => FakeWorld['sessions']): CallServices['sessions'] {
  const add = (count: number): void => {
    sessions().now += count;
  };
  return {
    claim: () => {
      const isFree = sessions().now < sessions().most;
      if (isFree) add(1);
      return isFree;
    },
    carry: () => add(1),
    release: () => add(-1),
  };
}

/** What a call of a test goes by unless the test says otherwise. */
export const fakeSettings = (): CallServices['settings'] => ({
  prompt: 'You are a test.',
  languages: ['en'],
  greeting: 'Hello there.',
  farewell: 'Goodbye.',
  apology: 'Sorry, once more please.',
  misheard: 'Sorry, what was that?',
  operatorLost: 'I am with you again.',
  announcement: 'Something is not working.',
  fillers: ['One moment.'],
  lateLines: ['Bear with me.'],
  pronounce: {},
  dtmf: dtmfSettings,
  maxToolRounds: 4,
  confirmQuestion: 'Shall I?',
  maxCallMs: 600_000,
  contextWindowTokens: 4_000,
  outage: { keepMs: 10_000, hold: 'Still trouble.', back: 'I am back.', unheardNote: '[unheard]' },
  turn: {
    minSpeechMs: 96,
    stopMs: 160,
    askEarlyMs: Infinity,
    silenceEndMs: 400,
    maxSilenceMs: 1_500,
    model: false,
    completeAt: 0.5,
    speculate: false,
  },
  interrupt: {
    enabled: true,
    minWords: 0,
    wordlessMs: 0,
    backchannels: ['mm-hmm'],
    resumeAfterMs: 500,
    dtmf: true,
    greeting: true,
  },
  idle: { askAfterMs: 0, ask: 'Are you there?', endAfter: 2 },
  limits: defaultCallLimits,
});

/** What a worker lends to its calls, on virtual time. Stages are given per call, so that a test can tell them apart. */
export function newFakeWorld(): FakeWorld & { lend(stages: FakeStages): CallServices } {
  const clock = newVirtualClock();
  const boxes = newMailboxes();
  const unused = new FakeStages(new Trap());
  const world: FakeWorld = {
    clock,
    boxes,
    takesCalls: true,
    sessions: { now: 0, most: Infinity },
    services: {
      clock,
      machineMs: () => clock.now(),
      log: pino({ level: 'silent' }),
      metrics: newWorkerMetrics(),
      boxes,
      settings: fakeSettings(),
      agent: 'test',
      timezone: 'UTC',
      wallNow: () => 1_796_000_000_000,
      newSessionId: () => 'a session',
      showsNumbers: true,
      carriers: {
        capabilities: {},
        telephony: {
          ...{ settleTimeoutMs: 8_000, warmTransfer: false, returnLine: '', destinations: new Map() },
          dtmf: dtmfSettings,
        },
        language: 'en',
        ask: (_, answered) => answered({ kind: 'refused', code: 'unavailable' }),
      },
      openTools: () => ({ tools: noTools, book: newToolBook() }),
      speech: { threshold: 0.5, minSpeechMs: 96, confirmMs: 192, sureMs: 96, stopMs: 160 },
      echo: 'auto',
      noise: 'off',
      stt: unused.sttStage,
      llm: unused.llmStage,
      tts: spoken(unused.ttsStage),
      gridBefore: (time) => Math.floor(time / 5) * 5,
      wakeBy: () => undefined,
      takesCalls: () => world.takesCalls,
      sessions: placesOf(() => world.sessions),
    },
  };
  const lend = (stages: FakeStages): CallServices => ({
    ...world.services,
    stt: stages.sttStage,
    llm: stages.llmStage,
    tts: spoken(stages.ttsStage),
  });
  return Object.assign(world, { lend });
}
