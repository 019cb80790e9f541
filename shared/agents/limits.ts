/** `[limits]` of an agent's file, and of a tenant's: how much of the service they may use. */
import * as z from 'zod';
import type { ProblemList } from '../config/problem.ts';
import { readTable } from '../config/table.ts';

export const limitKeys = z.strictObject({
  calls: z.int().min(1).max(100_000).exactOptional().meta({
    sample: 20,
    description: 'Calls at the same time. One more is refused as by a service that is full.',
  }),
  calls_per_minute: z.int().min(1).max(100_000).exactOptional().meta({
    sample: 60,
    description: 'Calls that begin within a minute.',
  }),
  minutes_per_day: z.int().min(1).max(10_000_000).exactOptional().meta({
    sample: 1000,
    description: 'Minutes of calls in a day by UTC. Calls that run go on.',
    unit: 'min',
  }),
});

/** Absent: none. Plain JSON. */
export interface Limits {
  readonly calls?: number;
  readonly callsPerMinute?: number;
  readonly minutesPerDay?: number;
}

/** Reads `[limits]`; undefined where there is none, or it is wrong, which `problems` says. */
export function readLimits(raw: unknown, problems: ProblemList): Limits | undefined {
  if (raw === undefined) return undefined;
  const { value } = readTable(limitKeys, raw, { at: ['limits'], problems });
  if (value === undefined) return undefined;
  const { calls, calls_per_minute: callsPerMinute, minutes_per_day: minutesPerDay } = value;
  return {
    ...(calls !== undefined && { calls }),
    ...(callsPerMinute !== undefined && { callsPerMinute }),
    ...(minutesPerDay !== undefined && { minutesPerDay }),
  };
}
