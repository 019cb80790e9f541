/**
 * The contract of a model that hears and speaks by itself (docs/realtime.md): what an adapter of such a vendor does, and nothing else.
 *
 * The engine owns the turns, the history and the tools; a session of the vendor is a cache of the history. So an adapter decides nothing: it opens
 * one session, sends what it is told in the vendor's words, and tells what comes back. When a session ends the engine opens another one
 * with `seed`. The rules of `stage.ts` hold here too: one sink, called from socket callbacks and never from inside a method of the session,
 * nothing after `close()`, no retries, no payloads or keys in errors.
 */
import type { ChatMessage, StageContext, StageError, ToolDeclaration } from '../stage.ts';

/** What a vendor's protocol can do; constant for a session once it is `ready`. */
export interface RealtimeCaps {
  /**
   * Who says when the caller's turn is over; absent: this service. Of a model without turns, or whose vendor ends them, a session is refused: `model` and
   * `vendor` are here for packages to say so, until calls can be held with them (docs/realtime-gemini.md, Not built).
   */
  readonly turns?: 'ours' | 'vendor' | 'model';
  /** What was not heard can be cut from an answer in the vendor's history. */
  readonly truncates: boolean;
  /** Otherwise an answer can be taken out of it, and what was heard added in its place. Otherwise a note in words says so at the next turn. */
  readonly removes: boolean;
  /** The end of a turn alone makes the model answer; `respond` behind it sends nothing. */
  readonly answersTurns: boolean;
  /** Results of tools alone make the model go on; `respond` behind them sends nothing. */
  readonly answersTools: boolean;
  /** Instructions and tools can change within a session; otherwise the engine opens another. */
  readonly updates: boolean;
  /** A running answer can be stopped without the caller's voice. Otherwise the next `beginTurn` stops it, and what still comes is dropped. */
  readonly cancels: boolean;
}

/** What a session is opened with. */
export interface RealtimeSeed {
  readonly instructions: string;
  readonly tools: readonly ToolDeclaration[];
  /** The conversation so far, oldest first; the caller's words as text. No system messages. */
  readonly history: readonly ChatMessage[];
  /** What {@link RealtimeEvent} `resumable` gave, where the session before can be gone on with; the history then holds only what came behind it. */
  readonly resume?: string;
}

/** Tokens and seconds of one answer, as increments, whatever the vendor counts. Parts are inside the totals. */
export interface RealtimeUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
  readonly inputAudioTokens: number;
  readonly outputAudioTokens: number;
  readonly cachedAudioTokens: number;
  readonly reasoningTokens: number;
}

/**
 * `answer` is the number that `respond` was given. A vendor may speak several items in one answer; they are played in the order in which
 * their first event came. After `error` the session is dead.
 */
export type RealtimeEvent =
  /** The session takes audio. `expiresInMs`: from now, where the vendor says so or is known to end sessions. */
  | {
      readonly type: 'ready';
      readonly session?: string;
      readonly caps: RealtimeCaps;
      readonly expiresInMs?: number;
    }
  /** Sound of an answer at `outputRate`. */
  | { readonly type: 'audio'; readonly answer: number; readonly item: string; readonly pcm: Int16Array }
  /** Words of an answer: the transcript of its sound, or what is to be spoken where the output is text. `isWritten`: no sound of them comes, though the output is sound. */
  | {
      readonly type: 'text';
      readonly answer: number;
      readonly item: string;
      readonly text: string;
      readonly isWritten?: true;
    }
  /** All sound and words of the item have come. */
  | { readonly type: 'item-done'; readonly answer: number; readonly item: string }
  /** A complete call. An adapter tells a call once, however often the vendor says it. */
  | {
      readonly type: 'tool-call';
      readonly answer: number;
      readonly id: string;
      readonly name: string;
      /** JSON text. */
      readonly arguments: string;
    }
  /** The model no longer waits for the results of these calls. */
  | { readonly type: 'tool-cancelled'; readonly ids: readonly string[] }
  /**
   * The answer is over; exactly one for each `respond`, the cancelled ones included, of which another one may bring the usage later. `failed` tells why there is none or only a part, and the session
   * goes on.
   */
  | {
      readonly type: 'done';
      readonly answer: number;
      readonly finish: 'completed' | 'cancelled' | 'length' | 'content_filter' | 'failed';
      readonly usage?: RealtimeUsage;
      readonly failed?: StageError;
    }
  /** The vendor's words for the caller's turn that `endTurn` named. A partial replaces the one before; a final comes once, maybe late, maybe empty. */
  | { readonly type: 'user-text'; readonly turn: number; readonly text: string; readonly final: boolean }
  /** The vendor ends the session soon. */
  | { readonly type: 'expiring'; readonly inMs: number }
  /** A later session can go on from here: everything that was sent before this came is in it. */
  | { readonly type: 'resumable'; readonly handle: string }
  | { readonly type: 'error'; readonly error: StageError };

export interface RealtimeSession {
  /** Sample rate of `audio` events in Hz. */
  readonly outputRate: number;
  /** The caller speaks: what was sent of an abandoned turn is forgotten. The vendor may stop an answer that runs. */
  beginTurn(): void;
  /**
   * Takes 16 kHz mono PCM16 between `beginTurn` and `endTurn`; copied or sent before it returns. Bounded: the newest is kept. `ofLine` is the same
   * moment as the caller's telephone line has it, at 8 kHz, where `context.law` says that there is one; absent where it is not known.
   */
  audio(pcm: Int16Array, ofLine?: Int16Array): void;
  /** The turn is complete: commit it. `user-text` comes back with `turn`. */
  endTurn(turn: number): void;
  /** What was sent since `beginTurn` is no turn. */
  abandonTurn(): void;
  /** Asks for an answer to all that was said; one at a time, the one before is done or was cancelled. An adapter waits with it until the vendor has let go of the former. */
  respond(answer: number): void;
  /** Stops the running answer: nothing more of it is told but its `done`, and what was not told is taken out of the vendor's history where that can be done. */
  cancel(): void;
  /** Adds to the vendor's history: words that were typed or spoken by a scripted line, notes (role `system`), results of tools. */
  append(messages: readonly ChatMessage[]): void;
  /** Cuts an item where the caller stopped hearing it; 0 ms removes it. Only with `caps.truncates`, or 0 ms with `caps.removes`; errors of it are not told. */
  truncate(item: string, audioMs: number): void;
  /** Replaces instructions and tools from the next answer on; only with `caps.updates`. */
  update(changed: { readonly instructions: string; readonly tools: readonly ToolDeclaration[] }): void;
  close(): void;
}

export interface RealtimeModel {
  readonly provider: string;
  /** Connects at once; methods may be called before `ready` and are sent behind it, in order and bounded. */
  open(context: StageContext, seed: RealtimeSeed, sink: (event: RealtimeEvent) => void): RealtimeSession;
  /** Releases what calls share. */
  close(): Promise<void>;
}

/** What every adapter gets beside its own options. */
export interface RealtimeAccess {
  readonly apiKey?: string;
  readonly isPublicOnly?: true;
  /** BCP 47 tag of the agent. */
  readonly language: string;
  readonly voice?: string;
  /** Hz at which calls take the voice; another rate is resampled. */
  readonly sampleRate?: number;
  /** `text`: the model writes, and a TTS speaks. */
  readonly output: 'audio' | 'text';
  /** `own`: an STT beside the model writes the caller's words down, so that the vendor need not; `user-text` then never comes. */
  readonly words: 'own' | 'vendor';
}
