/**
 * The contracts of the three provider stages (docs/architecture/adding-a-provider.md, In a package).
 *
 * A stage is opened per call and talks back through one sink. Sinks are called synchronously from socket callbacks,
 * never re-entrantly from inside a method of the session, and never after `close()` returned. An adapter binds every
 * callback of its own (sockets, timers, promises) through `StageContext.run`, so that a failure ends this call alone.
 *
 * An adapter never retries on its own, keeps no text longer than the session needs it, and puts neither credentials
 * nor payloads into errors.
 */
import type { Law } from '../../shared/audio/law.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { ContextMessage, OfferedTool } from '../core/actions.ts';
import type { OpaqueReasoning as CoreReasoning, RequestedCall } from '../core/tools/tools-state.ts';

/** What a stage may fail with. Never carries a payload, an address or a credential. */
export type StageError =
  /** `retryable` is absent where the status alone decides (408, 409, 429 and 5xx may be tried again). */
  | {
      readonly kind: 'rejected';
      readonly status: number;
      readonly retryable?: boolean;
      /** What the provider asked to wait, in milliseconds. */
      readonly retryAfterMs?: number;
    }
  | { readonly kind: 'disconnected' }
  | { readonly kind: 'protocol'; readonly rule: string }
  | { readonly kind: 'timeout'; readonly what: string }
  | { readonly kind: 'cancelled' };

/** What the host lends to a stage of one call. */
export interface StageContext {
  readonly clock: Clock;
  /** Wraps a callback so that it runs inside the call's scope; after the call ended it does nothing. */
  bind<A extends readonly unknown[]>(callback: (...args: A) => void): (...args: A) => void;
  /** Its connections lead to public addresses alone. */
  readonly isPublicOnly?: true;
  /** The caller is on a telephone line, whose sound is G.711 of this law at 8 kHz. */
  readonly law?: Law;
}

/** What every adapter gets beside its own options. */
export interface ProviderAccess {
  readonly apiKey?: string;
  /** Its sessions are opened with a context that says so. */
  readonly isPublicOnly?: true;
}

export interface SttAccess extends ProviderAccess {
  /** BCP 47 tag as the agent file writes it; most providers want its primary subtag (docs/providers.md, Languages). */
  readonly language: string;
}

export interface TtsAccess extends ProviderAccess {
  readonly language: string;
  readonly voice?: string;
  /** Hz that the provider is asked to deliver. */
  readonly sampleRate: number;
}

// ---- STT -----------------------------------------------------------------------------------------------------------

/** One transcript segment. A partial (`isFinal` false) replaces the previous partial of the same segment. */
export interface Transcript {
  readonly type: 'transcript';
  readonly text: string;
  readonly isFinal: boolean;
  /** The utterance ended here: the provider's endpoint, or the end of a requested finalize. */
  readonly speechFinal: boolean;
  readonly fromFinalize: boolean;
  /** The recogniser knows that the newest words are not the caller's; they are left out of `text`, which may be empty. */
  readonly isOthers?: true;
  /**
   * How much of the utterance's audio this final and those before it cover, in milliseconds since the audio that first
   * followed the last `finalize()`; absent where the provider does not tell. A replay of audio begins there.
   */
  readonly heardMs?: number;
}

/**
 * `finalized` closes exactly one `finalize()` and follows its last transcript, whether or not there was any text. `isLate`: it
 * was not the provider who said so, but the time limit was reached, and there may have been more. After `error` the session is
 * dead: it sends nothing more and its owner closes it.
 */
export type SttEvent =
  | Transcript
  /** The words of the oldest turn of which a transcript said `unwritten` only; empty: they stay unknown. */
  | { readonly type: 'written'; readonly text: string }
  | { readonly type: 'finalized'; readonly isLate?: true }
  | { readonly type: 'error'; readonly error: StageError };

export interface SttSession {
  /**
   * Takes 16 kHz mono PCM16. The samples are copied or sent before it returns. False means that the bounded input
   * (64 chunks) was full and this audio was dropped; the adapter keeps the newest.
   */
  audio(pcm: Int16Array): boolean;
  /**
   * False while so much waits that audio which comes faster than real time should wait as well; absent where the input
   * takes everything at once.
   */
  hasRoom?(): boolean;
  /** No more speech in this utterance: deliver what was heard, then `finalized`. Audio may follow at once. */
  finalize(): void;
  close(): void;
}

