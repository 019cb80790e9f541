/**
 * The events that an agent receives (docs/reference/agent-link.md, Service to agent): what happened in the call, in the order in which it happened.
 */
import * as z from 'zod';
import { clientMessageShape, counter, epochField } from './fields.ts';

/** Stands before every message of the service; added when the message is written. */
export const envelopeShape = {
  seq: z
    .int()
    .min(1)
    .meta({ description: '1 for the first message of the link, then one more per message.' }),
  t_ms: counter.meta({ description: 'Milliseconds since the link opened.' }),
};

const withEpoch = <const T extends string>(
  type: T,
): z.ZodObject<{ type: z.ZodLiteral<T>; epoch: typeof epochField }> =>
  z.object({ type: z.literal(type), epoch: epochField });

const withText = <const T extends string>(
  type: T,
): z.ZodObject<{ type: z.ZodLiteral<T>; epoch: typeof epochField; text: z.ZodString }> =>
  z.object({ type: z.literal(type), epoch: epochField, text: z.string() });

const latency = z.int().min(0).exactOptional();

const turnMetricsSchema = z
  .object({
    end_of_turn_ms: latency,
    stt_final_ms: latency,
    llm_ttft_ms: latency,
    tts_ttfb_ms: latency,
    response_ms: latency,
  })
  .meta({ description: 'Latencies of an answered turn; each is absent when unknown.' });

/** How a response ended for its listener. */
const heardEnds = ['finished', 'interrupted', 'failed', 'call_ended'] as const;

/** Events that say what the conversation does, by type. `session.accept.events` chooses among them. */
export const conversationEventSchemas = {
  'turn.user_started': withEpoch('turn.user_started').meta({
    description: 'A turn of the caller started: speech, or a confirmed barge-in.',
  }),
  'turn.user_ended': withEpoch('turn.user_ended').meta({
    description: 'The turn of the caller ended; it is answered now.',
  }),
  'user.transcript': z
    .object({ type: z.literal('user.transcript'), text: z.string(), final: z.boolean() })
    .meta({ description: 'A segment of speech recognition; interim when `final` is false.' }),
  'user.text': withText('user.text').meta({ description: 'The whole text of the turn that is answered.' }),
  'bot.llm_started': withEpoch('bot.llm_started').meta({
    description: 'A round of the LLM started; a tool loop has several.',
  }),
  'bot.text': withText('bot.text').meta({ description: 'Text as the LLM writes it; a line comes whole.' }),
  'bot.llm_stopped': withEpoch('bot.llm_stopped').meta({ description: 'The round ended.' }),
  'bot.tts_text': withText('bot.tts_text').meta({ description: 'A piece that was given to TTS.' }),
  'bot.heard': withText('bot.heard')
    .extend({
      complete: z.boolean().meta({ description: 'All that was written was heard.' }),
      ended: z.enum(heardEnds).meta({
        description:
          '`finished`: to its end; `interrupted`: the caller cut it; `failed`: it could not be spoken, or not all of it; `call_ended`: the call ended in it.',
      }),
    })
    .meta({
      description:
        'A response is over: `text` is what the caller heard of it, as far as the service knows, and what the conversation keeps. Once for each response, before `turn.bot_ended` or `turn.interrupted` (an extension).',
    }),
  'bot.tts_stopped': withEpoch('bot.tts_stopped').meta({
    description: 'TTS produced the last audio of the response.',
  }),
  'turn.bot_started': withEpoch('turn.bot_started').meta({ description: 'Audio of this epoch plays.' }),
  'turn.bot_ended': withEpoch('turn.bot_ended').meta({
    description: 'Audio of this epoch was played to its end.',
  }),
  'turn.interrupted': withEpoch('turn.interrupted').meta({
    description: 'Barge-in: the call moved to this epoch, everything older was dropped.',
  }),
  'agent.changed': z
    .object({
      type: z.literal('agent.changed'),
      agent: z.string().meta({ description: 'Its name in `agent.team`.' }),
    })
    .meta({
      description:
        'Another agent of the tenant has the call from here on; its greeting or its answer follows (an extension).',
    }),
  'turn.metrics': z
    .object({ type: z.literal('turn.metrics'), epoch: epochField, metrics: turnMetricsSchema })
    .meta({ description: 'Latencies of the turn, when its first audio went out.' }),
  'client.message': z.object({ type: z.literal('client.message'), ...clientMessageShape }).meta({
    description:
      "The program of the caller sent a message of its own (an extension; see 'Messages of a client').",
  }),
} as const;

export type ConversationEventType = keyof typeof conversationEventSchemas;

export const isConversationEventType = (name: string): name is ConversationEventType =>
  Object.hasOwn(conversationEventSchemas, name);

/** Events that are sent whatever `session.accept.events` says, beside `session.*`. */
export const alwaysSentEvents = [
  'tool.call',
  'tool.cancel',
  'command.result',
  'events.lost',
  'error',
] as const;

export const errorEventSchema = z
  .object({
    type: z.literal('error'),
    stage: z.enum(['stt', 'llm', 'tts', 'call', 'agent_link']),
    message: z.string(),
    fatal: z.boolean(),
  })
  .meta({
    description:
      'A stage reported an error, or the link refused something without a command id: stage `agent_link`, the message starts with the code.',
  });

export const eventsLostSchema = z
  .object({ type: z.literal('events.lost'), count: z.int().min(1) })
  .meta({ description: 'So many events were not sent, right before this one.' });

/** Why a call ended. */
const sessionEndReasons = [
  'ended_by_agent',
  'call_ended',
  'hangup',
  'disconnected',
  'shutdown',
  'fault',
  'transferred',
] as const;

export type SessionEndReason = (typeof sessionEndReasons)[number];

export const sessionEndSchema = z
  .object({ type: z.literal('session.end'), reason: z.enum(sessionEndReasons) })
  .meta({ description: 'The last message; the link then closes.' });
