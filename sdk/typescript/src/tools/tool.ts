/** What an application declares as a tool, and what its handler gets. */
import { jsonSchemaOf, type Arguments, type Parameters } from '../schema.ts';
import type { Session } from '../session.ts';
import type { SessionAcceptMessage } from '../wire/agent-messages.ts';
import { limits, times } from '../wire/constants.ts';
import type { ToolCancelMessage } from '../wire/service-messages.ts';

export type ToolDeclaration = NonNullable<SessionAcceptMessage['tools']>[number];
export type CancelReason = ToolCancelMessage['reason'];

/** How a tool is declared (docs/reference/agent-link.md, Tool declaration). */
export interface ToolOptions<P extends Parameters = Parameters> {
  /** 1 to 64 of A-Z a-z 0-9 _ -; not the name of a tool of the service's agent file. */
  readonly name: string;
  /** For the LLM; the service keeps the first 4 KiB. */
  readonly description: string;
  /** A schema of type object: zod or another Standard Schema, or JSON Schema. Absent: no parameters. */
  readonly parameters?: P;
  /** `side_effect` marks a tool that changes the world. Default `read_only`. */
  readonly kind?: 'read_only' | 'side_effect';
  /** side_effect only: held until the caller has confirmed. Default false. */
  readonly confirm?: boolean;
  /** side_effect only: an identical call of the same turn runs again. Default false. */
  readonly repeatable?: boolean;
  /** The service's wait for the result in milliseconds, 1 to 30000. Default 5000. */
  readonly timeoutMs?: number;
  /** Milliseconds without a result after which a filler is spoken; 0: none. Default 700. */
  readonly fillerAfterMs?: number;
}

/** One call of a tool. */
export interface ToolCall {
  readonly session: Session;
  readonly name: string;
  readonly kind: string;
  /** The id that the LLM gave the call. */
  readonly callId: string;
  /** 16 hex digits, the same for every attempt of one call: what a tool with effects gives to the system behind it. */
  readonly idempotencyKey: string;
  readonly epoch: number;
  readonly timeoutMs: number;
  /**
   * Aborts when nobody waits for the result any more, and the tool is read-only. For a tool with effects it stays quiet, because an
   * effect that is cut in half is worse than one that nobody waits for.
   */
  readonly signal: AbortSignal;
  /** Aborts when nobody waits any more, whatever the kind. */
  readonly cancellation: AbortSignal;
  /** Why nobody waits any more; undefined as long as somebody does. */
  readonly cancelled: CancelReason | undefined;
}

/**
 * Runs a tool. A string reaches the LLM as it is, other JSON in compact form, undefined as null. The words of a `ToolError` reach the
 * LLM; of any other error it learns that the tool failed.
 */
export type ToolHandler<P extends Parameters = Parameters> = (args: Arguments<P>, call: ToolCall) => unknown;

/** A declared tool. */
export interface Tool {
  readonly declaration: ToolDeclaration;
  readonly parameters: Parameters;
  readonly handler: (args: never, call: ToolCall) => unknown;
}

const noParameters = { type: 'object', properties: {}, additionalProperties: false } as const;

const isWhole = (value: number, least: number): boolean =>
  Number.isSafeInteger(value) && value >= least && value <= times.toolTimeoutMaxMs;

/** The rule that options break, with the name of the option. */
function brokenRule(options: ToolOptions): string | undefined {
  const { kind = 'read_only', timeoutMs, fillerAfterMs } = options;
  if (kind !== 'read_only' && kind !== 'side_effect') return 'kind: must be read_only or side_effect';
  if (kind === 'read_only' && options.confirm === true) return 'confirm: is for side_effect tools only';
  if (kind === 'read_only' && options.repeatable === true) return 'repeatable: is for side_effect tools only';
  if (timeoutMs !== undefined && !isWhole(timeoutMs, 1))
    return `timeoutMs: must be a whole number from 1 to ${times.toolTimeoutMaxMs}`;
  if (fillerAfterMs !== undefined && !isWhole(fillerAfterMs, 0))
    return `fillerAfterMs: must be a whole number from 0 to ${times.toolTimeoutMaxMs}`;
  return undefined;
}

/** Throws a `TypeError` that names the tool and the option. */
export function declareTool<P extends Parameters>(options: ToolOptions<P>, handler: ToolHandler<P>): Tool {
  const { name, description, kind, confirm, repeatable, timeoutMs, fillerAfterMs } = options;
  if (typeof name !== 'string' || !/^[A-Za-z0-9_-]+$/.test(name) || name.length > limits.toolNameChars)
    throw new TypeError(`a tool: name must have 1 to ${limits.toolNameChars} of A-Z a-z 0-9 _ -`);
  const parameters: Parameters = options.parameters ?? noParameters;
  const rule = brokenRule(options);
  if (rule !== undefined) throw new TypeError(`tool ${name}: ${rule}`);
  try {
    const declaration: ToolDeclaration = {
      name,
      description,
      parameters: jsonSchemaOf(parameters),
      ...(kind !== undefined && { kind }),
      ...(confirm !== undefined && { confirm }),
      ...(repeatable !== undefined && { repeatable }),
      ...(timeoutMs !== undefined && { timeout_ms: timeoutMs }),
      ...(fillerAfterMs !== undefined && { filler_after_ms: fillerAfterMs }),
    };
    return { declaration, parameters, handler };
  } catch (error) {
    throw new TypeError(`tool ${name}: ${error instanceof Error ? error.message : 'bad parameters'}`, {
      cause: error,
    });
  }
}
