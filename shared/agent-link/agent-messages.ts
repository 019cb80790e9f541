/**
 * What an agent sends to the service (docs/reference/agent-link.md, Agent to service). These are the
 * shapes; which message is allowed when is decided by the machine of the link.
 */
import * as z from 'zod';
import { clientAnswerShape, contextMessageSchema, counter, spokenText, textOf } from './fields.ts';
import { agentLinkLimits as limits, agentLinkTimes as times } from './limits.ts';

// ---- the handshake -------------------------------------------------------------------------------------------------

export const toolDeclarationSchema = z
  .object({
    name: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must have 1 to 64 of A-Z a-z 0-9 _ -')
      .meta({ description: '1 to 64 of A-Z a-z 0-9 _ -; not the name of a tool of the agent file.' }),
    description: z
      .string()
      .default('')
      .meta({ description: `For the LLM; the first ${limits.toolDescriptionBytes} bytes are kept.` }),
    parameters: z
      .record(z.string(), z.unknown())
      .default({ type: 'object' })
      .meta({ description: 'JSON Schema of type `object`, without remote `$ref`.' }),
    kind: z.enum(['read_only', 'side_effect']).default('read_only'),
    timeout_ms: z.int().min(1).max(times.toolTimeoutMaxMs).default(times.toolTimeoutDefaultMs),
    filler_after_ms: z.int().min(0).max(times.toolTimeoutMaxMs).default(times.fillerAfterDefaultMs).meta({
      description: 'A filler is spoken after this long without a result; 0: none.',
    }),
    confirm: z
      .boolean()
      .default(false)
      .meta({ description: 'side_effect only: held until the caller has confirmed.' }),
    repeatable: z
      .boolean()
      .default(false)
      .meta({ description: 'side_effect only: an identical call of the same turn runs again.' }),
  })
  .refine(({ kind, confirm }) => kind === 'side_effect' || !confirm, {
    path: ['confirm'],
    message: 'is for side_effect tools only',
  })
  .refine(({ kind, repeatable }) => kind === 'side_effect' || !repeatable, {
    path: ['repeatable'],
    message: 'is for side_effect tools only',
  });

/** A declaration with its defaults filled in. */
export type LinkToolDeclaration = z.output<typeof toolDeclarationSchema>;

/** The fields of `session.accept` beside its type. Each is read by itself: a bad one is left out and reported. */
export const sessionAcceptShape = {
  version: z.int().meta({ description: 'The version picked from `versions`.' }),
  tools: z
    .array(toolDeclarationSchema)
    .max(limits.tools)
    .exactOptional()
    .meta({ description: 'Remote tools of the call.' }),
  system_prompt: textOf(limits.systemPromptBytes)
    .exactOptional()
    .meta({ description: "Takes the place of the agent file's prompt." }),
  context: z
    .array(contextMessageSchema)
    .max(limits.contextMessages)
    .exactOptional()
    .meta({ description: 'Messages that the conversation begins with.' }),
  greeting: textOf(limits.sayBytes)
    .exactOptional()
    .meta({ description: "A line that the agent speaks at once, in place of the agent file's." }),
  overrides: z.record(z.string(), z.unknown()).exactOptional().meta({
    description:
      'What the call has otherwise than the agent file says, by paths of its keys, as far as its `[overrides]` allows; each other one is an `error`.',
  }),
  resume: z.boolean().exactOptional().meta({
    description:
      'The agent can take the call up after a lost connection: `session.start` with `resume` follows.',
  }),
  events: z
    .array(z.string())
    .max(limits.eventTypes)
    .exactOptional()
    .meta({ description: 'Only these events are sent; absent: all.' }),
  last_seq: counter.exactOptional().meta({
    description:
      'In answer to a `session.start` with `resume`: the newest message of the link before that the agent saw.',
  }),
};

const sessionAcceptSchema = z
  .object({ type: z.literal('session.accept'), ...sessionAcceptShape })
  .meta({ description: 'The agent takes the call.' });

