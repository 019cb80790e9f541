/**
 * What a service tells about the conversation when `start` asks for it. Names and fields are those of the protocol; a metric that the
 * service does not know is absent. Invariant: whatever fields arrive, reading gives an event or undefined and never throws.
 */

/** Latencies of one turn in milliseconds. */
export interface TurnMetrics {
  readonly endOfTurnMs?: number;
  readonly sttFinalMs?: number;
  readonly llmTtftMs?: number;
  readonly ttsTtfbMs?: number;
  readonly responseMs?: number;
}

export type ConversationEvent =
  | {
      readonly type:
        'turn.user_started' | 'turn.user_ended' | 'turn.bot_started' | 'turn.bot_ended' | 'turn.interrupted';
      readonly epoch: number;
    }
  | { readonly type: 'user.transcript'; readonly text: string; readonly final: boolean }
  | {
      readonly type: 'user.text' | 'bot.text' | 'bot.tts_text';
      readonly epoch: number;
      readonly text: string;
    }
  /** More of an answer was heard. The last one of each has `heard`, all that was heard of it, whether that is `complete`, and how it `ended`. */
  | {
      readonly type: 'bot.heard';
      readonly epoch: number;
      readonly text: string;
      readonly heard?: string;
      readonly complete?: boolean;
      readonly ended?: string;
    }
  /** Another agent has the call from here on. */
  | { readonly type: 'agent.changed'; readonly agent: string }
  | { readonly type: 'turn.metrics'; readonly epoch: number; readonly metrics: TurnMetrics }
  | { readonly type: 'stage.failed'; readonly stage: string; readonly reason: string };

export type ConversationEventName = ConversationEvent['type'];

/** Asked for unless the caller of the library says otherwise: everything but what was sent to TTS, which repeats `bot.text`. */
export const DEFAULT_EVENTS: readonly ConversationEventName[] = [
  'turn.user_started',
  'turn.user_ended',
  'user.transcript',
  'user.text',
  'bot.text',
  'bot.heard',
  'turn.bot_started',
  'turn.bot_ended',
  'turn.interrupted',
  'agent.changed',
  'turn.metrics',
  'stage.failed',
];

const METRICS = [
  ['end_of_turn_ms', 'endOfTurnMs'],
  ['stt_final_ms', 'sttFinalMs'],
  ['llm_ttft_ms', 'llmTtftMs'],
  ['tts_ttfb_ms', 'ttsTtfbMs'],
  ['response_ms', 'responseMs'],
] as const;

type Fields = ReadonlyMap<string, unknown>;

/** Undefined for a type that is no event, and where a field is missing. */
export function readConversationEvent(type: string, fields: Fields): ConversationEvent | undefined {
  const epoch = fields.get('epoch');
  const text = fields.get('text');
  switch (type) {
    case 'turn.user_started':
    case 'turn.user_ended':
    case 'turn.bot_started':
    case 'turn.bot_ended':
    case 'turn.interrupted':
      return typeof epoch === 'number' ? { type, epoch } : undefined;
    case 'user.transcript':
      return typeof text === 'string' ? { type, text, final: fields.get('final') === true } : undefined;
    case 'user.text':
    case 'bot.text':
    case 'bot.tts_text':
      return typeof epoch === 'number' && typeof text === 'string' ? { type, epoch, text } : undefined;
    case 'bot.heard':
      return typeof epoch === 'number' && typeof text === 'string'
        ? { type, epoch, text, ...readEnd(fields) }
        : undefined;
    case 'agent.changed': {
      const agent = fields.get('agent');
      return typeof agent === 'string' ? { type, agent } : undefined;
    }
    case 'turn.metrics':
      return typeof epoch === 'number'
        ? { type, epoch, metrics: readMetrics(fields.get('metrics')) }
        : undefined;
    case 'stage.failed':
      return { type, stage: textOf(fields.get('stage')), reason: textOf(fields.get('reason')) };
    default:
      return undefined;
  }
}

/** How the answer ended, where the service says so. */
function readEnd(fields: Fields): { heard: string; complete: boolean; ended: string } | object {
  const [heard, ended] = [fields.get('heard'), fields.get('ended')];
  if (typeof heard !== 'string' || typeof ended !== 'string') return {};
  return { heard, complete: fields.get('complete') === true, ended };
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

function readMetrics(value: unknown): TurnMetrics {
  if (typeof value !== 'object' || value === null) return {};
  const given = new Map<string, unknown>(Object.entries(value));
  return Object.fromEntries(
    METRICS.flatMap(([wire, name]) => {
      const ms = given.get(wire);
      return typeof ms === 'number' ? [[name, ms]] : [];
    }),
  );
}
