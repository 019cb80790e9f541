/**
 * Reads what an agent sends while the call runs. A fault names the field and the rule and holds nothing of what was received; unknown fields are
 * ignored (docs/reference/agent-link.md). Never throws.
 */
import type * as z from 'zod';
import { parseJson, plainNumbers } from '../base/exact-json.ts';
import { withoutNulls } from '../base/present.ts';
import { fail, ok, type Result } from '../base/result.ts';
import { isDeeperThan } from '../base/nesting.ts';
import { utf8Bytes } from '../protocol/call.ts';
import {
  agentCommandSchemas,
  agentMessageSchemas,
  toolResultSchema,
  type AgentCommand,
  type AgentMessageOf,
} from './agent-messages.ts';
import type { AgentLinkFault } from './errors.ts';
import { agentLinkLimits as limits } from './limits.ts';

export type MessageFields = Readonly<Record<string, unknown>> & { readonly type: string };

/** One text frame as an object with a type, with every digit of its numbers. */
export function readFrame(text: string): Result<MessageFields, AgentLinkFault> {
  let parsed: unknown;
  try {
    parsed = parseJson(text);
  } catch {
    return fail({ code: 'invalid_json' });
  }
  const isObject = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
  if (!isObject || typeof Reflect.get(parsed as object, 'type') !== 'string')
    return fail({ code: 'invalid_json' });
  return ok(parsed as MessageFields);
}

const typeNames: Readonly<Record<string, string>> = {
  int: 'an integer',
  number: 'a number',
  string: 'a string',
  boolean: 'true or false',
  array: 'an array',
  record: 'an object',
  object: 'an object',
};

function ruleOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${typeNames[issue.expected] ?? issue.expected}`;
    case 'too_small':
      return `must be at least ${issue.minimum.toString()}`;
    case 'too_big':
      return issue.origin === 'array'
        ? `must have at most ${issue.maximum.toString()} entries`
        : `must be at most ${issue.maximum.toString()}`;
    case 'invalid_value':
      return `must be one of ${issue.values.map(String).join(', ')}`;
    case 'invalid_format':
    case 'custom':
      return issue.message;
    default:
      return 'has the wrong shape';
  }
}

/** `context[3].text must not be empty`. */
export function ruleIn(error: z.ZodError, at: string): string {
  const issue = error.issues[0];
  if (issue === undefined) return `${at} is invalid`;
  const path = issue.path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('');
  return `${at}${path} ${ruleOf(issue)}`;
}

export type ReadCommand =
  | { readonly kind: 'command'; readonly command: AgentCommand }
  | { readonly kind: 'result'; readonly result: AgentMessageOf<'tool.result'> }
  /** Answered to the command's id where it has one that can be echoed. */
  | { readonly kind: 'fault'; readonly fault: AgentLinkFault; readonly id: string | undefined };

/** Reads a message of a call that runs. */
export function readCommand(fields: MessageFields): ReadCommand {
  const { type } = fields;
  const id = echoedId(fields['id']);
  if (isTooDeep(fields)) return { kind: 'fault', fault: { code: 'too_deep' }, id };
  if (type === 'tool.result') {
    const read = toolResultSchema.safeParse(withoutNull(withoutData(fields, 'result')));
    if (read.success) return { kind: 'result', result: withData(read.data, fields, 'result') };
    return { kind: 'fault', fault: invalid(ruleIn(read.error, type)), id: undefined };
  }
  if (Object.hasOwn(agentCommandSchemas, type)) {
    const schema = agentCommandSchemas[type as AgentCommand['type']];
    const given = withoutData(fields, 'data');
    const asSent = schema.safeParse(given);
    // In `tools.set` null means something; elsewhere it stands for a field that is not there.
    const read = asSent.success ? asSent : schema.safeParse(withoutNulls(given));
    if (!read.success) return { kind: 'fault', fault: invalid(ruleIn(read.error, type)), id };
    const command = read.data.type === 'client.send' ? withData(read.data, fields, 'data') : read.data;
    return { kind: 'command', command };
  }
  const code = Object.hasOwn(agentMessageSchemas, type) ? 'unexpected_message' : 'unknown_type';
  return { kind: 'fault', fault: { code }, id };
}

/** The message as its declaration knows it. */
export const withPlainNumbers = (fields: MessageFields): MessageFields =>
  plainNumbers(fields) as MessageFields;

/** Any JSON may be the data of a message: nobody looks into it, and it keeps every digit. */
function withoutData(fields: MessageFields, data: string): MessageFields {
  const isThere = fields[data] !== undefined && fields[data] !== null;
  return withPlainNumbers(isThere ? { ...fields, [data]: '' } : fields);
}

const withData = <T extends object>(read: T, sent: MessageFields, data: keyof T & string): T =>
  read[data] === undefined ? read : { ...read, [data]: sent[data] };

/** Of an answer's two fields many a language writes the one that is not meant as `null`. */
function withoutNull(fields: MessageFields): MessageFields {
  const { result, error, ...others } = fields;
  if (error === null && result !== undefined) return { ...others, type: fields.type, result };
  if (result === null && typeof error === 'string') return { ...others, type: fields.type, error };
  return fields;
}

/** Functions walk through a message by calling themselves: a deep one must not cost the call its stack. */
export const isTooDeep = (fields: MessageFields): boolean => isDeeperThan(fields, limits.nestedLevels);

export const invalid = (message: string): AgentLinkFault => ({ code: 'invalid_message', message });

const echoedId = (id: unknown): string | undefined =>
  typeof id === 'string' && utf8Bytes(id) <= limits.commandIdBytes ? id : undefined;
