/**
 * What the service sends to an agent (spec 02, Endpoints and Events). Every message carries the envelope `seq` and `t_ms`, which is
 * no part of these shapes: the link adds it when it writes.
 */
import * as z from 'zod';
import { agentLinkErrors, type AgentLinkErrorCode } from './errors.ts';
import { conversationEventSchemas, errorEventSchema, eventsLostSchema, sessionEndSchema } from './events.ts';
import { counter, epochField } from './fields.ts';
import { AGENT_LINK_PROTOCOL } from './limits.ts';

export const callerIdentitySchema = z
  .object({
    from: z.string().exactOptional().meta({ description: "The caller's number." }),
    to: z.string().exactOptional().meta({ description: 'The number that was called.' }),
    carrier_call_id: z.string().exactOptional().meta({ description: "The carrier's id of the call." }),
  })
  .meta({ description: 'Who calls; present only when caller identity is enabled.' });

export type CallerIdentity = z.output<typeof callerIdentitySchema>;

const offerShape = {
  protocol: z.literal(AGENT_LINK_PROTOCOL),
  versions: z.array(z.int()).min(1).meta({ description: 'Versions that the service speaks.' }),
  session_id: z.string().meta({ description: "The call's session id." }),
  agent: z.string().meta({ description: 'Name of the agent.' }),
  capabilities: z.object({ transfer: z.boolean(), tools: z.boolean() }),
};

export const sessionStartSchema = z
  .object({ type: z.literal('session.start'), ...offerShape, call: callerIdentitySchema.exactOptional() })
  .meta({
    description: 'The first message: a call begins. Answered by `session.accept` or `session.reject`.',
  });

/**
 * The extension for links that broke. Sent as the first message of a new connection, and only to an agent whose `session.accept`
 * held `resume: true`. `seq` goes on where the broken link stood. The agent answers `session.accept` with `version`, and `last_seq`
 * when it knows what it saw; nothing else of its `session.accept` counts, because the call has its prompt, greeting and tools. With
 * `session.reject`, or no answer, the call goes on without the agent. What was missed follows the accept as ordinary messages, each with
 * the `seq` it had.
 */
export const sessionResumeSchema = z
  .object({
    type: z.literal('session.resume'),
    ...offerShape,
    last_seq: counter.meta({
      description: 'Newest message that was written before the break; the agent may or may not have seen it.',
    }),
    replay_from: counter.meta({
      description:
        'Oldest message that is still kept; with `last_seq` in the accept, those after it are sent again.',
    }),
    lost: counter.meta({ description: 'Events of the time without a link that are not kept.' }),
    pending: z
      .array(counter)
      .meta({ description: 'Ids of tool calls whose results are still waited for; others are settled.' }),
  })
  .meta({ description: 'A broken link is taken up again (only after `resume: true`).' });

export const toolKinds = ['read_only', 'side_effect'] as const;

export const toolCallSchema = z
  .object({
    type: z.literal('tool.call'),
    id: counter.meta({ description: 'Echoed in `tool.result`; never used twice in a call.' }),
    call_id: z.string().meta({ description: 'The id that the LLM gave the call.' }),
    name: z.string(),
    arguments: z.record(z.string(), z.unknown()).meta({ description: 'Valid by the declared schema.' }),
    kind: z.enum(toolKinds),
    epoch: epochField,
    idempotency_key: z
      .string()
      .regex(/^[0-9a-f]{16}$/)
      .meta({ description: '16 hex digits, the same for every attempt of one call.' }),
    timeout_ms: z.int().min(1),
  })
  .meta({ description: 'Run the tool and answer with `tool.result`.' });

export const toolCancelSchema = z
  .object({
    type: z.literal('tool.cancel'),
    id: counter,
    reason: z.enum(['interrupted', 'timeout', 'abandoned']),
  })
  .meta({ description: 'Nobody waits any more; a later result is ignored. Advice to a tool with effects.' });

const codes = Object.keys(agentLinkErrors) as [AgentLinkErrorCode, ...AgentLinkErrorCode[]];

export const commandResultSchema = z
  .object({
    type: z.literal('command.result'),
    id: z.string(),
    ok: z.boolean(),
    error: z
      .object({ code: z.enum(codes), message: z.string() })
      .exactOptional()
      .meta({ description: 'Present when `ok` is false.' }),
  })
  .meta({ description: 'The outcome of a command that carried an id.' });

/** Every message of the service by its type. */
export const serviceMessageSchemas = {
  'session.start': sessionStartSchema,
  'session.resume': sessionResumeSchema,
  ...conversationEventSchemas,
  'tool.call': toolCallSchema,
  'tool.cancel': toolCancelSchema,
  'command.result': commandResultSchema,
  error: errorEventSchema,
  'events.lost': eventsLostSchema,
  'session.end': sessionEndSchema,
} as const;

export type ServiceMessageType = keyof typeof serviceMessageSchemas;
export type ServiceMessageOf<T extends ServiceMessageType> = z.output<(typeof serviceMessageSchemas)[T]>;
/** A message without its envelope. */
export type ServiceMessage = { [T in ServiceMessageType]: ServiceMessageOf<T> }[ServiceMessageType];
