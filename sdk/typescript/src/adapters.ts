/**
 * Tools that were written for other frameworks, as tools of an agent. Nothing of those frameworks is imported: what counts is the shape
 * that a tool has there. Things that only they have (a room, a pipeline, a frame) are not here.
 */
import { ToolError } from './errors.ts';
import type { Parameters } from './schema.ts';
import type { Session } from './session.ts';
import { declareTool, type Tool, type ToolCall, type ToolOptions } from './tools/tool.ts';

/** What `llm.tool({ name, description, parameters, execute })` of LiveKit Agents for Node makes, as far as it is used here. */
export interface LiveKitTool {
  /** Missing where the key in a table of tools is the name. */
  readonly name?: string;
  readonly description: string;
  readonly parameters?: unknown;
  readonly execute: (args: never, options: never) => unknown;
}

/** LiveKit's `Toolset`. */
export interface LiveKitToolset {
  readonly tools: readonly (LiveKitTool | LiveKitToolset)[];
}

/** What `execute` gets as its second argument. `ctx.userData` is the `data` of the session. */
export interface LiveKitToolOptions {
  readonly ctx: {
    readonly session: Session;
    readonly userData: Record<string, unknown>;
    readonly functionCall: { readonly name: string; readonly callId: string };
    /** The tool runs to its end although the caller goes on; the agent's speech stays interruptible. */
    disallowInterruptions(): void;
  };
  readonly toolCallId: string;
  readonly abortSignal: AbortSignal;
}

/** How a tool is declared beside what it brings along. */
export type ExtraOptions = Omit<ToolOptions, 'name' | 'description' | 'parameters'>;

/**
 * The tools of a LiveKit agent: `{ lookUpWeather: llm.tool({ ... }) }`, or a list of tools with names and of toolsets. `options` says by
 * name what LiveKit has no word for, such as `{ bookTable: { kind: 'side_effect' } }`. Throws a `TypeError` that names the tool and what is wrong.
 */
export function livekitTools(
  tools: Readonly<Record<string, LiveKitTool>> | LiveKitToolset['tools'],
  options: Readonly<Record<string, ExtraOptions>> = {},
): readonly Tool[] {
  const named = isList(tools) ? namedTools(tools) : Object.entries(tools);
  return named.map(([name, { description, parameters, execute }]) =>
    declareTool<Parameters>(
      {
        ...options[name],
        name,
        description,
        ...(parameters !== undefined && { parameters: parameters as Parameters }),
      },
      async (args, call) => {
        try {
          return await execute(args as never, liveKitOptions(call) as never);
        } catch (error) {
          // The model is told nothing, and the tool has not failed.
          if (isMarked(error, 'StopResponse')) return undefined;
          throw isMarked(error, 'tool_error') ? new ToolError(error.message) : error;
        }
      },
    ),
  );
}

const isList = (
  tools: Readonly<Record<string, LiveKitTool>> | LiveKitToolset['tools'],
): tools is LiveKitToolset['tools'] => Array.isArray(tools);

const namedTools = (tools: LiveKitToolset['tools']): (readonly [string, LiveKitTool])[] =>
  tools.flatMap((each) => ('tools' in each ? namedTools(each.tools) : [[each.name ?? '', each] as const]));

function liveKitOptions({ session, name, callId, signal }: ToolCall): LiveKitToolOptions {
  const interruption = new AbortController();
  let runsOn = false;
  signal.addEventListener('abort', () => runsOn || interruption.abort(signal.reason), { once: true });
  return {
    ctx: {
      session,
      userData: session.data,
      functionCall: { name, callId },
      disallowInterruptions: () => void (runsOn = true),
    },
    toolCallId: callId,
    abortSignal: interruption.signal,
  };
}

/** LiveKit tells its errors by symbols. */
const isMarked = (error: unknown, name: string): error is Error =>
  error instanceof Error &&
  Object.getOwnPropertySymbols(error).some(({ description }) => description === name);

/** What a function-call handler of Pipecat gets, with names as they are usual in JavaScript. */
export interface PipecatParams {
  readonly functionName: string;
  readonly toolCallId: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Gives the result; later ones are left out. */
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
