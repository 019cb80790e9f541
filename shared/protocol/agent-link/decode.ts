/**
 * Reads what an agent sends. A fault names the field and the rule and holds nothing of what was received; unknown fields are
 * ignored (spec 02, Errors and Versioning). Never throws.
 */
import type * as z from 'zod';
import { fail, ok, type Result } from '../../base/result.ts';
import { isDeeperThan } from '../../base/nesting.ts';
import { utf8Bytes } from '../call.ts';
import {
  agentCommandSchemas,
  agentMessageSchemas,
  sessionAcceptShape,
  sessionRejectSchema,
  toolDeclarationSchema,
  toolResultSchema,
  type AgentCommand,
  type AgentMessageOf,
  type LinkToolDeclaration,
} from './agent-messages.ts';
import type { AgentLinkFault } from './errors.ts';
import { alwaysSentEvents, isConversationEventType, type ConversationEventType } from './events.ts';
import { contextMessageSchema, cutTo, type LinkContextMessage } from './fields.ts';
import { agentLinkLimits as limits } from './limits.ts';

export type MessageFields = Readonly<Record<string, unknown>> & { readonly type: string };

/** One text frame as an object with a type. */
export function readFrame(text: string): Result<MessageFields, AgentLinkFault> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
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
function ruleIn(error: z.ZodError, at: string): string {
  const issue = error.issues[0];
  if (issue === undefined) return `${at} is invalid`;
  const path = issue.path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('');
  return `${at}${path} ${ruleOf(issue)}`;
}

// ---- while the call runs -------------------------------------------------------------------------------------------

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
    const read = toolResultSchema.safeParse(withoutNull(fields));
    if (read.success) return { kind: 'result', result: read.data };
    return { kind: 'fault', fault: invalid(ruleIn(read.error, type)), id: undefined };
  }
  if (Object.hasOwn(agentCommandSchemas, type)) {
    const read = agentCommandSchemas[type as AgentCommand['type']].safeParse(fields);
    if (read.success) return { kind: 'command', command: read.data };
    return { kind: 'fault', fault: invalid(ruleIn(read.error, type)), id };
  }
  const code = Object.hasOwn(agentMessageSchemas, type) ? 'unexpected_message' : 'unknown_type';
  return { kind: 'fault', fault: { code }, id };
}

/** Of an answer's two fields many a language writes the one that is not meant as `null`. */
function withoutNull(fields: MessageFields): MessageFields {
  const { result, error, ...others } = fields;
  if (error === null && result !== undefined) return { ...others, type: fields.type, result };
  if (result === null && typeof error === 'string') return { ...others, type: fields.type, error };
  return fields;
}

/** Whatever walks through a message does it by calling itself: that must not cost the call its stack. */
const isTooDeep = (fields: MessageFields): boolean => isDeeperThan(fields, limits.nestedLevels);

const invalid = (message: string): AgentLinkFault => ({ code: 'invalid_message', message });

const echoedId = (id: unknown): string | undefined =>
  typeof id === 'string' && utf8Bytes(id) <= limits.commandIdBytes ? id : undefined;

// ---- the handshake -------------------------------------------------------------------------------------------------

/** An accepted handshake with what is right of it; what is not is a problem that does not prevent the call. */
export interface ReadAccept {
  readonly version: number;
  readonly tools: readonly LinkToolDeclaration[];
  readonly systemPrompt?: string;
  readonly context: readonly LinkContextMessage[];
  readonly greeting?: string;
  readonly resume: boolean;
  /** Absent: all. */
  readonly events?: readonly ConversationEventType[];
  readonly lastSeq?: number;
  readonly problems: readonly AgentLinkFault[];
}

export type ReadAnswer =
  | { readonly kind: 'accept'; readonly accept: ReadAccept }
  | { readonly kind: 'reject'; readonly code: string; readonly message: string }
  /** No answer that the handshake could go on with. */
  | { readonly kind: 'fault'; readonly fault: AgentLinkFault };