export const sessionRejectSchema = z
  .object({
    type: z.literal('session.reject'),
    code: z.string().default(''),
    message: z.string().default(''),
  })
  .meta({ description: 'The agent does not take the call, which goes on without it.' });

// ---- commands ------------------------------------------------------------------------------------------------------

const commandShape = {
  id: textOf(limits.commandIdBytes)
    .exactOptional()
    .meta({ description: 'Echoed in `command.result`, which is sent only when there is an id.' }),
  re: counter.exactOptional().meta({ description: 'The `seq` of the event that the command reacts to.' }),
};

const reasonText = textOf(limits.reasonBytes);

export const agentCommandSchemas = {
  say: z
    .object({
      type: z.literal('say'),
      ...commandShape,
      text: spokenText,
      interrupt: z.boolean().default(false),
    })
    .meta({ description: 'The agent speaks the text word for word.' }),
  end: z
    .object({
      type: z.literal('end'),
      ...commandShape,
      say: textOf(limits.sayBytes)
        .exactOptional()
        .meta({ description: "The farewell; absent: the agent file's; empty: none." }),
      reason: reasonText.exactOptional(),
    })
    .meta({
      description:
        'Ends the call after the lines that wait and the farewell. A caller who interrupts the farewell is answered first; after 30 s the call is ended in any case.',
    }),
  transfer: z
    .object({
      type: z.literal('transfer'),
      ...commandShape,
      destination: z.string().regex(/^\+[0-9]{8,15}$/, 'must be + and 8 to 15 digits'),
      mode: z.enum(['cold', 'warm']).default('cold'),
      summary: reasonText.exactOptional(),
      reason: reasonText.exactOptional(),
    })
    .meta({ description: "Transfers the call through the carrier, after the agent's sentence." }),
  'context.update': z
    .object({
      type: z.literal('context.update'),
      ...commandShape,
      system_prompt: textOf(limits.systemPromptBytes).exactOptional(),
      append: z.array(contextMessageSchema).max(limits.contextMessages).exactOptional().meta({
        description:
          'Stands behind what was said and before what the caller says next, or is saying now; what comes while a response runs stands behind that response.',
      }),
    })
    .meta({ description: 'Edits the conversation: all of the command, or nothing.' }),
  'tools.set': z
    .object({
      type: z.literal('tools.set'),
      ...commandShape,
      enabled: z.array(z.string()).max(limits.enabledTools).nullable(),
    })
    .meta({
      description:
        'Offers only these tools, local and remote; null: all of them again. Transitions of a flow stay.',
    }),
  'client.send': z.object({ type: z.literal('client.send'), ...commandShape, ...clientAnswerShape }).meta({
    description: "Sends a message to the program of the caller (an extension; see 'Messages of a client').",
  }),
} as const;

/** `id` is the one of the `tool.call`, so that a result carries no command id. */
export const toolResultSchema = z
  .object({
    type: z.literal('tool.result'),
    id: counter,
    re: commandShape.re,
    result: z.json().exactOptional(),
    error: z.string().exactOptional(),
  })
  .refine((given) => (given.result === undefined) !== (given.error === undefined), {
    path: ['result'],
    message: 'must be given, or else error',
  })
  .meta({ description: 'The answer of a remote tool: `result`, any JSON, or `error`.' });

/** Every message of an agent by its type. */
export const agentMessageSchemas = {
  'session.accept': sessionAcceptSchema,
  'session.reject': sessionRejectSchema,
  ...agentCommandSchemas,
  'tool.result': toolResultSchema,
} as const;

export type AgentMessageType = keyof typeof agentMessageSchemas;
export type AgentMessageOf<T extends AgentMessageType> = z.output<(typeof agentMessageSchemas)[T]>;

export type AgentCommandType = keyof typeof agentCommandSchemas;
export type AgentCommand = { [T in AgentCommandType]: AgentMessageOf<T> }[AgentCommandType];
