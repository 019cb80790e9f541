/** `[monitor]` of the agent file: what callers are told when an operator listens in, or is lost (docs/monitoring-calls.md). */
import * as z from 'zod';
import type { ProblemList } from '../config/problem.ts';
import { readTable } from '../config/table.ts';

const line = z.string().max(1000);

export const monitorKeys = z.strictObject({
  notice: line.default('').meta({
    sample: 'A colleague listens to this call.',
    description:
      'Spoken to the caller once, when an operator begins to listen; empty: callers are told nothing. Whether they must be is a matter of law where they are.',
  }),
  lost: line.exactOptional().meta({
    sample: 'Sorry, my colleague is gone. I am with you again. How can I help?',
    description:
      'Spoken when an operator who had taken the call over is gone for two seconds; empty: the LLM goes on, absent: the text of the language.',
  }),
});

export interface MonitorDefinition {
  /** Empty: none. */
  readonly notice: string;
  readonly lost: string;
}

export function readMonitor(
  raw: unknown,
  { lost, problems }: { readonly lost: string; readonly problems: ProblemList },
): MonitorDefinition | undefined {
  const { value } = readTable(monitorKeys, raw ?? {}, { at: ['monitor'], problems });
  if (value === undefined) return undefined;
  return { notice: value.notice, lost: value.lost ?? lost };
}
