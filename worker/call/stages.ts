/**
 * The three provider sessions of one call. It opens, replaces and closes them and turns their events into facts for the
 * core. It decides nothing: what happens after a failure is the core's order.
 */
import { unreachable } from '../../shared/base/assert.ts';
import type { Law } from '../../shared/audio/law.ts';
import type { Millis } from '../../shared/base/units.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Scope } from '../../shared/runtime/scope.ts';
import type { ContextMessage, OfferedTool } from '../core/actions.ts';
import type { CallEvent, PlayoutPosition } from '../core/events.ts';
import type { ConversationEvent } from '../core/told.ts';
import { AheadTts } from '../stages/ahead-tts.ts';
import { streamingStts } from './streaming-stt.ts';
import { LaterStt } from '../stages/later-stt.ts';
import { reasonOf } from '../stages/failure.ts';
import type {
  LlmCall,
  LlmEvent,
  LlmRound,
  LlmSession,
  LlmStage,
  StageContext,
  StageError,
  SttEvent,
  SttSession,
  SttStage,
  TtsEvent,
  TtsStage,
  ToolCall,
} from '../stages/stage.ts';
import { longestArguments } from '../tools/catalog.ts';

// The tool calls of one round of the LLM, put together from the parts in which they come.

/** Calls that are kept: one more than the core looks at, so that it notices. */
const mostToolCalls = 17;

class RoundCalls {
  readonly #calls: ToolCall[] = [];

  add(part: Extract<LlmEvent, { type: 'tool-call' }>): void {
    if (part.index >= mostToolCalls) return;
    // Providers number their calls without holes.
    while (this.#calls.length <= part.index) this.#calls.push({ id: '', name: '', arguments: '' });
    const known = this.#calls[part.index];
    if (known === undefined) return;
    const text = known.arguments + part.arguments;
    this.#calls[part.index] = {
      id: known.id || part.id || '',
      name: known.name || part.name || '',
      // Longer arguments are no JSON any more, and are refused.
      arguments: text.slice(0, longestArguments + 1),
    };
  }

  get named(): ToolCall[] {
    return this.#calls.filter(({ name }) => name !== '');
  }
}

export interface CallStagesOptions {
  readonly clock: Clock;
  readonly scope: Scope;
  /** The law of the caller's line, where that is a telephone's. */
  readonly law?: Law | undefined;
  /** What the call asks of its LLM; the same in each worker that has the call. */
  readonly llmCall: LlmCall;
  readonly stt: SttStage;
  readonly llm: LlmStage;
  readonly tts: TtsStage;
  /** Takes facts for the core. */
  readonly tell: (event: CallEvent) => void;
  /** Takes what concerns audio: the media side knows how much of it there is. */
  readonly onTts: (event: Exclude<TtsEvent, { type: 'error' }>) => void;
  /** STT has told words of the caller's audio; absent: there is no audio. */
  readonly onWords?: () => void;
  /** Where playback of the agent's audio is. */
  readonly position: () => PlayoutPosition | undefined;
  /** A failure, for the log: `rejected 401`. */
  readonly onFailure: (stage: 'stt' | 'llm' | 'tts', reason: string) => void;
}

type OfAgent = Pick<CallStagesOptions, 'stt' | 'llm' | 'tts' | 'llmCall'>;

/** A session of STT that lived for less than this died soon. */
const soonMs = 1_000;
/** A connection that held for so long was served; longer than the longest pause before one is opened. */
const heldMs = 10_000;
const firstPauseMs = 250;
const longestPauseMs = 2_000;

/** STT as a call gives it sound. */
export interface CallStt extends SttSession {
  /** `ofLine` is the same moment as the caller's telephone line has it, at 8 kHz, for whoever passes that on; absent for other calls, and for sound that is given once more. */
  audio(pcm: Int16Array, ofLine?: Int16Array): boolean;
}

