/**
 * Tells what becomes of tool calls: asked for, run, answered. Every result is told once, at the moment it comes; a call that is
 * not run is told when the LLM learns why.
 */
import type { Millis } from '../../shared/base/units.ts';
import type { RequestedCall, ToolOutcome, ToolPair } from '../../worker/core/tools/tools-state.ts';
import type { ConversationSink } from './conversation.ts';

export interface ToolWatchOptions {
  readonly emit: ConversationSink;
  readonly now: () => Millis;
  /** Whether the core performs a tool itself, which is not ordered to run. */
  readonly isOwn: (name: string) => boolean;
}

export class ToolWatch {
  readonly #options: ToolWatchOptions;
  readonly #running = new Map<number, { readonly call: RequestedCall; readonly at: Millis }>();
  /** Ids of calls of the present rounds that have ended: how long they ran, and whether their result was told. */
  readonly #ended = new Map<string, { readonly tookMs: Millis; readonly isTold: boolean }>();

  constructor(options: ToolWatchOptions) {
    this.#options = options;
  }

  get isBusy(): boolean {
    return this.#running.size > 0;
  }

  asked(calls: readonly RequestedCall[]): void {
    for (const { id, name, arguments: text } of calls)
      this.#options.emit({ type: 'tool.called', id, name, arguments: text });
  }

  started(key: number, call: RequestedCall): void {
    this.#running.set(key, { call, at: this.#options.now() });
    this.#options.emit({ type: 'tool.started', id: call.id });
  }

  settled(key: number, outcome: ToolOutcome): void {
    const run = this.#end(key);
    if (run === undefined || outcome.kind !== 'result') return;
    const { call, tookMs } = run;
    this.#ended.set(call.id, { tookMs, isTold: true });
    this.#options.emit({ type: 'tool.result', id: call.id, name: call.name, text: outcome.text, tookMs });
  }

  abandoned(key: number): void {
    this.#end(key);
  }

  /** What the LLM is told of a whole round, or of one that was cut. A tool that still runs is told when it has ended. */
  answered(pairs: readonly ToolPair[]): void {
    const running = new Set([...this.#running.values()].map(({ call }) => call.id));
    for (const { call, text } of pairs) {
      const { id, name } = call;
      if (running.has(id)) continue;
      const ended = this.#ended.get(id);
      this.#ended.delete(id);
      if (ended?.isTold === true) continue;
      if (this.#options.isOwn(name) && !text.startsWith('{"error"'))
        this.#options.emit({ type: 'tool.started', id });
      this.#options.emit({ type: 'tool.result', id, name, text, tookMs: ended?.tookMs });
    }
  }

  #end(key: number): { readonly call: RequestedCall; readonly tookMs: Millis } | undefined {
    const run = this.#running.get(key);
    if (run === undefined) return undefined;
    this.#running.delete(key);
    const tookMs = this.#options.now() - run.at;
    this.#ended.set(run.call.id, { tookMs, isTold: false });
    return { call: run.call, tookMs };
  }
}
