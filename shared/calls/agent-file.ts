/** `[after_call]` of the agent file: webhooks, and what is made of a call when it is over. */
import { isTable } from '../config/table.ts';
import type { VariableSite } from '../config/agent/secrets.ts';
import { readWebhooks, type WebhooksDefinition } from './webhooks/agent-file.ts';

export type AfterCallDefinition = WebhooksDefinition;

export function readAfterCall(raw: unknown, site: VariableSite): AfterCallDefinition | undefined {
  if (raw === undefined) return undefined;
  if (!isTable(raw)) {
    site.problems.error(['after_call'], 'must be a table');
    return undefined;
  }
  return readWebhooks(raw, site);
}
