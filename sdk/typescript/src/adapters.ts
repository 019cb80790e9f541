/**
 * Tools that were written for other frameworks, as tools of an agent. Nothing of those frameworks is imported: what counts is the shape
 * that a tool has there. What only they have (a room, a pipeline, a frame) is not here.
 */
import type { Parameters } from './schema.ts';
import type { Session } from './session.ts';
import { declareTool, type Tool, type ToolOptions } from './tools/tool.ts';

/** What `llm.tool({ description, parameters, execute })` of LiveKit Agents for Node makes, as far as it is used here. */
export interface LiveKitTool {
  readonly description: string;
  readonly parameters?: unknown;
  readonly execute: (args: never, options: never) => unknown;
}

/** What `execute` gets as its second argument. `ctx.userData` is the `data` of the session. */
export interface LiveKitToolOptions {
  readonly ctx: { readonly session: Session; readonly userData: Record<string, unknown> };
  readonly toolCallId: string;
  readonly abortSignal: AbortSignal;
}

/** How a tool is declared beside what it brings along. */
export type ExtraOptions = Omit<ToolOptions, 'name' | 'description' | 'parameters'>;

/**
 * The tools of a LiveKit agent: `{ lookUpWeather: llm.tool({ ... }) }`. `options` says by name what LiveKit has no word for, such as
 * `{ bookTable: { kind: 'side_effect' } }`. Throws a `TypeError` that names the tool and what is wrong.
 */
export function liveKitTools(
  tools: Readonly<Record<string, LiveKitTool>>,
  options: Readonly<Record<string, ExtraOptions>> = {},
): readonly Tool[] {
  return Object.entries(tools).map(([name, { description, parameters, execute }]) =>
    declareTool<Parameters>(
      {
        ...options[name],
        name,
        description,
        ...(parameters !== undefined && { parameters: parameters as Parameters }),
      },
      (args, { session, callId, signal }) => {
        const given: LiveKitToolOptions = {
          ctx: { session, userData: session.data },
          toolCallId: callId,
          abortSignal: signal,
        };
        return execute(args as never, given as never);
      },
    ),
  );
}

/** What a function-call handler of Pipecat gets, with names as they are usual in JavaScript. */
export interface PipecatParams {
  readonly functionName: string;
  readonly toolCallId: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Gives the result; what comes after the first is left out. */
  readonly resultCallback: (result: unknown) => Promise<void>;
}

/**
 * A tool out of a handler in Pipecat's style: the result is what `resultCallback` gets, or else what the handler returns.
 * Throws a `TypeError` that names the tool and what is wrong.
 */
export function pipecatTool(options: ToolOptions, handler: (params: PipecatParams) => unknown): Tool {
  return declareTool<Parameters>(options, (args, { name, callId, cancellation }) => {
    return new Promise((resolve, reject) => {
      cancellation.addEventListener('abort', () => reject(new Error('cancelled')), { once: true });
      const params: PipecatParams = {
        functionName: name,
        toolCallId: callId,
        arguments: args as Readonly<Record<string, unknown>>,
        resultCallback: (result) => {
          resolve(result);
          return Promise.resolve();
        },
      };
      Promise.resolve()
        .then(() => handler(params))
        .then((result) => resolve(result), reject);
    });
  });
}
