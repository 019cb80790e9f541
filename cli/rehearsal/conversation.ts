/**
 * A call without sound, as the console and rehearsals see it: what a caller can do, and what happens. Nothing in here is
 * of the core's making, so that the core can change without anything but text-call.ts.
 */
import type { Millis } from '../../shared/base/units.ts';

/** Where the time of one answered turn went. */
export interface TurnTimings {
  /** From the end of the caller's turn to the LLM's first text; absent when it wrote none. */
  readonly firstTextMs: Millis | undefined;
  /** From the end of the caller's turn to the end of all rounds and tools. */
  readonly thoughtMs: Millis;
  /** How long the answer takes to say. */
  readonly spokenMs: Millis;
}

export type EndedBy = 'agent' | 'caller' | 'fault';

export type ConversationEvent =
  /** What the caller does, when it begins: everything after it belongs to a new turn. */
  | { readonly type: 'caller.said'; readonly text: string }
  | { readonly type: 'caller.pressed'; readonly keys: string }
  | { readonly type: 'caller.waited'; readonly ms: Millis }
  /** A piece of what the agent says; pieces of one response follow one another without a gap. */
  | { readonly type: 'bot.text'; readonly response: number; readonly text: string }
  /** The caller took over; `heard` is what was heard of the response until then. */
  | { readonly type: 'bot.cut'; readonly response: number; readonly heard: string }
  /** The LLM asks for a tool, which may yet be refused. Ids may repeat; the newest call of an id is meant. */
  | {
      readonly type: 'tool.called';
      readonly id: string;
      readonly name: string;
      /** JSON text. */
      readonly arguments: string;
    }
  /** It is run, whatever comes of it. */
  | { readonly type: 'tool.started'; readonly id: string }
  /** What the LLM is told of it. `tookMs` is absent where nothing was run. */
  | {
      readonly type: 'tool.result';
      readonly id: string;
      readonly name: string;
      readonly text: string;
      readonly tookMs: Millis | undefined;
    }
  | { readonly type: 'node.entered'; readonly node: string }
  | { readonly type: 'turn.done'; readonly timings: TurnTimings }
  | { readonly type: 'fault'; readonly stage: string; readonly what: string }
  | { readonly type: 'ended'; readonly by: EndedBy };

/** What a run waits for. Every run also ends when the call does. */
export type Goal =
  /** Nobody speaks, and nothing is owed. */
  | { readonly until: 'quiet' }
  /** This many words of the answer to the last line were heard; or quiet, when the answer is shorter. */
  | { readonly until: 'words'; readonly count: number }
  /** This much time of the call has passed. */
  | { readonly until: 'time'; readonly ms: Millis };

/**
 * One call. Its time passes only during `run`: as fast as the LLM and the tools allow, or at the speed of speech while the
 * agent speaks.
 */
export interface Conversation {
  readonly isOver: boolean;
  /** The caller says this; with a response running, into it. */
  say(text: string): void;
  /** Keys of the phone, one after another, each one of 0-9 * # A-D. */
  press(keys: string): void;
  /** The caller breaks in; what is said next belongs to it. False when there is nothing to interrupt, or it may not be. */
  interrupt(): boolean;
  hangUp(): void;
  /** Lets the call go on. Not to be called while another run is under way. */
  run(goal: Goal): Promise<void>;
  /** The line that is being said is taken as heard to its end at once. */
  hurry(): void;
  /** Stops everything; no event follows. */
  close(): void;
}

/** Says what happens in a conversation, at the moment it happens. */
export type ConversationSink = (event: ConversationEvent) => void;
