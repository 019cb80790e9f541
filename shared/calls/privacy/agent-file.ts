/** `[privacy]` of the agent file: what of callers' words is kept and told nowhere (docs/privacy.md). */
import * as z from 'zod';
import { linearPattern } from '../../base/linear-pattern.ts';
import type { ProblemList } from '../../config/problem.ts';
import { readTable } from '../../config/table.ts';
import { detectorNames } from './detectors.ts';
import type { PrivacyRules } from './redactor.ts';

const longestPattern = 200;
const mostPatterns = 32;

export const privacyKeys = z.strictObject({
  redact: z
    .array(z.enum(detectorNames))
    .default([])
    .meta({
      examples: [['card', 'iban']],
      description:
        'What is taken out of transcripts, records, webhooks and analysis, written or spoken. card: 13 to 19 digits with the right check digit. iban: with the right check digits. email. phone: 7 to 15 digits. digits: 6 or more. Not with recording.facts.',
    }),
  patterns: z
    .record(
      z.string().regex(/^[a-z][a-z0-9_]{0,31}$/, 'must be small letters, digits and _'),
      z.string().min(1).max(longestPattern),
    )
    .default({})
    .meta({
      sample: { customer: 'K-?[0-9]{7}' },
      description:
        'Regular expressions without look-around and back-references, in which case matters, by the name that stands in place of what they match.',
    }),
  hide_from_llm: z.boolean().default(false).meta({
    description:
      'Whether the LLM reads placeholders such as [card 1] instead; tools and the voice get the values back. Not with [realtime].',
  }),
});

export interface PrivacyDefinition extends PrivacyRules {
  readonly redact: readonly string[];
  readonly hideFromLlm: boolean;
}

/** Reads `[privacy]`; undefined where it takes nothing out. `languages`: codes of those that callers may speak. */
export function readPrivacy(
  raw: unknown,
  { problems, languages }: { readonly problems: ProblemList; readonly languages: readonly string[] },
): PrivacyDefinition | undefined {
  if (raw === undefined) return undefined;
  const at = ['privacy'];
  const { value, known } = readTable(privacyKeys, raw, { at, problems });
  const patterns = Object.entries(known.patterns ?? {});
  if (patterns.length > mostPatterns)
    problems.error([...at, 'patterns'], `must have at most ${mostPatterns} entries`);
  for (const [name, source] of patterns) {
    const rule = ruleBrokenBy(source);
    if (rule !== undefined) problems.error([...at, 'patterns', name], rule);
  }
  if (value === undefined) return undefined;
  if (value.redact.length === 0 && patterns.length === 0) {
    problems.warning(at, 'takes nothing out: set redact or patterns');
    return undefined;
  }
  const { redact, hide_from_llm: hideFromLlm } = value;
  return { redact, patterns: value.patterns, hideFromLlm, languages };
}

/** Whether a pattern can be used, and what it must not do: match what has no characters. */
export function ruleBrokenBy(source: string): string | undefined {
  const pattern = linearPattern(source);
  if (!pattern.ok) return pattern.error;
  return pattern.value.test('') ? 'must not match an empty text' : undefined;
}
