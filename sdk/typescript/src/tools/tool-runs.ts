/**
 * The tool calls of one call. Each is answered exactly once, unless the service stopped waiting: then nothing is sent. Answers are kept
 * for a while, for a link that breaks before the service has read them.
 */
import { fitsLink } from '../commands.ts';
import { ToolError } from '../errors.ts';
import type { Logger } from '../log.ts';
import { reacting } from '../reaction.ts';
import { checkArguments } from '../schema.ts';
import type { Session } from '../session.ts';
import { limits } from '../wire/constants.ts';
import type { CancelReason, Tool, ToolCall } from './tool.ts';
import type { ToolCallMessage } from '../wire/service-messages.ts';

const mostRunning = 64;
const mostKept = 64;

type Outcome = { readonly result: unknown } | { readonly error: string };

interface Run {
  readonly call: ToolCall;
  readonly stop: (reason: CancelReason) => void;
}

const failed: Outcome = { error: 'the tool failed' };

export interface ToolRunsOptions {
  readonly session: Session;
  readonly tools: readonly Tool[];
  readonly logger: Logger;
  /** Sends at once, or does nothing while there is no link. */
  readonly write: (text: string) => void;
}

export class ToolRuns {
  readonly #options: ToolRunsOptions;
  readonly #running = new Map<number, Run>();
  /** The newest answers as they were written, by the id of their call. */
  readonly #answers = new Map<number, string>();

  constructor(options: ToolRunsOptions) {
    this.#options = options;
  }

  start(message: ToolCallMessage, seq: number): void {
    const { id, name } = message;
    if (this.#running.has(id) || this.#answers.has(id)) return;
    const { logger, session, tools } = this.#options;
    const tool = tools.find(({ declaration }) => declaration.name === name);
    if (tool === undefined) {
      logger.warn('the service called a tool that was not declared', { session: session.id });
      this.#answer(id, seq, { error: 'no tool of this name is offered' });
    } else if (this.#running.size >= mostRunning) {
      logger.warn('too many tools run at once', { session: session.id, limit: mostRunning });
      this.#answer(id, seq, { error: 'too many tools run at once' });
    } else {
      const run = runOf(message, session);
      this.#running.set(id, run);
      void this.#perform(tool, { run, message, seq });
    }
  }

  cancel(id: number, reason: CancelReason): void {
    this.#running.get(id)?.stop(reason);
  }

  /** The service waits only for these any more. */
  settleOthers(pending: readonly number[] | undefined): void {
    if (pending === undefined) return;
    for (const [id, run] of this.#running) if (!pending.includes(id)) run.stop('abandoned');
  }

  /** Answers that the service still waits for. */
  sendAgain(pending: readonly number[] | undefined): void {
    for (const [id, text] of this.#answers)
      if (pending === undefined || pending.includes(id)) this.#options.write(text);
  }

  close(): void {
    this.settleOthers([]);
  }

  async #perform(
    tool: Tool,
    { run, message, seq }: { run: Run; message: ToolCallMessage; seq: number },
  ): Promise<void> {
    const { session } = this.#options;
    const outcome = await reacting({ session, seq }, () => this.#outcome(tool, run.call, message));
    this.#running.delete(message.id);
    if (run.call.cancelled === undefined) this.#answer(message.id, seq, outcome);
    else if (message.kind === 'side_effect')
      this.#options.logger.info('a tool with effects ended after nobody waited any more', {
        session: session.id,
        tool: message.name,
        outcome: 'error' in outcome ? 'failed' : 'done',
      });
  }

  async #outcome(tool: Tool, call: ToolCall, message: ToolCallMessage): Promise<Outcome> {
    try {
      const checked = await checkArguments(tool.parameters, message.arguments);
      if ('problem' in checked) return { error: `invalid arguments: ${checked.problem}` };
      const result: unknown = await tool.handler(checked.value as never, call);
      return { result: result ?? null };
    } catch (error) {
      if (error instanceof ToolError) return { error: error.message };
      if (call.signal.aborted) return failed;
      this.#options.logger.error('a tool failed', { session: call.session.id, tool: call.name, error });
      return failed;
    }
  }

  #answer(id: number, re: number, outcome: Outcome): void {
    const text = this.#written(id, re, outcome);
    this.#answers.set(id, text);
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > mostKept && oldest !== undefined) this.#answers.delete(oldest);
    this.#options.write(text);
  }

  #written(id: number, re: number, outcome: Outcome): string {
    const write = (what: Outcome): string => JSON.stringify({ type: 'tool.result', id, re, ...what });
    const { logger, session } = this.#options;
    try {
      const text = write(outcome);
      // A value that JSON leaves out (a function, a symbol) would leave neither a result nor an error.
      if (fitsLink(text) && isShallow(JSON.parse(text)) && /"(result|error)":/.test(text)) return text;
      logger.error('a tool gave what no message can hold', { session: session.id });
    } catch (error) {
      logger.error('a tool gave what is no JSON', { session: session.id, error });
    }
    return write({ error: 'the result of the tool cannot be sent' });
  }
}

/** Whether the service would read it: a message nests so many levels at most. */
const isShallow = (value: unknown, levels: number = limits.nestedLevels): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (levels > 0 && Object.values(value).every((inner) => isShallow(inner, levels - 1)));

function runOf(message: ToolCallMessage, session: Session): Run {
  const [work, cancellation] = [new AbortController(), new AbortController()];
  let cancelled: CancelReason | undefined;
  return {
    call: {
      session,
      name: message.name,
      kind: message.kind,
      callId: message.call_id,
      idempotencyKey: message.idempotency_key,
      epoch: message.epoch,
      timeoutMs: message.timeout_ms,
      signal: work.signal,
      cancellation: cancellation.signal,
      get cancelled() {
        return cancelled;
      },
    },
    stop: (reason) => {
      cancelled ??= reason;
      const error = new Error(`the call of the tool was cancelled: ${reason}`);
      if (message.kind !== 'side_effect') work.abort(error);
      cancellation.abort(error);
    },
  };
}
