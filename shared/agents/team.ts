/** `[agent.team]` of the agent file: to which other agents of its tenant this one may hand a caller over, within the call (docs/agents.md). */
import * as z from 'zod';

/** The tool by which the LLM does it. */
export const agentTool = 'transfer_to_agent';

/** What the other agent is told, in words for the LLM. */
export const summaryOf =
  'What the other agent has to know: who the caller is, what is wanted, what was said and done.';

const mostMembers = 32;

export const teamKeys = z.strictObject({
  agents: z
    .record(
      z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, _ or -'),
      z.string().min(1).max(500),
    )
    .refine(
      (agents) => Object.keys(agents).length >= 1 && Object.keys(agents).length <= mostMembers,
      `must name 1 to ${mostMembers} agents`,
    )
    .meta({
      examples: [{ billing: 'Invoices and payments.' }],
      description:
        'Names of other agents of the same tenant, each with a sentence that tells the LLM what it is for. The LLM gets the tool transfer_to_agent.',
    }),
  context: z.enum(['full', 'summary', 'none']).default('full').meta({
    description:
      'What the other agent is told of the conversation: all of it, a summary that the LLM gives with the tool, or nothing.',
  }),
  farewell: z.string().max(1000).default('').meta({
    sample: 'I will put you through to my colleague.',
    description: 'Spoken before the other agent has the call; empty: what the LLM says of its own.',
  }),
});

export type TeamDefinition = Readonly<z.output<typeof teamKeys>>;
