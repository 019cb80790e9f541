/** Tools as the core knows them, in a few lines: `end_call`, and whatever a test adds. Arguments must be a JSON object. */
import { transitionTool, type FlowSettings } from '../../../worker/core/flow/flow.ts';
import type { ToolBook } from '../../../worker/core/settings.ts';
import type { ToolRule } from '../../../worker/core/tools/tools-state.ts';

export const readingTool: ToolRule = {
  kind: 'read_only',
  timeoutMs: 10_000,
  fillerAfterMs: 0,
  confirm: false,
  repeatable: false,
};
export const effectTool: ToolRule = { ...readingTool, kind: 'side_effect' };

export interface BookOptions {
  /** Offer `end_call`; on unless said otherwise. */
  readonly endCall?: boolean;
  readonly tools?: Readonly<Record<string, ToolRule>>;
  readonly flow?: FlowSettings;
}

export function newToolBook({ endCall = true, tools = {}, flow }: BookOptions = {}): ToolBook {
  const own: Record<string, ToolRule> = endCall ? { end_call: { ...effectTool, repeatable: true } } : {};
  const leads = new Set(
    Object.values(flow?.nodes ?? {}).flatMap(({ next }) => next.map(({ to }) => transitionTool(to))),
  );
  const ruleOf = (name: string): ToolRule | undefined =>
    leads.has(name) ? { ...effectTool, repeatable: true } : (tools[name] ?? own[name]);
  const namesIn = (node?: string): string[] => {
    const at = node === undefined ? undefined : flow?.nodes[node];
    if (at === undefined) return [...Object.keys(own), ...Object.keys(tools)];
    return [...at.tools, ...at.next.map(({ to }) => transitionTool(to))];
  };
  return {
    declarations: (node) =>
      namesIn(node).map((name) => ({ name, description: name, parameters: { type: 'object' } })),
    ruleOf,
    performerOf: (name) =>
      ruleOf(name) === undefined ? undefined : name in own || leads.has(name) ? 'core' : 'runner',
    validate: (_name, text) => {
      try {
        return { ok: true, canonical: JSON.stringify(JSON.parse(text === '' ? '{}' : text)) };
      } catch {
        return { ok: false, rule: 'the arguments are no JSON' };
      }
    },
    answerOf: (text) => (/^yes/i.test(text) ? 'yes' : /^no/i.test(text) ? 'no' : 'unclear'),
  };
}
