/** The reference page of the agent link: every table comes from the declarations beside this file. */
import * as z from 'zod';
import { agentMessageSchemas, toolDeclarationSchema } from '../../shared/agent-link/agent-messages.ts';
import { agentLinkErrors } from '../../shared/agent-link/errors.ts';
import { envelopeShape } from '../../shared/agent-link/events.ts';
import { agentLinkBacklog, agentLinkLimits, agentLinkTimes } from '../../shared/agent-link/limits.ts';
import { serviceMessageSchemas } from '../../shared/agent-link/service-messages.ts';

interface FieldSchema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly FieldSchema[];
  readonly items?: FieldSchema;
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly required?: readonly string[];
  readonly default?: unknown;
  readonly description?: string;
}

const schemaOf = (schema: z.ZodType): FieldSchema =>
  z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as FieldSchema;

function typeOf({ type, enum: values, anyOf, items, properties }: FieldSchema): string {
  if (values !== undefined) return values.map((value) => `\`${String(value)}\``).join(', ');
  if (anyOf !== undefined) return [...new Set(anyOf.map(typeOf))].join(' or ');
  if (type === 'array' && items !== undefined) return `array of ${typeOf(items)}`;
  if (type === 'object' && properties !== undefined) return `{${Object.keys(properties).join(', ')}}`;
  return type ?? 'any JSON';
}

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n');
}

function fieldRows({ properties = {}, required = [] }: FieldSchema): string[][] {
  return Object.entries(properties)
    .filter(([name]) => name !== 'type')
    .map(([name, field]) => {
      const presence =
        field.default !== undefined
          ? `default \`${JSON.stringify(field.default)}\``
          : required.includes(name)
            ? 'always'
            : 'optional';
      return [`\`${name}\``, typeOf(field), presence, field.description ?? ''];
    });
}

function messageSection([type, schema]: readonly [string, z.ZodType]): string {
  const described = schemaOf(schema);
  const rows = fieldRows(described);
  const fields = rows.length === 0 ? '' : `\n\n${table(['Field', 'Type', 'Present', 'Meaning'], rows)}`;
  return `### \`${type}\`\n\n${described.description ?? ''}${fields}\n`;
}

const sections = (schemas: Readonly<Record<string, z.ZodType>>): string =>
  Object.entries(schemas).map(messageSection).join('\n');

const kib = (bytes: number): string => `${bytes / 1024} KiB`;

const numbers = (values: Readonly<Record<string, number>>, unit: (name: string) => string): string[][] =>
  Object.entries(values).map(([name, value]) => [`\`${name}\``, String(value), unit(name)]);

const unitOf = (name: string): string =>
  name.endsWith('Ms') ? 'ms' : name.endsWith('Bytes') ? 'bytes' : name.endsWith('Chars') ? 'characters' : '';

