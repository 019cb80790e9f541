/**
 * What a supervisor that leaves tells the next one of its agents: what is in force although its file says something else by now, and since when;
 * and how much of the service they use.
 */
import * as z from 'zod';

const texts = z.record(z.string(), z.string());

const limits = z.object({
  calls: z.number().exactOptional(),
  callsPerMinute: z.number().exactOptional(),
  minutesPerDay: z.number().exactOptional(),
});

export const tenantReach = z.object({
  isPublicOnly: z.literal(true).exactOptional(),
  numbers: z.array(z.string()).readonly().exactOptional(),
});

const version = z.object({
  id: z.string().max(129),
  hash: z.string().max(64),
  name: z.string().max(64),
  tenant: z.string().max(64).exactOptional(),
  text: z.string(),
  files: z.object({
    texts,
    recordings: texts,
    packages: texts.exactOptional(),
    secrets: texts.exactOptional(),
    reach: tenantReach.exactOptional(),
  }),
  routing: z.object({
    numbers: z.array(z.string()).readonly(),
    hosts: z.array(z.string()).readonly(),
    trunks: z.array(z.string()).readonly(),
    open: z.boolean(),
    splits: z.array(z.object({ agent: z.string(), weight: z.number() })).readonly(),
  }),
  limits: limits.exactOptional(),
  tenantLimits: limits.exactOptional(),
});

/** By what limits hold for: `clinic/desk` is an agent, `clinic/` a tenant. */
export const agentUse = z.object({
  type: z.literal('agents.use'),
  /** Days since 1970, by UTC. */
  day: z.number(),
  /** Of that day. */
  usedMs: z.record(z.string(), z.number()),
  /** When calls of the last minute began, in Unix milliseconds, oldest first. */
  starts: z.record(z.string(), z.array(z.number())),
  /** Agents of the calls that this supervisor still has. */
  calls: z.record(z.string(), z.number()),
});

export type AgentUse = Omit<z.infer<typeof agentUse>, 'type'>;

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
