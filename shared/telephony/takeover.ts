/** The calls that the service makes, and its warm transfers, as a supervisor that leaves gives them to the next one (decision 0061). */
import * as z from 'zod';
import { carrierNames } from './call-control.ts';
import { machineDetections, outboundPhases, outboundRequest, outboundView } from './callback-api.ts';

/** Calls under way, calls that are over, keys. */
export const mostOutbound = 1_024;

export const outboundLeft = z.object({
  type: z.literal('outbound'),
  open: z
    .array(
      z.object({
        call: z.object({
          id: z.string(),
          carrier: z.enum(carrierNames),
          hasMessage: z.boolean(),
          detection: z.enum(machineDetections),
          beganAt: z.number(),
          ringMs: z.number(),
          answeredAt: z.number().optional(),
          isHeard: z.boolean().default(true),
          phase: z.enum(outboundPhases),
          call: z.string(),
        }),
        request: outboundRequest,
      }),
    )
    .max(mostOutbound),
  over: z.array(outboundView).max(mostOutbound),
  /** By the key that a request brought: the id of its call, and the request. */
  keys: z.array(z.object({ key: z.string(), id: z.string(), body: z.string() })).max(mostOutbound),
  /** Warm transfers under way that stand in no folder (SVC_STATE_DIR). */
  transfers: z.array(z.unknown()).max(1_024).default([]),
  /** When the calls of the last minute were begun, in milliseconds since 1970. */
  begun: z.array(z.number()),
});

export type OutboundLeft = Omit<z.infer<typeof outboundLeft>, 'type'>;
