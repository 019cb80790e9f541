/**
 * How a tool is run. A runner reports each run exactly once through its sink, never from inside `run`, and not at all
 * after `cancel`. Results are data of bounded size for the LLM; nobody here acts on what they say. A runner never tries
 * again on its own: the machine in core/tools.ts decides that.
 */
import type { Millis } from '../../shared/base/units.ts';

/** Bytes of an answer that are read (spec 02, Limits: message size). */
export const mostResultBytes = 65_536;

export interface ToolRunRequest {
  readonly id: string;
  readonly name: string;
  /** Valid by the tool's schema. */
  readonly arguments: Readonly<Record<string, unknown>>;
  /** 16 hex digits. */
  readonly idempotencyKey: string;
  readonly timeoutMs: Millis;
}

/** `transport`: the tool itself gave no answer, so that one that only reads may be tried again. */
export type ToolReport =
  | { readonly kind: 'result'; readonly text: string }
  | { readonly kind: 'failed'; readonly message: string; readonly transport: boolean };

export interface ToolRun {
  /** Stops waiting; what was sent may have had its effect. */
  cancel(): void;
}

export interface ToolRunner {
  run(request: ToolRunRequest, sink: (report: ToolReport) => void): ToolRun;
}