/** Reads the first message of an agent. */
export function readAnswer(fields: MessageFields, versions: readonly number[]): ReadAnswer {
  if (isTooDeep(fields)) return { kind: 'fault', fault: { code: 'too_deep' } };
  if (fields.type === 'session.reject') {
    const read = sessionRejectSchema.safeParse(fields);
    return read.success
      ? { kind: 'reject', code: read.data.code, message: read.data.message }
      : { kind: 'reject', code: '', message: '' };
  }
  if (fields.type !== 'session.accept')
    return { kind: 'fault', fault: invalid('the first message must be session.accept or session.reject') };
  const version = sessionAcceptShape.version.safeParse(fields['version']);
  if (!version.success)
    return { kind: 'fault', fault: invalid(ruleIn(version.error, 'session.accept.version')) };
  if (!versions.includes(version.data))
    return {
      kind: 'fault',
      fault: {
        code: 'unsupported_version',
        message: `session.accept.version must be one of ${versions.join(', ')}`,
      },
    };
  return { kind: 'accept', accept: readAcceptFields(fields, version.data) };
}

function readAcceptFields(fields: MessageFields, version: number): ReadAccept {
  const problems: AgentLinkFault[] = [];
  const read = <K extends keyof typeof sessionAcceptShape>(
    key: K,
  ): z.output<(typeof sessionAcceptShape)[K]> | undefined => {
    if (fields[key] === undefined) return undefined;
    const parsed = sessionAcceptShape[key].safeParse(fields[key]);
    if (parsed.success) return parsed.data as z.output<(typeof sessionAcceptShape)[K]>;
    problems.push(invalid(ruleIn(parsed.error, key)));
    return undefined;
  };
  const [systemPrompt, greeting, lastSeq] = [read('system_prompt'), read('greeting'), read('last_seq')];
  const context = listOf(fields['context'], {
    at: 'context',
    most: limits.contextMessages,
    problems,
  }).flatMap((entry, at) => readContext(entry, { at, problems }));
  const tools = listOf(fields['tools'], { at: 'tools', most: limits.tools, problems }).flatMap((entry, at) =>
    readTool(entry, { at, problems }),
  );
  const events = readEvents(fields['events'], problems);
  return {
    version,
    tools,
    ...(systemPrompt !== undefined && { systemPrompt }),
    context,
    ...(greeting !== undefined && { greeting }),
    resume: read('resume') ?? false,
    ...(events !== undefined && { events }),
    ...(lastSeq !== undefined && { lastSeq }),
    problems,
  };
}

/** The entries of a list up to its limit; what is beyond is told once. */
function listOf(
  value: unknown,
  { at, most, problems }: { at: string; most: number; problems: AgentLinkFault[] },
): readonly unknown[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) {
    problems.push(invalid(`${at} must be an array`));
    return [];
  }
  if (value.length > most)
    problems.push({
      code: 'too_many',
      message: `${at} must have at most ${most} entries; the rest was left out`,
    });
  return value.slice(0, most);
}

interface EntrySite {
  readonly at: number;
  readonly problems: AgentLinkFault[];
}

function readContext(entry: unknown, { at, problems }: EntrySite): LinkContextMessage[] {
  const read = contextMessageSchema.safeParse(entry);
  if (read.success) return [read.data];
  const text: unknown = typeof entry === 'object' && entry !== null ? Reflect.get(entry, 'text') : undefined;
  const isEmpty = typeof text === 'string' && text.trim() === '';
  const rule = ruleIn(read.error, `context[${at}]`);
  problems.push(isEmpty ? { code: 'empty_context_message', message: rule } : invalid(rule));
  return [];
}

function readTool(entry: unknown, { at, problems }: EntrySite): LinkToolDeclaration[] {
  const read = toolDeclarationSchema.safeParse(entry);
  if (!read.success) {
    problems.push({ code: 'tool_refused', message: ruleIn(read.error, `tools[${at}]`) });
    return [];
  }
  return [{ ...read.data, description: cutTo(read.data.description, limits.toolDescriptionBytes) }];
}

function readEvents(value: unknown, problems: AgentLinkFault[]): ConversationEventType[] | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) {
    problems.push(invalid('events must be an array'));
    return undefined;
  }
  const entries = listOf(value, { at: 'events', most: limits.eventTypes, problems });
  const known: ConversationEventType[] = [];
  entries.forEach((name, at) => {
    if (typeof name !== 'string') problems.push(invalid(`events[${at}] must be a string`));
    else if (isConversationEventType(name)) known.push(name);
    else if (!isAlwaysSent(name))
      problems.push({ code: 'unknown_event', message: `events[${at}] is not part of the protocol` });
  });
  return known;
}

/** Names that need not stand in the list, and may. */
const isAlwaysSent = (name: string): boolean =>
  name.startsWith('session.') || alwaysSentEvents.some((sent) => sent === name);
