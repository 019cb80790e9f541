/** From what the core tells to what an agent is told (docs/reference/agent-link.md, Service to agent). Pure. */
import type { ServiceMessage } from '../../shared/agent-link/service-messages.ts';
import type { ConversationEvent, HeardEnd, TurnTimes } from '../core/told.ts';

/** Undefined for what is answered in another way, or is no agent's business. */
export function messageOf(event: ConversationEvent): ServiceMessage | undefined {
  switch (event.type) {
    case 'turn.measured':
      return { type: 'turn.metrics', epoch: event.epoch, metrics: metricsOf(event.times) };
    case 'fault.noticed': {
      const fatal = event.what === 'given_up';
      return { type: 'error', stage: event.stage, message: `${event.stage} ${event.what}`, fatal };
    }
    case 'tool.started':
    case 'tool.ended':
    case 'tools.answered':
    case 'node.entered':
    case 'timer.fired':
    case 'rule.broken':
    case 'operator.took_over':
    case 'operator.text':
    case 'operator.handed_back':
    case 'command.answered':
      return undefined;
    // In parts it would be worth nothing behind a break.
    case 'bot.heard':
      return event.end && heardMessage(event.epoch, event.end);
    default:
      return event;
  }
}

const heardMessage = (epoch: number, { heard, complete, how }: HeardEnd): ServiceMessage => ({
  type: 'bot.heard',
  epoch,
  text: heard,
  complete,
  ended: how,
});

const metricsOf = (times: TurnTimes) => ({
  end_of_turn_ms: whole(times.endOfTurnMs),
  stt_final_ms: whole(times.sttFinalMs),
  llm_ttft_ms: whole(times.llmTtftMs),
  tts_ttfb_ms: whole(times.ttsTtfbMs),
  response_ms: whole(times.responseMs),
});

const whole = (ms: number): number => Math.max(0, Math.round(ms));
