/** Stages whose sessions a test drives by hand: it sees what they were asked and says what they answer. */
import type {
  LlmCall,
  LlmEvent,
  LlmRequest,
  LlmStage,
  SttEvent,
  SttStage,
  TtsEvent,
  TtsStage,
} from '../../../worker/stages/stage.ts';

export interface ScriptedRound {
  readonly request: LlmRequest;
  readonly say: (event: LlmEvent) => void;
  cancelled: boolean;
}

export class ScriptedLlm {
  readonly rounds: ScriptedRound[] = [];
  /** What each session was opened with, and those that were closed. */
  readonly calls: LlmCall[] = [];
  closed = 0;
  readonly stage: LlmStage;

  constructor(provider = 'scripted') {
    this.stage = {
      provider,
      open: (_context, call) => {
        this.calls.push(call);
        return {
          start: (request, sink) => {
            const round: ScriptedRound = { request, say: sink, cancelled: false };
            this.rounds.push(round);
            return {
              cancel: () => {
                round.cancelled = true;
              },
            };
          },
          close: () => void (this.closed += 1),
        };
      },
      close: () => Promise.resolve(),
    };
  }
}

export interface ScriptedSession<E> {
  readonly asked: string[];
  readonly say: (event: E) => void;
  isClosed: boolean;
  hasRoom: boolean;
}

const newSession = <E>(say: (event: E) => void): ScriptedSession<E> => ({
  asked: [],
  say,
  isClosed: false,
  hasRoom: true,
});

export class ScriptedStt {
  readonly sessions: ScriptedSession<SttEvent>[] = [];
  readonly stage: SttStage = {
    provider: 'scripted',
    open: (_context, sink) => {
      const session = newSession(sink);
      this.sessions.push(session);
      return {
        audio: (pcm) => {
          session.asked.push(`audio ${pcm[0] ?? ''} x${pcm.length}`);
          return true;
        },
        hasRoom: () => session.hasRoom,
        finalize: () => void session.asked.push('finalize'),
        close: () => {
          session.isClosed = true;
        },
      };
    },
    close: () => Promise.resolve(),
  };
}

export class ScriptedTts {
  readonly sessions: ScriptedSession<TtsEvent>[] = [];
  readonly stage: TtsStage = {
    provider: 'scripted',
    open: (_context, sink) => {
      const session = newSession(sink);
      this.sessions.push(session);
      const note = (what: string): void => void session.asked.push(what);
      return {
        sampleRate: 8_000,
        speak: (context, text) => note(`speak ${context} ${text}`),
        flush: (context) => note(`flush ${context}`),
        cancel: (context) => note(`cancel ${context}`),
        pause: () => note('pause'),
        resume: () => note('resume'),
        close: () => {
          session.isClosed = true;
        },
      };
    },
    close: () => Promise.resolve(),
  };
}
