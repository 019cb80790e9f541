/**
 * Reads an agent's answer to `session.start` (docs/reference/agent-link.md, `session.accept`). Of an acceptance each part that is not right is a
 * problem of its own, and the call goes on with the others.
 */
import type * as z from 'zod';
import { exactWhereNeeded } from '../base/decimal.ts';
import { present, withoutNulls } from '../base/present.ts';
import { isTable } from '../config/table.ts';
import {
  sessionAcceptShape,
  sessionRejectSchema,
  toolDeclarationSchema,
  type LinkToolDeclaration,
} from './agent-messages.ts';
import { invalid, isTooDeep, ruleIn, withPlainNumbers, type MessageFields } from './decode.ts';
import type { AgentLinkFault } from './errors.ts';
import { alwaysSentEvents, isConversationEventType, type ConversationEventType } from './events.ts';
import { contextMessageSchema, cutTo, type LinkContextMessage } from './fields.ts';
import { agentLinkLimits as limits } from './limits.ts';

/** An accepted handshake with what is right of it; each other part is a problem that does not prevent the call. */
export interface ReadAccept {
  readonly version: number;
  readonly tools: readonly LinkToolDeclaration[];
  readonly systemPrompt?: string;
  readonly context: readonly LinkContextMessage[];
  readonly greeting?: string;
  /** As they were sent; nothing of them is believed yet. */
  readonly overrides?: Readonly<Record<string, unknown>>;
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
export function readAnswer(sent: MessageFields, versions: readonly number[]): ReadAnswer {
  if (isTooDeep(sent)) return { kind: 'fault', fault: { code: 'too_deep' } };
  const fields = withSchemas(withoutNulls(withPlainNumbers(sent)), sent);
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

/** The limits of a tool's arguments keep every digit: order and card numbers are compared with them. */
function withSchemas(fields: MessageFields, sent: MessageFields): MessageFields {
  const given = sent['tools'];
  if (!Array.isArray(fields['tools']) || !Array.isArray(given)) return fields;
  const tools = fields['tools'].map((tool: unknown, at) => {
    const whole: unknown = given[at];
    return isTable(tool) && isTable(whole) && isTable(whole['parameters'])
      ? { ...tool, parameters: exactWhereNeeded(whole['parameters']) }
      : tool;
  });
  return { ...fields, tools };
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
  const overrides = read('overrides');
  return {
    version,
    tools,
    context,
    resume: read('resume') ?? false,
    ...present({ systemPrompt, greeting, overrides, events, lastSeq }),
    problems,
  };
}

/** The entries of a list up to its limit; an excess is told once. */
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
  const read = toolDeclarationSchema.safeParse(isTable(entry) ? withoutNulls(entry) : entry);
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
