/**
 * The agent link row by row (docs/reference/agent-link.md): which test holds each row. Where the text that the project was given is at hand, its
 * tables are read, so that no row is forgotten.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const places = {
  settings: 'spec/agent-link/settings.test.ts',
  states: 'spec/agent-link/states.test.ts',
  commands: 'spec/agent-link/commands.test.ts',
  calls: 'spec/agent-link/calls.real.test.ts',
  tools: 'spec/agent-link/tools.real.test.ts',
  telephony: 'spec/agent-link/telephony.real.test.ts',
  telnyx: 'spec/agent-link/telnyx.real.test.ts',
  socket: 'contract/agent-socket.test.ts',
  caller: 'unit/worker/caller-identity.test.ts',
  registry: 'unit/tools/registry.test.ts',
  core: 'unit/core/tools.test.ts',
  lines: 'golden/scripts/commands.ts',
  edits: 'golden/scripts/edits.ts',
  flow: 'unit/core/flow.test.ts',
} as const;

/** A file, and the words that the title of its test begins with or holds. */
type Test = readonly [keyof typeof places, string];

const eventRow: Test = ['commands', 'every conversation event is told as its schema says'];
const limitRow: Test = ['commands', "it('the table'"];

/** Each table, each row by its first cell; numbered rules by their number. */
const rows: Readonly<Record<string, Readonly<Record<string, readonly Test[]>>>> = {
  'Link settings': {
    'url / `SVC_AGENT_URL`': [
      ['settings', 'url: calls run on the agent file alone without it'],
      ['settings', 'SVC_AGENT_URL stands above the file'],
    ],
    'token / `SVC_AGENT_TOKEN`': [['settings', 'token: a named token_env that is unset fails the start']],
    'routes (`[[agent_link.routes]]`)': [
      ['settings', 'routes: each has a name of its own, at most 32'],
      ['telephony', 'an unknown route falls back to the default process'],
    ],
    'allow_insecure / `SVC_AGENT_ALLOW_INSECURE=1`': [
      ['settings', 'allow_insecure: refuses without, warns with'],
    ],
    'caller_identity / `SVC_AGENT_CALLER_IDENTITY=1`': [
      ['settings', 'caller_identity: false by default; a route has its own value and never inherits'],
      ['telephony', "the carrier's id is sent, and no number"],
    ],
    '`SVC_AGENT_TLS_CA`': [
      ['settings', 'of up to 16 certificates is taken'],
      ['socket', 'trusts a private CA of the bundle, beside the public roots'],
    ],
  },
  'session.start body': {
    'seq, t_ms': [['states', 'seq: +1 per message written; t_ms: milliseconds since the link opened']],
    ...Object.fromEntries(
      ['type', 'protocol', 'versions', 'session_id', 'agent', 'capabilities'].map((field) => [
        field,
        [['calls', 'carries every field of the table'] as const],
      ]),
    ),
    call: [
      ['states', 'call: present only when caller identity is enabled'],
      ['caller', 'caller_identity'],
    ],
  },
  'session.accept body': {
    version: [['states', 'a version that was not offered']],
    tools: [['states', 'tools: at most 64; the rest is left out and reported']],
    system_prompt: [['states', 'system_prompt and greeting']],
    context: [['states', 'context: at most 32; roles system, user, assistant']],
    greeting: [['calls', 'prompt, context and greeting apply from the first word']],
    resume: [['states', 'resume: a boolean; anything else is reported and means no']],
    events: [['states', 'events: only these; tool.*, command.result, events.lost and error always']],
  },
  'Tool declaration': {
    name: [['states', 'name: %j is refused']],
    description: [['states', 'description: at most 4 KiB kept, no character cut in two']],
    parameters: [
      [
        'registry',
        'has a schema that is refused: parameters.properties.a.$ref must not lead to another document',
      ],
    ],
    kind: [['states', 'kind: read_only or side_effect']],
    timeout_ms: [
      ['states', 'timeout_ms: at most 30000'],
      ['tools', 'timeout_ms: then tool.cancel says timeout'],
    ],
    filler_after_ms: [
      ['states', 'filler_after_ms: 0 disables'],
      ['tools', 'filler_after_ms: a filler is spoken after this long'],
    ],
    confirm: [['tools', 'confirm: no tool.call before the caller has said yes']],
    repeatable: [
      ['tools', 'repeatable: without it an identical call of the same turn is answered already_done'],
      ['core', 'never runs a call with effects twice for one id in a turn, and does so in a new turn'],
    ],
  },
  'States and transitions': {
    connecting: [
      ['states', 'connecting: the server opens the WebSocket and sends session.start'],
      ['states', 'connecting: connect fails: fallback'],
      ['states', 'connecting: connect is slow: fallback after 2 s'],
    ],
    handshaking: [
      ['states', 'handshaking: session.accept within 2 s of the connection: active'],
      ['states', 'handshaking: no answer for 2 s from the connection'],
      ['states', 'handshaking: %s: fallback'],
      ['states', 'handshaking: closed connection: fallback'],
    ],
    active: [
      ['states', 'active: end: session.end with reason ended_by_agent'],
      [
        'telephony',
        "cold: asked of the carrier behind the bot's sentence, answered, and the link ends as transferred",
      ],
      ['states', 'active: call ends: session.end is the last message, then the link closes'],
      ['states', 'active: no message or pong for 30 s: down'],
    ],
  },
  'Server to agent messages': {
    'tool.call': [['calls', 'tool.call and tool.result: the engine asks']],
    'tool.cancel': [
      ['tools', 'tool.cancel: interrupted, when the caller goes on'],
      ['tools', 'tool.cancel: none for a side_effect call when the caller goes on'],
    ],
    'command.result': [['commands', 'id: echoed in command.result, which is sent only when id is present']],
  },
  'Agent to server commands': {
    say: [['commands', 'say: text at most 4 KiB, interrupt false by default']],
    end: [
      ['commands', 'end: the farewell that it brings'],
      ['calls', 'end: speaks the farewell, answers, and ends the session as ended_by_agent'],
    ],
    transfer: [['commands', 'transfer: destination is E.164']],
    'context.update': [['commands', 'context.update: system_prompt, append; all of the command or nothing']],
    'tools.set': [['commands', 'tools.set: names, or null for all']],
    'tool.result': [['commands', 'tool.result: a string as is, other JSON in compact form']],
  },
  'Behaviour rules': {
    '1': [['lines', 'a line is done when the bot begins to speak it']],
    '2': [
      ['lines', 'the ninth line is refused unless it takes the place of the others'],
      ['lines', 'an interrupting line drops the lines before it, and no others'],
      ['calls', 'the ninth line that waits is refused'],
    ],
    '3': [
      ['lines', 'an edit is done when it is taken, and in force from the next response on'],
      ['flow', 'moves at the next safe point'],
    ],
    '4': [
      ['telephony', 'unsupported: warm, where warm transfers are not enabled'],
      ['telephony', 'the same id, given twice at once, is one transfer'],
      ['telnyx', 'transfer: the key derives from the call and the command id'],
    ],
    '5': [['tools', 'unknown_tool: a call of what tools.set took away is answered without running']],
  },
  Authentication: {
    '1': [['calls', 'and the token as a bearer token']],
    '2': [['settings', 'Authentication 2: ws:// is']],
    '3': [
      ['settings', 'is shown as scheme, host and port'],
      ['calls', 'names no more of the address than scheme, host and port in any log'],
    ],
    '4': [['telephony', "cold: asked of the carrier behind the bot's sentence"]],
    '5': [['telephony', 'a WebSocket call has none, whatever its client claims']],
  },
  Events: {
    ...Object.fromEntries(
      [
        ...['turn.user_started', 'turn.user_ended', 'user.transcript', 'user.text', 'bot.llm_started'],
        ...['bot.text', 'bot.llm_stopped', 'bot.tts_text', 'bot.tts_stopped', 'turn.bot_started'],
        ...['turn.bot_ended', 'turn.interrupted', 'turn.metrics'],
      ].map((type) => [type, [eventRow]]),
    ),
    error: [['commands', 'without an id: a refusal is an error event of stage agent_link']],
    'events.lost': [['commands', 'loses interim transcripts and deltas first']],
    'session.end': [['states', 'active: call ends: session.end is the last message']],
  },
  Errors: {
    unsupported_version: [['states', "{ type: 'session.reject', code: 'unsupported_version'"]],
    unknown_type: [['commands', 'unknown_type with an id answers the command']],
    unknown_tool: [['tools', 'unknown_tool: a call of what tools.set took away']],
    unsupported: [['telephony', 'unsupported: warm, where warm transfers are not enabled']],
    already_done: [['tools', 'is answered already_done']],
    tool_failed: [['commands', 'error as tool_failed']],
    outcome_unknown: [
      ['telnyx', 'outcome_unknown: the transfer is repeated by the same command id'],
      ['telephony', 'outcome_unknown: the carrier may have taken it'],
    ],
  },
  Limits: {
    'message size': [
      ['commands', 'message size: a larger one of the service is left out and counted'],
      ['calls', 'a message of 65 KiB closes the link, and the call goes on'],
    ],
    'connect_timeout / handshake_timeout': [
      limitRow,
      ['calls', 'never answers costs the caller the handshake timeout'],
    ],
    ping: [limitRow, ['states', 'active: no message or pong for 30 s: down']],
    'tools per agent': [limitRow, ['states', 'tools: at most 64']],
    system_prompt: [limitRow, ['states', 'system_prompt and greeting']],
    'context messages': [
      limitRow,
      ['states', 'context: at most 32'],
      ['calls', "id: 'c', append: Array(33)"],
    ],
    'say text': [limitRow, ['commands', 'say: text at most 4 KiB']],
    'command id': [limitRow, ['commands', 'id: at most 64 bytes; a longer one cannot be echoed']],
    'transfer summary, reason': [limitRow, ['commands', 'summary and reason are at most 512 bytes each']],
    'waiting bot lines': [limitRow, ['calls', 'the ninth line that waits is refused']],
    end_grace: [limitRow, ['lines', 'a call is ended after 30 s, whoever speaks']],
    'remote tool timeout_ms': [limitRow, ['states', 'timeout_ms: at most 30000']],
    'remote tool filler_after_ms': [
      limitRow,
      ['states', 'defaults: read_only, 5000 ms, filler after 700 ms'],
    ],
    routes: [['settings', 'routes: each has a name of its own, at most 32']],
    'private CA bundle': [['settings', 'SVC_AGENT_TLS_CA: a bundle']],
  },
  Versioning: {
    '1': [['states', 'a version that was not offered']],
    '2': [
      ['states', 'an unknown field is ignored'],
      ['states', 'an agent that did not send resume never sees it'],
    ],
  },
};

