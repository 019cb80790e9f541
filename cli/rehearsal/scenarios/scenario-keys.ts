/** The keys of a scenario file, each declared once: type, bounds and default (explained in docs/rehearsal.md). */
import * as z from 'zod';

/** Scenarios of one file. */
export const mostScenarios = 500;
/** Steps of one caller. */
export const mostSteps = 200;

/** Rounds of the LLM that one step can script. */
const mostAnswers = 32;

const longestLine = 4_096;
const line = z.string().min(1).max(longestLine);
const lines = z.array(line).max(64).default([]);
const names = z.array(z.string().min(1).max(128)).max(64).default([]);

const expectedCallKeys = z.strictObject({
  name: z.string().min(1).max(128),
  arguments: z.record(z.string(), z.unknown()).default({}),
  times: z.int().min(1).max(100).exactOptional(),
});

export const expectKeys = z.strictObject({
  says: lines,
  never_says: lines,
  matches: lines,
  never_matches: lines,
  calls: z.array(expectedCallKeys).max(64).default([]),
  never_calls: names,
  reaches: names,
  first_text_ms: z.int().min(1).max(600_000).exactOptional(),
});

export const scenarioExpectKeys = z.strictObject({
  ...expectKeys.shape,
  ended_by: z.enum(['agent', 'caller']).exactOptional(),
  judge: lines,
});

export const stepKeys = z.strictObject({
  say: line.exactOptional(),
  keys: z
    .string()
    .regex(/^[0-9*#A-D]{1,32}$/, 'must be 1 to 32 keys of 0-9 * # A-D')
    .exactOptional(),
  silence_s: z.number().min(0.1).max(3_600).exactOptional(),
  hang_up: z.literal(true).exactOptional(),
  interrupt_after_words: z.int().min(1).max(1_000).exactOptional(),
  model: z.array(z.unknown()).min(1).max(mostAnswers).exactOptional(),
  expect: z.record(z.string(), z.unknown()).exactOptional(),
});

export const answerKeys = z.strictObject({
  say: line.exactOptional(),
  call: z.string().min(1).max(128).exactOptional(),
  arguments: z.record(z.string(), z.unknown()).exactOptional(),
});

export const personaKeys = z.strictObject({
  persona: line.default('An ordinary person without time to lose.'),
  goal: line,
  max_turns: z.int().min(1).max(100).default(10),
});

export const cannedToolKeys = z.strictObject({
  name: z.string().min(1).max(128),
  result: z.unknown().optional(),
  error: line.exactOptional(),
  description: line.default('No description.'),
  parameters: z.record(z.string(), z.unknown()).default({ type: 'object' }),
});

export const scenarioKeys = z.strictObject({
  name: z
    .string()
    .min(1)
    .max(200)
    .regex(/^[^\p{Cc}]*$/u, 'must be one line'),
  timeout_s: z.int().min(1).max(3_600).default(120),
});

/** Keys of a scenario that are tables or lists and read for themselves. */
export const scenarioTables = ['caller', 'tool', 'expect'] as const;

export const fileKeys = z.strictObject({ real_tools: z.boolean().default(true) });
