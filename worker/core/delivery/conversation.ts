/** What was said so far, what the LLM is told beside it, and whether somebody waits for an answer to it. */
import { flag, leftOut, list, maybe, number, record, text } from '../../../shared/base/codec.ts';
import type { Millis } from '../../../shared/base/units.ts';
import { editsCodec, newEdits, type Edits } from '../answer/edits.ts';
import { flowCodec, isUnrecordedNode, newFlow, type FlowState } from '../flow/flow.ts';
import { addMessages, newHistory, type History } from './history.ts';
import type { CallSettings } from '../settings.ts';

export interface Conversation {
  readonly history: History;
  edits: Edits;
  /** Where the flow is; undefined for an agent without one. */
  flow: FlowState | undefined;
  /** Something entered the history that nobody has answered yet; the answer follows the running response. */
  owed: boolean;
  /** Keys that were pressed while the caller was speaking: they stand behind the words, and before the answer. */
  readonly notes: string[];
  /** Epochs of turns in the history whose words are not known yet, oldest first. */
  readonly unwritten: number[];
  /** The caller spoke first, and is greeted in answer. */
  greets: boolean;
  /** A tool has paused the recording. */
  isUnrecorded: boolean;
}

export function newConversation(
  { flow, context = [] }: Pick<CallSettings, 'flow' | 'context'>,
  now: Millis,
): Conversation {
  const history = newHistory();
  addMessages(history, context);
  return {
    history,
    edits: newEdits(),
    flow: flow === undefined ? undefined : newFlow(flow, now),
    owed: false,
    notes: [],
    unwritten: [],
    greets: false,
    isUnrecorded: false,
  };
}

/** The history is written down apart, when it changes. */
export const conversationCodec = record<Conversation>({
  history: leftOut(newHistory),
  edits: editsCodec,
  flow: maybe(flowCodec),
  owed: flag,
  notes: list(text()),
  unwritten: list(number),
  greets: flag,
  isUnrecorded: flag,
});

/** Whether what is said now may be written down. */
export const mayBeRecorded = ({
  conversation: { flow, isUnrecorded },
  setup: { settings },
}: {
  readonly conversation: Pick<Conversation, 'flow' | 'isUnrecorded'>;
  readonly setup: { readonly settings: Pick<CallSettings, 'flow'> };
}): boolean =>
  !isUnrecorded &&
  (flow === undefined || settings.flow === undefined || !isUnrecordedNode(flow, settings.flow));