const listed = Object.entries(rows).flatMap(([table, ofTable]) =>
  Object.entries(ofTable).map(([row, tests]) => ({ table, row, tests })),
);

const sources = new Map<string, string>();
function sourceOf(place: keyof typeof places): string {
  const path = places[place];
  const known = sources.get(path) ?? readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
  sources.set(path, known);
  return known;
}

/** First cells of the tables and numbers of the rules, by the heading above them; prose has none. */
function rowsOf(spec: string): string[] {
  const found: string[] = [];
  let heading = '';
  let rules = '';
  for (const line of spec.split('\n')) {
    const title = /^#+ ([^(]+)/.exec(line)?.[1]?.trim();
    if (title !== undefined) [heading, rules] = [title, title];
    if (line === 'Behaviour rules:') rules = 'Behaviour rules';
    const cell = /^\| *([^|]+?) *\|/.exec(line)?.[1];
    const number = /^(\d+)\. /.exec(line)?.[1];
    const isHead = cell === undefined || /^(-+|Setting|Field|State|type|Code|Limit)$/.test(cell);
    // The field `type` of session.start is a row, the heads of tables are not.
    if (!isHead || (cell === 'type' && line.includes('`session.start`')))
      found.push(`${heading}: ${cell ?? ''}`);
    if (number !== undefined) found.push(`${rules}: ${number}`);
  }
  return [...new Set(found)];
}

describe('the agent link', () => {
  it.each(listed.map((one) => [one.table, one.row, one.tests] as const))('%s, %s', (_table, _row, tests) => {
    expect(tests.length).toBeGreaterThan(0);
    const missing = tests.filter(([place, title]) => !sourceOf(place).includes(title));
    expect(missing).toEqual([]);
  });

  const spec = join(process.env['SVC_TEST_ASSETS'] ?? '', 'spec/02-agent-link-protocol.md');
  it.skipIf(!existsSync(spec))('has no row and no rule that is not listed', () => {
    const names = listed.map(({ table, row }) => `${table}: ${row}`);
    expect(rowsOf(readFileSync(spec, 'utf8')).toSorted()).toEqual(names.toSorted());
  });
});