/** What the stages and tools of a call are lent. */
export const stageContext = ({
  clock,
  scope,
  law,
}: Pick<CallStagesOptions, 'clock' | 'scope' | 'law'>): StageContext => ({
  clock,
  bind: (callback) => scope.bind(callback),
  ...(law !== undefined && { law }),
});

export class CallStages {
  #options: CallStagesOptions;
  readonly #context: StageContext;
  #stt: CallStt;
  #sttOpenedAt: Millis;
  /** Sessions of STT in a row that died soon. */
  #sttDeaths = 0;
  #tts: AheadTts;
  #llm: LlmSession;
  readonly #causes: Partial<Record<'stt' | 'llm' | 'tts', string>> = {};
  #round: LlmRound | undefined;
  #toolCalls = new RoundCalls();

  constructor(options: CallStagesOptions) {
    this.#options = options;
    this.#context = stageContext(options);
    this.#sttOpenedAt = options.clock.now();
    const opened: { close(): void }[] = [];
    try {
      opened.push((this.#stt = this.#openStt()));
      opened.push((this.#tts = this.#openTts()));
      this.#llm = options.llm.open(this.#context, options.llmCall);
    } catch (error) {
      for (const session of opened) session.close();
      throw error;
    }
  }

  get stt(): CallStt {
    return this.#stt;
  }

  get tts(): AheadTts {
    return this.#tts;
  }

  /** Another node of the flow has these stages: sessions with those that are the same go on. Says whether another one hears the caller. */
  change(stages: OfAgent): { readonly isHeardAnew: boolean } {
    const { stt, llm, tts } = this.#options;
    this.#replace(stages, { stt: stages.stt !== stt, llm: stages.llm !== llm, tts: stages.tts !== tts });
    return { isHeardAnew: stages.stt !== stt };
  }

  /** Sessions of another agent's providers take the place of these. @throws what opening one throws; these go on then. */
  adopt(stages: OfAgent): void {
    this.#replace(stages, { stt: true, llm: true, tts: true });
  }

  #replace(stages: OfAgent, isOther: Readonly<Record<'stt' | 'llm' | 'tts', boolean>>): void {
    const former = { options: this.#options, stt: this.#stt, tts: this.#tts, llm: this.#llm };
    const { stt, llm, tts, llmCall } = stages;
    this.#options = { ...former.options, stt, llm, tts, llmCall };
    const opened: { close(): void }[] = [];
    try {
      if (isOther.stt) opened.push((this.#stt = this.#openStt()));
      if (isOther.tts) opened.push((this.#tts = this.#openTts()));
      if (isOther.llm) this.#llm = stages.llm.open(this.#context, stages.llmCall);
    } catch (error) {
      for (const session of opened) session.close();
      this.#options = former.options;
      this.#stt = former.stt;
      this.#tts = former.tts;
      throw error;
    }
    if (isOther.llm) {
      this.cancelLlm();
      former.llm.close();
    }
    if (isOther.stt) {
      this.#sttOpenedAt = this.#options.clock.now();
      this.#sttDeaths = 0;
      former.stt.close();
    }
    if (isOther.tts) former.tts.close();
  }

  /** A session that died soon after it was opened is replaced at once the first time, and later with growing pauses. */
  reopenStt(): void {
    this.#stt.close();
    const { clock } = this.#options;
    const diedSoon = clock.now() - this.#sttOpenedAt < soonMs;
    this.#sttDeaths = diedSoon ? this.#sttDeaths + 1 : 0;
    const pauseMs =
      this.#sttDeaths < 2 ? 0 : Math.min(longestPauseMs, firstPauseMs * 2 ** (this.#sttDeaths - 2));
    this.#sttOpenedAt = clock.now() + pauseMs;
    this.#stt =
      pauseMs === 0
        ? this.#openStt()
        : new LaterStt(this.#context, { afterMs: pauseMs, open: () => this.#openStt() });
  }

  reopenTts(): void {
    this.#tts.close();
    this.#tts = this.#openTts();
  }

  startLlm(round: number, messages: readonly ContextMessage[], tools: readonly OfferedTool[]): void {
    this.cancelLlm();
    this.#toolCalls = new RoundCalls();
    this.#round = this.#llm.start({ messages, tools }, (event) => this.#onLlm(round, event));
  }

  cancelLlm(): void {
    this.#round?.cancel();
    this.#round = undefined;
  }

  /** Closes everything, also when closing one of them fails; the failure is thrown then. */
  close(): void {
    try {
      this.cancelLlm();
      this.#llm.close();
    } finally {
      try {
        this.#stt.close();
      } finally {
        this.#tts.close();
      }
    }
  }

  /** A caller who says nothing gets no text, which would show that STT works: there a connection that holds is all that shows it. */
  #sttWasThere(error: StageError): boolean {
    return error.kind === 'disconnected' && this.#options.clock.now() - this.#sttOpenedAt >= heldMs;
  }

  #openStt(): SttSession {
    return this.#options.stt.open(this.#context, (event) => this.#onStt(event));
  }

  #openTts(): AheadTts {
    const context = this.#context;
    return new AheadTts(
      context,
      (sink) => this.#options.tts.open(context, sink),
      (event) => this.#onTts(event),
    );
  }

  #onStt(event: SttEvent): void {
    const { tell } = this.#options;
    switch (event.type) {
      case 'transcript':
        if (event.text.trim() !== '') {
          this.#options.onWords?.();
          if (!event.isFinal) streamingStts.note(this.#options.stt);
        }
        tell({
          type: event.isFinal ? 'stt.final' : 'stt.partial',
          text: event.text,
          // A text that STT ends because it was asked to says nothing of the caller.
          speechFinal: event.speechFinal && !event.fromFinalize,
          ...(event.isOthers === true && { isOthers: true }),
          position: this.#options.position(),
        });
        return;
      case 'finalized':
        tell({
          type: 'stt.finalized',
          ...(event.isLate && { isLate: true }),
          position: this.#options.position(),
        });
        return;
      case 'written':
        tell({ type: 'words.written', text: event.text });
        return;
      case 'error':
        this.#failed('stt', event.error);
        tell({ type: 'stt.failed', ...(this.#sttWasThere(event.error) && { wasThere: true }) });
        return;
      default:
        unreachable(event);
    }
  }

  #onLlm(round: number, event: LlmEvent): void {
    const { tell } = this.#options;
    switch (event.type) {
      case 'text':
        tell({ type: 'llm.text', round, text: event.text });
        return;
      case 'tool-call':
        this.#toolCalls.add(event);
        return;
      case 'done':
        this.#round = undefined;
        tell({
          type: 'llm.done',
          round,
          finish: event.finish,
          toolCalls: this.#toolCalls.named,
          reasoning: event.reasoning,
        });
        return;
      case 'error':
        this.#round = undefined;
        this.#failed('llm', event.error);
        tell({ type: 'llm.failed', round });
        return;
      default:
        unreachable(event);
    }
  }

  #onTts(event: TtsEvent): void {
    if (event.type !== 'error') {
      this.#options.onTts(event);
      return;
    }
    this.#failed('tts', event.error);
    this.#options.tell({ type: 'tts.failed' });
  }

  #failed(stage: 'stt' | 'llm' | 'tts', error: StageError): void {
    this.#causes[stage] = reasonOf(error);
    this.#options.onFailure(stage, reasonOf(error));
  }

  /** A fault as the client is told of it: with what the stage failed with, in the words of `reasonOf`. */
  withCause(event: ConversationEvent): ConversationEvent {
    if (event.type !== 'fault.noticed' || event.what !== 'failed') return event;
    const cause = event.stage === 'call' ? undefined : this.#causes[event.stage];
    return cause === undefined ? event : { ...event, cause };
  }
}
