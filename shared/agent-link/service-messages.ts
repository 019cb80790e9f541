/**
 * What the service sends to an agent (docs/reference/agent-link.md, Service to agent). Every message carries the envelope `seq` and `t_ms`, which is
 * no part of these shapes: the link adds it when it writes.
 */
import * as z from 'zod';
import { carrierNames } from '../telephony/call-control.ts';
import { agentLinkErrors, type AgentLinkErrorCode } from './errors.ts';
import { conversationEventSchemas, errorEventSchema, eventsLostSchema, sessionEndSchema } from './events.ts';
import { counter, epochField } from './fields.ts';
import { AGENT_LINK_PROTOCOL } from './limits.ts';

const callerIdentitySchema = z
  .object({
    carrier: z.enum(carrierNames).exactOptional().meta({ description: 'How the call came.' }),
    from: z.string().exactOptional().meta({ description: "The caller's number." }),
    to: z.string().exactOptional().meta({ description: 'The number that was called.' }),
    carrier_call_id: z.string().exactOptional().meta({ description: "The carrier's id of the call." }),
  })
  .meta({ description: 'Who calls; present only when caller identity is enabled.' });

export type CallerIdentity = z.output<typeof callerIdentitySchema>;

/**
 * The extension for links that broke: only an agent whose `session.accept` held `resume: true` sees it. It answers `session.accept` with
 * `version`, and `last_seq` when it knows what it saw; nothing else of its `session.accept` counts, because the call has its prompt,
 * greeting and tools. With `session.reject`, or no answer, the call goes on without the agent. Missed messages follow the accept as
 * ordinary messages of the new link.
 */
const resumeSchema = z
  .object({
    attempt: z
      .int()
      .min(1)
      .meta({ description: 'How often it was tried to open the link anew; 1 for the first time.' }),
    previous_seq: counter.meta({
      description:
        'Newest message of the link before that is known of: the agent may not have seen it, and may have seen more where a worker died.',
    }),
    down_ms: counter.meta({ description: 'For how long there was no link.' }),
    replay_from: counter.meta({
      description:
        'Oldest message of the link before that is still kept; with `last_seq` in the accept, those after it are sent again.',
    }),
    lost: counter.meta({ description: 'Events of the time without a link that are not kept.' }),
    pending: z
      .array(counter)
      .meta({ description: 'Ids of tool calls whose results are still waited for; others are settled.' }),
  })
  .meta({ description: 'Present only where the link of a call that runs is opened anew.' });

const textMap = z.record(z.string(), z.string());

const signedSchema = z
  .object({
    sid: z.string(),
    agent: z.string().exactOptional(),
    meta: textMap.exactOptional().meta({ description: 'Numbers and booleans as texts.' }),
  })
  .meta({ description: 'What the verified session token of the call says; absent: the call has none.' });

export type SignedSession = z.output<typeof signedSchema>;

const sessionStartSchema = z
  .object({
    type: z.literal('session.start'),
    protocol: z.literal(AGENT_LINK_PROTOCOL),
    versions: z.array(z.int()).min(1).meta({ description: 'Versions that the service speaks.' }),
    session_id: z.string().meta({
      description:
        "The call's session id: the `sid` of its token, else an id of the service; never one of a client.",
    }),
    agent: z.string().meta({ description: 'Name of the agent.' }),
    capabilities: z.object({ transfer: z.boolean(), tools: z.boolean() }),
    route: z
      .string()
      .exactOptional()
      .meta({ description: 'The route that led here; absent: the default process.' }),
    session: signedSchema.exactOptional(),
    metadata: textMap.exactOptional().meta({
      description:
        "What the client says of itself in `start`, or the parameters of a carrier's stream without numbers; nobody has checked it.",
    }),
    call: callerIdentitySchema.exactOptional(),
    resume: resumeSchema.exactOptional(),
  })
  .meta({
    description:
      'The first message of a link: a call begins, or with `resume` a link that broke is opened anew. Answered by `session.accept` or `session.reject`.',
  });

const toolKinds = ['read_only', 'side_effect'] as const;

const toolCallSchema = z
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

const toolCancelSchema = z
  .object({
    type: z.literal('tool.cancel'),
    id: counter,
    reason: z.enum(['interrupted', 'timeout', 'abandoned']),
  })
  .meta({ description: 'Nobody waits any more; a later result is ignored. Advice to a tool with effects.' });

const codes = Object.keys(agentLinkErrors) as [AgentLinkErrorCode, ...AgentLinkErrorCode[]];

const commandResultSchema = z
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
