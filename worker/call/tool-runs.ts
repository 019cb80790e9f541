/**
 * The tool calls of one call that are under way: starts them as the core orders, reports what came of them, and tells those
 * that are given up. It decides nothing, and nothing of it outlives the call.
 */
import type { CallAction } from '../core/actions.ts';
import type { CallEvent } from '../core/events.ts';
import type { AbandonReason } from '../core/tools/tools-state.ts';
import type { OpenedTools } from '../tools/registry.ts';
import type { ToolRun } from '../tools/tool.ts';
import type { ToolAttempt } from './trace.ts';

export class CallToolRuns {
  #opened: OpenedTools;
  /** Of agents that had the call before: what they have begun goes on. */
  readonly #former: OpenedTools[] = [];
  readonly #tell: (event: CallEvent) => void;
  readonly #traceparent: (run: ToolAttempt) => string | undefined;
  /** By the key that the core gave the call. */
  readonly #runs = new Map<number, ToolRun>();

  constructor(
    opened: OpenedTools,
    tell: (event: CallEvent) => void,
    traceparent: (run: ToolAttempt) => string | undefined = () => undefined,
  ) {
    this.#opened = opened;
    this.#tell = tell;
    this.#traceparent = traceparent;
  }

  /** Tools of another agent. */
  adopt(opened: OpenedTools): void {
    this.#former.push(this.#opened);
    this.#opened = opened;
  }

  run(order: Extract<CallAction, { type: 'tool.run' }>): void {
    const { key, attempt } = order;
    const traced = { ...order, traceparent: this.#traceparent(order) };
    const run = this.#opened.tools.run(traced, (outcome) => {
      if (this.#runs.get(key) === run) this.#runs.delete(key);
      this.#tell({ type: 'tool.settled', key, attempt, outcome });
    });
    this.#runs.set(key, run);
  }

  abandon(key: number, reason: AbandonReason): void {
    this.#runs.get(key)?.cancel(reason);
    this.#runs.delete(key);
  }

  /** The call is over: whatever still runs is told so. */
  close(): void {
    this.#runs.clear();
    for (const opened of [...this.#former, this.#opened]) opened.close();
  }
}
