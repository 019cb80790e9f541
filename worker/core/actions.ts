/** What the core wants its shell to do, performed in the order given. None of them is awaited. */
import type { Millis } from '../../shared/base/units.ts';
import type { EndCause } from './course.ts';
import type { Told } from './told.ts';
import type { OpaqueReasoning, RequestedCall, ToolAction } from './tools/tools-state.ts';

/** A message of the conversation. The result of a tool follows the message that called it. */
export type ContextMessage =
  | { readonly role: 'system' | 'user'; readonly text: string }
  | {
      readonly role: 'assistant';
      readonly text: string;
      readonly toolCalls?: readonly RequestedCall[];
      readonly reasoning?: OpaqueReasoning;
    }
  | { readonly role: 'tool'; readonly callId: string; readonly name: string; readonly text: string };

/** A tool as the LLM is told of it. `parameters` is a JSON Schema of type object. */
export interface OfferedTool {
  readonly name: string;
  /** What an agent file and an agent process may call it as well; absent: it has no other name. */
  readonly ownName?: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

export type CallAction =
  /** Send the caller's audio to STT, starting with what was just heard. A fresh turn forgets the audio of the one before. */
  | { readonly type: 'stt.listen'; readonly fresh: boolean }
  /** Send what another session, or another worker's, had got of the running turn. */
  | { readonly type: 'stt.replay' }
  /** Stop sending audio and ask for the final text; `stt.finalized` answers. */
  | { readonly type: 'stt.finalize' }
  /** The same in a pause that may not be the end: the turn is not over. `stt.finalized` answers. */
  | { readonly type: 'stt.flush' }
  /** The session died: open another before the next audio. */
  | { readonly type: 'stt.reopen' }
  /** Ask the turn model about the pause; `turn.judged` answers. */
  | { readonly type: 'turn.judge'; readonly ask: number }
  | {
      readonly type: 'llm.start';
      readonly epoch: number;
      /** Names the request; never used twice in a call. */
      readonly round: number;
      readonly messages: readonly ContextMessage[];
      readonly tools: readonly OfferedTool[];
    }
  | { readonly type: 'llm.cancel' }
  /** With `recorded`, the announcement is played, which says this text and needs no TTS. */
  | {
      readonly type: 'tts.speak';
      readonly context: number;
      readonly text: string;
      readonly recorded?: boolean;
    }
  /** This text may be the first that is spoken next: it may be made ahead. Or it will not be spoken. */
  | { readonly type: 'tts.prepare'; readonly text: string }
  | { readonly type: 'tts.forget' }
  | { readonly type: 'tts.flush'; readonly context: number }
  | { readonly type: 'tts.cancel'; readonly context: number }
  | { readonly type: 'tts.reopen' }
  /**
   * Audio of this context, and of no other, may be played from now on. With `from`, its audio begins `audioMs` into the
   * response, and `skipMs` of it are on the wire already.
   */
  | {
      readonly type: 'playout.open';
      readonly context: number;
      readonly from?: { readonly audioMs: Millis; readonly skipMs: Millis };
    }
  /** Hold the output at a sample; nothing is dropped. With `duckMs` it goes on softly for so long before that. */
  | { readonly type: 'playout.pause'; readonly duckMs?: Millis }
  /** Go on softly, where the output was held at that sample. */
  | { readonly type: 'playout.duck' }
  /** Go on, as loud as ever. */
  | { readonly type: 'playout.resume' }
  /** Drop everything not sent. `clear` goes to the client when `wire` is true. */
  | { readonly type: 'playout.clear'; readonly epoch: number; readonly wire: boolean }
  /** Say this softly into the caller's pause, if it is there as sound: it is no part of any response, and nothing answers. */
  | { readonly type: 'playout.murmur'; readonly text: string }
  /** Send the mark once the audio that exists now has been sent. */
  | { readonly type: 'playout.mark'; readonly context: number; readonly id: string }
  /** No more audio follows in this context, because TTS failed in it. */
  | { readonly type: 'playout.finish'; readonly context: number }
  /** Run a tool; `tool.settled` answers. Or give a run up. */
  | Extract<ToolAction, { type: 'tool.run' | 'tool.abandon' }>
  /** Have the carrier give the caller over; `carrier.answered` answers. A number comes from an agent process, else it is a name. */
  | {
      readonly type: 'carrier.transfer';
      readonly commandId: string;
      readonly attempt: number;
      readonly destination: string;
      readonly isNumber: boolean;
      readonly mode: 'cold' | 'warm';
      readonly summary: string;
    }
  /** Have the carrier press keys; `tool.settled` answers. */
  | {
      readonly type: 'carrier.keys';
      readonly commandId: string;
      readonly digits: string;
      readonly key: number;
      readonly attempt: number;
    }
  /** Make another agent of the team ready; `agent.prepared` or `agent.missing` answers. */
  | { readonly type: 'agent.prepare'; readonly commandId: string; readonly agent: string }
  /** It has the call: everything behind this order is for its sessions and tools. */
  | { readonly type: 'agent.enter'; readonly commandId: string }
  /** It is not wanted any more. */
  | { readonly type: 'agent.dismiss'; readonly commandId: string }
  /** The flow is in this node: everything behind this order is for what the node has of its own; `node.equipped` answers. */
  | { readonly type: 'node.equip'; readonly node: string }
  /** `transferred`: somebody else has the caller. */
  | {
      readonly type: 'call.end';
      readonly reason: 'ended' | 'shutdown' | 'transferred';
      readonly cause?: EndCause;
    }
  /** Nothing to do: what happened, for those who follow the conversation. */
  | Told;
