/**
 * Stand-ins for tools: what a scenario says a tool answers, instead of running it. Declarations, rules and the check of
 * arguments stay those of the real tools.
 */
import type { StageContext } from '../../../worker/stages/stage.ts';
import { ownNameOf } from '../../../worker/tools/tool.ts';
import type { CallTools, OrderedRun, ToolReport, ToolRun } from '../../../worker/tools/tool.ts';
import type { CannedTool } from './scenario.ts';

export interface StandIns {
  readonly tools: readonly CannedTool[];
  /** Tools without a stand-in are run. */
  readonly realTools: boolean;
  /** A tool without a stand-in was called and not run. */
  readonly missing: (name: string) => void;
}

export function withStandIns(real: CallTools, standIns: StandIns, context: StageContext): CallTools {
  const left = new Map<string, CannedTool[]>();
  for (const tool of standIns.tools) left.set(tool.name, [...(left.get(tool.name) ?? []), tool]);

  /** The next answer of a tool; its last one goes on. */
  const answerOf = (name: string): ToolReport | undefined => {
    const queue = left.get(name);
    const tool = queue !== undefined && queue.length > 1 ? queue.shift() : queue?.[0];
    if (tool === undefined) return undefined;
    const { outcome } = tool;
    return outcome.kind === 'result'
      ? outcome
      : { kind: 'failed', message: outcome.message, transport: false };
  };

  const run = (order: OrderedRun, sink: (report: ToolReport) => void): ToolRun => {
    const name = ownNameOf(real, order.call.name);
    let answer = answerOf(name);
    if (answer === undefined) {
      if (standIns.realTools) return real.run(order, sink);
      standIns.missing(name);
      answer = { kind: 'failed', message: 'the tool is not there in this rehearsal', transport: false };
    }
    const report = answer;
    // A runner reports never from inside `run`.
    const timer = context.clock.after(
      0,
      context.bind(() => sink(report)),
    );
    return { cancel: () => timer.cancel() };
  };

  return {
    declarations: (node) => real.declarations(node),
    ruleOf: (name) => real.ruleOf(name),
    performerOf: (name) => real.performerOf(name),
    validate: (name, text, node) => real.validate(name, text, node),
    run,
  };
}
