/** `[after_call.analysis]` of the agent file: what an LLM makes of a call when it is over (docs/webhooks.md). */
import * as z from 'zod';
import { present } from '../../base/present.ts';
import { compileArguments } from '../../config/json-schema.ts';
import type { Schema } from '../../config/schema-walk.ts';
import type { LlmChoice } from '../../config/stages/definition.ts';
import { languageTag, llmOfItsOwnKeys } from '../../config/stages/stage-keys.ts';
import type { KeyPath, ProblemList } from '../../config/problem.ts';
import { isTable, readTable } from '../../config/table.ts';

const name = z.string().regex(/^[a-z][a-z0-9_]{0,63}$/, 'must be small letters, digits and _');

export const analysisKeys = z.strictObject({
  summary: z.boolean().default(true).meta({ description: 'Whether a summary is written.' }),
  language: languageTag.exactOptional().meta({
    sample: 'en',
    description: 'Language of the summary; absent: agent.language.',
  }),
  instructions: z.string().max(4096).default('').meta({
    description: 'What the LLM should know beside the transcript.',
  }),
  success: z
    .record(name, z.string().min(1).max(512))
    .default({})
    .meta({
      sample: { booked: 'The caller has an appointment.' },
      description:
        'Criteria by their names, at most 16: each is answered by yes, no or unclear, with words of the call that show it.',
    }),
  labels: z
    .array(z.string().min(1).max(64))
    .max(64)
    .default([])
    .meta({ sample: ['sales', 'complaint'], description: 'Labels of which those that fit are chosen.' }),
  schema: z
    .record(z.string(), z.unknown())
    .exactOptional()
    .meta({
      sample: { type: 'object', properties: { guests: { type: 'integer' } } },
      description:
        'JSON Schema of the fields that are read out of the call, of type object; fields that it does not name are refused.',
      holds: 'JSON Schema',
    }),
  timeout_s: z.int().min(5).max(300).default(60).meta({ description: 'Wait for one answer of the LLM.' }),
});

export { llmOfItsOwnKeys as analysisLlmKeys };

/** What is asked of the LLM. */
export interface AnalysisTask {
  readonly summary: boolean;
  readonly language: string;
  readonly instructions: string;
  readonly success: Readonly<Record<string, string>>;
  readonly labels: readonly string[];
  readonly schema?: Schema;
}

export interface AnalysisDefinition extends AnalysisTask {
  readonly timeoutMs: number;
  /** Absent: that of the agent. */
  readonly llm?: LlmChoice;
}

const mostCriteria = 16;

export interface AnalysisSite {
  readonly problems: ProblemList;
  /** That of the agent. */
  readonly language: string | undefined;
  /** Reads an LLM at this place of the file. */
  readonly readLlm: (raw: unknown, at: KeyPath) => LlmChoice | undefined;
}

export function readAnalysis(raw: unknown, site: AnalysisSite): AnalysisDefinition | undefined {
  const { problems } = site;
  const at = ['after_call', 'analysis'];
  if (!isTable(raw)) {
    problems.error(at, 'must be a table');
    return undefined;
  }
  const { llm: ownLlm, ...own } = raw;
  const { value } = readTable(analysisKeys, own, { at, problems, rules: { alsoKnown: ['llm'] } });
  const llm = ownLlm === undefined ? undefined : site.readLlm(ownLlm, [...at, 'llm']);
  if (value === undefined) return undefined;
  const { summary, language = site.language ?? '', instructions, success, labels, schema } = value;
  if (Object.keys(success).length > mostCriteria)
    problems.error([...at, 'success'], `must have at most ${mostCriteria} entries`);
  if (new Set(labels).size < labels.length) problems.error([...at, 'labels'], 'must name each label once');
  if (schema !== undefined) {
    const compiled = compileArguments(schema, { patterns: 'obeyed' });
    if (!compiled.ok) problems.error([...at, 'schema', ...compiled.error.path], compiled.error.rule);
  }
  if (!summary && Object.keys(success).length === 0 && labels.length === 0 && schema === undefined)
    problems.error(at, 'asks for nothing: set summary, success, labels or schema');
  const timeoutMs = value.timeout_s * 1000;
  return present({ summary, language, instructions, success, labels, schema, timeoutMs, llm });
}
