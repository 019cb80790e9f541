/** What a supervisor that leaves tells the next one of its agents: what is in force although its file says something else by now, and since when. */
import * as z from 'zod';

const texts = z.record(z.string(), z.string());

const version = z.object({
  id: z.string().max(129),
  hash: z.string().max(64),
  name: z.string().max(64),
  tenant: z.string().max(64).exactOptional(),
  text: z.string(),
  files: z.object({ texts, recordings: texts, packages: texts.exactOptional() }),
  routing: z.object({
    numbers: z.array(z.string()).readonly(),
    hosts: z.array(z.string()).readonly(),
    trunks: z.array(z.string()).readonly(),
    open: z.boolean(),
    splits: z.array(z.object({ agent: z.string(), weight: z.number() })).readonly(),
  }),
});

export const agentsLeft = z.object({
  type: z.literal('agents'),
  rows: z
    .array(
      z.object({
        path: z.string(),
        hash: z.string(),
        /** Unix milliseconds. */
        since: z.number(),
        /** Present where the file does not say so any more. */
        version: version.exactOptional(),
      }),
    )
    .max(20_000),
});

export type AgentLeft = z.infer<typeof agentsLeft>['rows'][number];