export interface SttStage {
  readonly provider: string;
  open(context: StageContext, sink: (event: SttEvent) => void): SttSession;
  /** Releases what calls share (connection pools). */
  close(): Promise<void>;
}

// ---- LLM -----------------------------------------------------------------------------------------------------------

/** A call of a tool as the LLM wrote it; `arguments` is JSON text. */
export type ToolCall = RequestedCall;

/**
 * What a provider wants back unchanged with the round that it made: encrypted reasoning, signed thinking, thought
 * signatures, as JSON text of the adapter's own making, at most 256 KiB. Only an adapter of the same provider reads it; every
 * other one leaves it out.
 */
export type OpaqueReasoning = CoreReasoning;

export type ChatMessage = ContextMessage;

export type ToolDeclaration = OfferedTool;

export interface LlmRequest {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolDeclaration[];
}

/** What a call asks of its LLM beside the definition of the agent. */
export interface LlmCall {
  /** Stays the same for all rounds of a call, in whichever worker: lets a provider find its prompt cache. Not a secret, not a name. */
  readonly conversation?: string;
  /** Name of a model that the provider has, instead of the one that it was configured with; all other options stay. */
  readonly model?: string;
  /** What would be asked now: for a provider that holds the conversation itself, and opens with it. */
  readonly expects?: () => LlmRequest;
}

export type LlmFinish = 'stop' | 'length' | 'tool_calls' | 'content_filter';

export interface LlmUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
}

/** The round ends with exactly one `done` or `error`; nothing follows either. A stream that is cut is `disconnected`. */
export type LlmEvent =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'tool-call';
      readonly index: number;
      readonly id?: string;
      readonly name?: string;
      readonly arguments: string;
    }
  | {
      readonly type: 'done';
      readonly finish: LlmFinish;
      readonly usage: LlmUsage | undefined;
      readonly reasoning?: OpaqueReasoning;
    }
  | { readonly type: 'error'; readonly error: StageError };

export interface LlmRound {
  /** Stops the request and the bill; no event follows, not even an error. */
  cancel(): void;
}

export interface LlmSession {
  /** Asks for a round. One is under way at a time: that before it is over or was cancelled. */
  start(request: LlmRequest, sink: (event: LlmEvent) => void): LlmRound;
  /** Cancels the round that is under way. */
  close(): void;
}

export interface LlmStage {
  readonly provider: string;
  /**
   * Opens what a call needs. Where connecting ahead saves time it begins here; should that fail, the first round says so.
   * Rounds of one call share the session, and no other call does.
   */
  open(context: StageContext, call: LlmCall): LlmSession;
  /** Releases what calls share (connection pools). */
  close(): Promise<void>;
}

// ---- TTS -----------------------------------------------------------------------------------------------------------

/**
 * Every event carries the engine-chosen context id, so that output that crosses a cancel is recognised.
 * `spoken` says that all audio of the first `chars` characters of the context's text (pieces concatenated as they were
 * given) has been delivered; marks are placed there. `flushed` answers `flush` after the last audio of the context.
 * After `error` the session is dead.
 */
export type TtsEvent =
  | { readonly type: 'audio'; readonly context: number; readonly pcm: Int16Array }
  | { readonly type: 'word'; readonly context: number; readonly chars: number; readonly startMs: number }
  | { readonly type: 'spoken'; readonly context: number; readonly chars: number }
  | { readonly type: 'flushed'; readonly context: number }
  | { readonly type: 'cancelled'; readonly context: number }
  | { readonly type: 'error'; readonly error: StageError };

export interface TtsSession {
  /** Sample rate of `audio` events in Hz. */
  readonly sampleRate: number;
  /**
   * Queues a piece of text. Contexts are spoken in the order in which they appear. With `recorded` it is what the announcement
   * says, and a stage that has the recording plays it instead of speaking; adapters have none.
   */
  speak(context: number, text: string, how?: { readonly recorded?: boolean }): void;
  /** No more text in this context. */
  flush(context: number): void;
  /** Drops the context's queued text and running audio at once, ahead of anything queued. */
  cancel(context: number): void;
  /** The caller hears nothing more of what was delivered, of contexts that are over as well: for a stage that has to know what is heard. */
  silenced?(): void;
  /** Stops reading audio from the provider, so that a bounded buffer downstream stays bounded; `resume` goes on. */
  pause(): void;
  resume(): void;
  close(): void;
}

export interface TtsStage {
  readonly provider: string;
  open(context: StageContext, sink: (event: TtsEvent) => void): TtsSession;
  close(): Promise<void>;
}
