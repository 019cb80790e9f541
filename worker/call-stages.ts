/**
 * The three provider sessions of one call. It opens, replaces and closes them and turns their events into facts for the
 * core. It decides nothing: what happens after a failure is the core's order.
 */
import { unreachable } from '../shared/base/assert.ts';
import type { Clock } from '../shared/runtime/clock.ts';
import type { Scope } from '../shared/runtime/scope.ts';
import type { ContextMessage } from './core/actions.ts';
import type { CallEvent, CompletedToolCall, PlayoutPosition } from './core/events.ts';
import { endCallToolName } from './core/speaking.ts';
import type {
  LlmEvent,
  LlmRound,
  LlmStage,
  StageContext,
  SttEvent,
  SttSession,
  SttStage,
  ToolDeclaration,
  TtsEvent,
  TtsSession,
  TtsStage,
} from './stages/stage.ts';

const endCallTool: ToolDeclaration = {
  name: endCallToolName,
  description: 'Ends the call. Use it when the caller says goodbye or asks to hang up.',
  parameters: { type: 'object', properties: {} },
};

export interface CallStagesOptions {
  readonly clock: Clock;
  readonly scope: Scope;
  readonly stt: SttStage;
  readonly llm: LlmStage;
  readonly tts: TtsStage;
  /** Takes facts for the core. */
  readonly tell: (event: CallEvent) => void;
  /** Takes what concerns audio: the media side knows how much of it there is. */
  readonly onTts: (event: Exclude<TtsEvent, { type: 'error' }>) => void;
  /** Where playback of the bot's audio is. */
  readonly position: () => PlayoutPosition | undefined;
  /** A request went to a provider, for its budget. */
  readonly onRequest: (stage: 'stt' | 'llm' | 'tts') => void;
  /** A failure, for the log. */
  readonly onFailure: (stage: 'stt' | 'llm' | 'tts', kind: string) => void;
}

export class CallStages {
  readonly #options: CallStagesOptions;
  readonly #context: StageContext;
  #stt: SttSession;
  #tts: TtsSession;
  #round: LlmRound | undefined;
  #toolCalls: CompletedToolCall[] = [];

  constructor(options: CallStagesOptions) {
    this.#options = options;
    this.#context = { clock: options.clock, bind: (callback) => options.scope.bind(callback) };
    this.#stt = this.#openStt();
    try {
      this.#tts = this.#openTts();
    } catch (error) {
      this.#stt.close();
      throw error;
    }
  }

  get stt(): SttSession {
    return this.#stt;
  }

  get tts(): TtsSession {
    return this.#tts;
  }

  reopenStt(): void {
    this.#stt.close();
    this.#stt = this.#openStt();
  }

  reopenTts(): void {
    this.#tts.close();
    this.#tts = this.#openTts();
  }

  speak(context: number, text: string): void {
    this.#options.onRequest('tts');
    this.#tts.speak(context, text);
  }

  startLlm(round: number, messages: readonly ContextMessage[], offersEndCall: boolean): void {
    this.cancelLlm();
    this.#toolCalls = [];
    this.#options.onRequest('llm');
    const request = { messages, tools: offersEndCall ? [endCallTool] : [] };
    this.#round = this.#options.llm.start(this.#context, request, (event) => this.#onLlm(round, event));
  }

  cancelLlm(): void {
    this.#round?.cancel();
    this.#round = undefined;
  }

  /** Closes everything, also when closing one of them fails; the failure is thrown then. */
  close(): void {
    try {
      this.cancelLlm();
    } finally {
      try {
        this.#stt.close();
      } finally {
        this.#tts.close();
      }
    }
  }

  #openStt(): SttSession {
    this.#options.onRequest('stt');
    return this.#options.stt.open(this.#context, (event) => this.#onStt(event));
  }

  #openTts(): TtsSession {
    return this.#options.tts.open(this.#context, (event) => this.#onTts(event));
  }

  #onStt(event: SttEvent): void {
    const { tell } = this.#options;
    switch (event.type) {
      case 'transcript':
        tell({
          type: event.isFinal ? 'stt.final' : 'stt.partial',
          text: event.text,
          speechFinal: event.speechFinal,
          position: this.#options.position(),
        });
        return;
      case 'finalized':
        tell({ type: 'stt.finalized' });
        return;
      case 'error':
        this.#options.onFailure('stt', event.error.kind);
        tell({ type: 'stt.failed' });
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
        this.#addToolCall(event);
        return;
      case 'done':
        this.#round = undefined;
        tell({ type: 'llm.done', round, toolCalls: event.finish === 'length' ? [] : this.#toolCalls });
        return;
      case 'error':
        this.#round = undefined;
        this.#options.onFailure('llm', event.error.kind);
        tell({ type: 'llm.failed', round });
        return;
      default:
        unreachable(event);
    }
  }

  #addToolCall(part: Extract<LlmEvent, { type: 'tool-call' }>): void {
    const known = this.#toolCalls[part.index];
    this.#toolCalls[part.index] = {
      id: known?.id ?? part.id ?? '',
      name: known?.name ?? part.name ?? '',
      arguments: (known?.arguments ?? '') + part.arguments,
    };
  }

  #onTts(event: TtsEvent): void {
    if (event.type !== 'error') {
      this.#options.onTts(event);
      return;
    }
    this.#options.onFailure('tts', event.error.kind);
    this.#options.tell({ type: 'tts.failed' });
  }
}
