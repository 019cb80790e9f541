/**
 * What the turn machine decides, in the order in which it must be performed. It performs nothing and knows nothing of responses: the call
 * does both (`dialogue/hear.ts`). Orders for the shell and what is told pass through as they are.
 */
import type { Millis } from '../../../shared/base/units.ts';
import type { CallAction } from '../actions.ts';
import type { PlayoutPosition } from '../events.ts';
import type { Slices } from '../state.ts';
import type { FaultKind } from '../told.ts';
import type { Finalizing } from './turn.ts';

export type TurnAction =
  /** A caller may be interrupting: the output gives way until that is known, at once where words tell more than a voice. */
  | { readonly type: 'output.hold'; readonly atOnce?: boolean }
  /** The output goes on softly until it is known what was said: the voice was short and is over, or may be somebody else's. */
  | { readonly type: 'output.duck'; readonly from: 'plain' | 'held' }
  /** It was no interruption: the output goes on, where it was held at that sample. */
  | { readonly type: 'output.release'; readonly from: 'held' | 'ducked' }
  /** A turn of the caller begins where no response runs. */
  | { readonly type: 'turn.begun' }
  /** The caller takes over: the response is cut where `position` says that playback stood. */
  | { readonly type: 'turn.interrupted'; readonly position: PlayoutPosition | undefined }
  /** The words of the turn have changed, or its pause has begun: an answer may be asked for early. */
  | { readonly type: 'words.changed'; readonly text: string; readonly pause?: { readonly guessed: boolean } }
  /** The turn is over, and its text is known as far as it will ever be. */
  | { readonly type: 'turn.ended'; readonly turn: Finalizing }
  /** What was said into a response was nothing. */
  | { readonly type: 'aside.forgotten' }
  /** STT has failed its contract, or has kept it again. */
  | { readonly type: 'stt.fault'; readonly what: FaultKind }
  | { readonly type: 'stt.works' }
  | Extract<
      CallAction,
      { type: `stt.${'listen' | 'replay' | 'finalize' | 'flush' | 'reopen'}` | 'turn.judge' | 'told' }
    >;

/** What the turn machine knows of the agent's side. It changes nothing of it. */
export interface AgentSide {
  /** The response that runs; undefined while the agent says nothing. */
  readonly response: RunningResponse | undefined;
  /** What the agent said last, for telling its echo. */
  readonly lastSaid: Said;
  /** The caller waits for something that the agent says as soon as nobody speaks. */
  readonly owes: Owed;
  /** The agent's voice comes back: only words interrupt. */
  readonly echoes: boolean;
  /** Lines that fill a silence are there as sound, so that STT may take its time. */
  readonly hasFillers: boolean;
}

/** The greeting, an answer or the rest of one; undefined: nothing. */
export type Owed = 'greeting' | 'answer' | undefined;

export interface Said {
  readonly text: string;
  readonly endedAt: Millis;
}

export interface RunningResponse {
  /** The caller's voice may cut it. */
  readonly interruptible: boolean;
  /** Nothing that is said into it counts: the call ends behind it. */
  readonly isLastWord: boolean;
  /** The call is to end behind it, and a goodbye into it is no more than that. */
  readonly isFarewell: boolean;
  /** None of its sound is on the wire yet. */
  readonly isWaiting: boolean;
  /** It has been played to its end by now. */
  readonly isPlayed: boolean;
  /** Its whole text so far, as the newest that the agent said once it is cut. */
  readonly text: string;
  /** How much of the text is on the wire. */
  readonly charsAt: (position: PlayoutPosition | undefined) => number;
  /** Its words that may come back as an echo where playback stands now. */
  readonly textAround: (position: PlayoutPosition) => string;
}

/** What the turn machine works with: what is known of the caller, a look at the agent's side, and what it has decided so far. */
export interface TurnStep {
  readonly state: Slices<'setup' | 'numbers' | 'caller'>;
  readonly agent: AgentSide;
  readonly now: Millis;
  /** Where playback stood when the event happened, as far as the event says. */
  readonly position: PlayoutPosition | undefined;
  readonly actions: TurnAction[];
}
