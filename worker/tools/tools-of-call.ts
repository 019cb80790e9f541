/** The tools of one call as it was given them, and those of its runs that are under way. */
import type { CallMetadata } from '../../shared/config/agent/call-variables.ts';
import type { ToolRule, Verdict } from '../core/tools/tools-state.ts';
import type { StageContext, ToolDeclaration } from '../stages/stage.ts';
import type { ToolCatalog } from './catalog.ts';
import {
  refuseRun,
  type CallTools,
  type OrderedRun,
  type Performer,
  type ToolReport,
  type ToolRun,
} from './tool.ts';

export class ToolsOfCall implements CallTools {
  readonly #context: StageContext;
  readonly #catalog: ToolCatalog;
  readonly #metadata: CallMetadata;
  readonly #running = new Set<ToolRun>();

  constructor(context: StageContext, catalog: ToolCatalog, metadata: CallMetadata) {
    this.#context = context;
    this.#catalog = catalog;
    this.#metadata = metadata;
  }

  declarations(node?: string): readonly ToolDeclaration[] {
    return this.#catalog.declarations(node);
  }

  ruleOf(name: string): ToolRule | undefined {
    return this.#catalog.find(name)?.rule;
  }

  performerOf(name: string): Performer | undefined {
    return this.#catalog.find(name)?.performer;
  }

  validate(name: string, argumentsText: string, node?: string): Verdict {
    return this.#catalog.validate(name, argumentsText, node);
  }

  run(order: OrderedRun, sink: (report: ToolReport) => void): ToolRun {
    const { call, epoch, idempotencyKey, timeoutMs, traceparent } = order;
    const tool = this.#catalog.find(call.name);
    const runner = tool?.runner;
    const given = tool?.read(call.arguments);
    if (tool === undefined || runner === undefined || given?.ok !== true) {
      const message = 'the tool is not there';
      return refuseRun(this.#context, { kind: 'failed', message, transport: false }, sink);
    }
    const request = {
      id: call.id,
      name: tool.ownName,
      kind: tool.rule.kind,
      arguments: given.value,
      metadata: this.#metadata,
      epoch,
      idempotencyKey,
      timeoutMs,
      traceparent,
    };
    const inner = runner.run(this.#context, request, (report) => {
      this.#running.delete(run);
      sink(report);
    });
    const run: ToolRun = {
      cancel: (reason) => {
        if (this.#running.delete(run)) inner.cancel(reason);
      },
    };
    this.#running.add(run);
    return run;
  }

  close(): void {
    for (const run of [...this.#running]) run.cancel('abandoned');
  }
}
