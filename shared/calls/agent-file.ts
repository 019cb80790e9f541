/** `[after_call]` of the agent file: webhooks, and what is made of a call when it is over. */
import { present } from '../base/present.ts';
import type { VariableSite } from '../config/agent/secrets.ts';
import { isTable } from '../config/table.ts';
import { readAnalysis, type AnalysisDefinition, type AnalysisSite } from './analysis/agent-file.ts';
import { readWebhooks, type WebhooksDefinition } from './webhooks/agent-file.ts';

export interface AfterCallDefinition extends WebhooksDefinition {
  readonly analysis?: AnalysisDefinition;
}

export function readAfterCall(
  raw: unknown,
  site: VariableSite & AnalysisSite,
): AfterCallDefinition | undefined {
  if (raw === undefined) return undefined;
  if (!isTable(raw)) {
    site.problems.error(['after_call'], 'must be a table');
    return undefined;
  }
  const { analysis: asked, ...own } = raw;
  const webhooks = readWebhooks(own, site);
  const analysis = asked === undefined ? undefined : readAnalysis(asked, site);
  return webhooks && { ...webhooks, ...present({ analysis }) };
}