const howItGoes = `# The agent link, version 1

Generated from the declarations in \`shared/agent-link\`; \`npm run docs\` writes it anew.

The service connects out to an application process, the agent: one WebSocket per call, on which the service is the client. Each message
is one text frame with one JSON object and a \`type\`. Unknown fields are ignored by both sides; \`null\` counts as a field that is absent, but in \`tools.set\`. How the address is configured stands in
[the agent file](agent-file.md) (\`[agent_link]\`) and in [the server settings](server-settings.md) (\`SVC_AGENT_*\`).

## How a call goes

1. The service connects (${agentLinkTimes.connectMs} ms), sends \`session.start\`, and waits for the answer (${agentLinkTimes.handshakeMs} ms from the
   connection). The caller hears silence meanwhile, and what the caller says is kept and heard afterwards.
2. \`session.accept\` starts the call with the agent's prompt, context, greeting and tools, taken word for word. In every other case (no
   connection, no answer in time, \`session.reject\`, a version that was not offered, another first message) the call runs on the
   agent file alone. An agent never fails a call.
3. What is wrong in an accepted handshake without preventing the call is left out, and reported as an \`error\` event of stage
   \`agent_link\`.
4. The service pings every ${agentLinkTimes.pingIntervalMs / 1000} s. After ${agentLinkTimes.downAfterMs / 1000} s without a message or a pong the link is down, and the call
   goes on alone with what it was started with; its remote tools answer \`${agentLinkErrors.unavailable}\`.
5. \`session.end\` is the last message; then the service closes the link. Only a call that dies with its worker has no \`session.end\`: one whose
   second worker hung or crashed, or one that nobody could take up. Its link breaks and is not opened anew. An agent that has heard nothing for
   60 s (\`resumeLimitMs\`) takes the call for over; both SDKs then say \`session.end\` with the reason \`link_lost\`.

A line of the agent (\`say\`, the greeting, the farewell) is a turn of its own, which the caller may interrupt. Lines wait in order, at most ${agentLinkLimits.waitingLines},
while the caller speaks or a response runs. With \`interrupt\` a \`say\` takes the place of the lines that wait (\`dropped\`) and cuts the response; it cuts
neither the caller nor a farewell.

The agent's \`error\` events start with the code. A command with an \`id\` is answered by one \`command.result\`; one whose id came before is
not done again and is answered the same (the newest ${agentLinkLimits.rememberedCommands} ids are remembered). \`done\` means: a line begins to be spoken, an edit
is taken and in force from the next response on, the call is being ended, the carrier has taken the transfer. A name in \`tools.set\` that is
no tool of the call changes nothing and is reported by an \`error\` event \`unknown_tool\`. \`transfer\` is refused \`unsupported\` where \`capabilities.transfer\` is false; it waits for the agent's sentence to end, then the
carrier is asked once: \`transfer_failed\` says that nothing has happened, \`outcome_unknown\` that it may have: the same cold transfer by the same \`id\` then asks the
carrier again, under the same key.
`;

const order = `## The order of events

Events come in the order in which things happened, numbered by \`seq\` from the opening of the link. A reader can rely on this:

- \`turn.user_started\` opens a turn of the caller, \`turn.user_ended\` closes it; at most one \`user.text\` of the turn stands behind that.
- Each \`bot.llm_started\` is followed by one \`bot.llm_stopped\`; the \`bot.text\` of a round stands between them.
- \`turn.bot_started\` of an epoch comes before its \`turn.bot_ended\`, which is missing when the response was cut.
- \`turn.interrupted\` carries the new epoch; what comes afterwards with an older epoch belongs to what was cut.
- \`tool.call\` comes before its \`tool.cancel\`; a result that comes after that, or twice, is ignored.
- A caller who goes on cancels the \`read_only\` calls of the response. A \`side_effect\` call is still waited for: its outcome reaches the LLM with the next
  response, so that it is cancelled by its timeout and by the end of the call alone.
- \`command.result\`, \`error\` and \`user.transcript\` may stand anywhere. \`events.lost\` stands where events are missing.
- The answers to commands that were still open when the call ended stand before \`session.end\`.
`;

const lines = `## Lines

A line of the agent (\`session.accept.greeting\`, \`say\`, the farewell of \`end\`) is a turn with an epoch of its own. The caller can interrupt it
like an answer. The conversation keeps the part that the caller heard.

A line waits while the caller speaks or a response runs. Up to ${agentLinkLimits.waitingLines} lines wait, in order; one more is refused \`queue_full\`.
With \`interrupt\` a line drops the lines that wait before it and cuts a running response. It never cuts the caller.
`;

const clients = `## Messages of a client

The program of a caller, a page for example, and the agent may tell each other things that are no part of the conversation. This is an extension: an
agent that knows nothing of it leaves \`client.message\` unread, or does not have it in \`session.accept.events\`. A client whose message no agent gets
(there is none, the link is broken for good or does not read, the message is nested too deeply or too large) is told so by its transport. \`client.send\` gives the
client any JSON; with \`answers\` it is the answer to that message. Where the transport has no such messages it is refused \`unsupported\`;
those that have them say so ([RTVI](../rtvi.md)).
`;

