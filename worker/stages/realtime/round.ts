/** A request for an answer, from its question to its end. */
import type { Millis } from '../../../shared/base/units.ts';
import type { ChatMessage, LlmEvent, LlmRequest, LlmRound } from '../stage.ts';

/** A request that is not over. */
export interface Round {
  answer: number;
  askedAt: Millis;
  readonly request: LlmRequest;
  readonly sink: (event: LlmEvent) => void;
  /** Anything of it was told. */
  hasBegun: boolean;
  calls: number;
  /** Results of calls that it made once more. */
  readonly repeated: ChatMessage[];
  wasAskedAgain: boolean;
  /** Another provider answers it. */
  instead: LlmRound | undefined;
}

export const newRound = (request: LlmRequest, sink: Round['sink']): Round => ({
  answer: 0,
  askedAt: 0,
  request,
  sink,
  hasBegun: false,
  calls: 0,
  repeated: [],
  wasAskedAgain: false,
  instead: undefined,
});
