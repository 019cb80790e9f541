/**
 * What the core tells of the conversation, as a message for a client that follows it (docs/call-protocol.md, Following the conversation). Pure.
 */
import type { ConversationMessage } from '../../shared/protocol/conversation.ts';
import type { TurnTimes } from '../core/told.ts';
import type { ConversationEvent } from '../core/told.ts';

/** Undefined for what is no client's business. */
export function conversationMessage(event: ConversationEvent): ConversationMessage | undefined {
  switch (event.type) {
    case 'turn.measured':
      return { type: 'turn.metrics', epoch: event.epoch, metrics: metricsOf(event.times) };
    case 'fault.noticed':
      return { type: 'stage.failed', stage: event.stage, reason: event.cause ?? event.what };
    case 'bot.heard': {
      const { type, epoch, text, end } = event;
      if (end === undefined) return { type, epoch, text };
      const { heard, complete, how } = end;
      return { type, epoch, text, heard, complete, ended: how };
    }
    case 'tool.started':
    case 'tool.ended':
    case 'tools.answered':
    case 'node.entered':
    case 'command.answered':
    case 'timer.fired':
    case 'rule.broken':
    case 'operator.took_over':
    case 'operator.text':
    case 'operator.handed_back':
      return undefined;
    default:
      return event;
  }
}

const metricsOf = (times: TurnTimes) => ({
  end_of_turn_ms: Math.round(times.endOfTurnMs),
  stt_final_ms: Math.round(times.sttFinalMs),
  llm_ttft_ms: Math.round(times.llmTtftMs),
  tts_ttfb_ms: Math.round(times.ttsTtfbMs),
  response_ms: Math.round(times.responseMs),
});