const slowness = `## An agent that reads slowly

What the kernel has not taken of a link decides: above ${kib(agentLinkBacklog.dropDeltasBytes)} interim transcripts, \`bot.text\` and \`bot.tts_text\` are left
out, above ${kib(agentLinkBacklog.dropEventsBytes)} every event that \`session.accept.events\` chooses among. \`session.*\`, \`tool.*\`, \`command.result\` and \`error\`
are never left out. The next message that is written follows an \`events.lost\` with the count. Above ${kib(agentLinkBacklog.closeBytes)} the link is
closed and the call goes on alone. A message that would be larger than ${kib(agentLinkLimits.messageBytes)} is left out and counted, too.
`;

const fastness = `## An agent that sends much

Of one call 100 messages are taken in at once, and 50 a second for longer; a message above 8 KiB counts by its size, a ping or pong as one message. What is more waits and is
done in order: the service reads that connection more slowly, so that the agent's own writes wait in the end. The agent is told once by an \`error\`
event \`too_fast\`. Nothing is left out while there is a link, and other calls of the same agent have connections, and allowances, of their own.
`;

const resume = `## Resume

An agent that keeps the call's state sends \`resume: true\` in \`session.accept\`; one that does not never sees anything of this.

When the link breaks, or the worker that had the call dies, the call goes on and the service connects again: at once, then after pauses
of ${agentLinkTimes.resumeFirstPauseMs} ms that double up to ${agentLinkTimes.resumeLongestPauseMs} ms. A link that is opened anew begins as every
link does, with \`session.start\` and numbers from 1; its \`resume\` says how often that was tried, for how long there was no link, and the number of the newest message of the link before. The agent answers with
\`session.accept\`: \`version\`, and \`last_seq\` where it knows what it saw of the link before; other fields do not count. What follows:

1. With \`last_seq\`, the messages behind it that were written before the break and are kept: the
   newest ${agentLinkBacklog.replayMessages} and ${kib(agentLinkBacklog.replayBytes)}, deltas not among them. Another worker has none of them.
2. What happened without a link: events within the same bounds, without deltas, and every control message. What is
   not there is counted in \`events.lost\`.
3. Whatever happens next. All of it has the numbers of the new link.

An agent process that does not know the call, because it was started anew, takes it up in the same way: the call keeps its prompt and its tools.

\`pending\` names the tool calls whose results are waited for; all others are settled. A result that an agent could not send is sent on the
new connection, with the same id. After \`session.reject\`, or ${agentLinkTimes.resumeLimitMs / 1000} s without a link, the call goes on alone for good. A \`read_only\` call
of a worker that died is asked for again under a new id; of a \`side_effect\` call the LLM is told that its outcome is unknown.
`;

/** Text of docs/reference/agent-link.md. */
export function agentLinkPage(): string {
  return `${[howItGoes, order, lines, clients, slowness, fastness, resume].join('\n')}
## Service to agent

Every message also carries:

${table(['Field', 'Type', 'Present', 'Meaning'], fieldRows(schemaOf(z.object(envelopeShape))))}

${sections(serviceMessageSchemas)}
## Agent to service

${sections(agentMessageSchemas)}
Edits of \`context.update\` and \`tools.set\` come into force at the next request of the LLM. Up to 16 of them wait at a time; one more is refused
\`queue_full\`. In a call with a flow a new \`system_prompt\` holds until the next transition.

### Tool declaration

\`pattern\` and \`format\` in \`parameters\` are told to the LLM and not checked by the service: the agent checks them itself, as far as they matter. All else in
the schema is checked before \`tool.call\` is sent.

${table(['Field', 'Type', 'Present', 'Meaning'], fieldRows(schemaOf(toolDeclarationSchema)))}

## Errors

${table(
  ['Code', 'Words, unless a field and its rule are named'],
  Object.entries(agentLinkErrors).map(([code, words]) => [`\`${code}\``, words]),
)}

## Limits

${table(
  ['Limit', 'Value', 'Unit'],
  [
    ...numbers(agentLinkLimits, unitOf),
    ...numbers(agentLinkTimes, unitOf),
    ...numbers(agentLinkBacklog, unitOf),
  ],
)}
`;
}
