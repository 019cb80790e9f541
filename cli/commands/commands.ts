/**
 * The commands of `svc-supervisor`: what each takes, in one table from which help, the reading of arguments and the words about wrong
 * ones come. A message names options and never their values or other arguments, which may be tokens.
 */
import { parseArgs } from 'node:util';
import { fail, ok, type Result } from '../../shared/base/result.ts';
import { SAMPLE_RATES } from '../../shared/base/units.ts';
import { nearestName } from '../../shared/config/nearest.ts';
import { templateNames } from './init/templates.ts';

interface Option {
  readonly type: 'string' | 'boolean';
  readonly multiple?: true;
  /** What stands for the value in the help. */
  readonly value?: string;
  readonly text: string;
}

interface Command {
  /** Names of what stands without an option; one in brackets may be absent. */
  readonly takes: readonly string[];
  readonly summary: string;
  readonly options: Readonly<Record<string, Option>>;
  readonly notes?: string;
}

const flag = (text: string) => ({ type: 'boolean', text }) as const;
const option = (value: string, text: string) => ({ type: 'string', value, text }) as const;
const repeated = (value: string, text: string) => ({ ...option(value, text), multiple: true }) as const;

/** Which calls of the database are meant. */
const callFilters = {
  since: option(
    'TIME',
    'calls that began then or later: 2026-11-28, 2026-11-28T08:00Z or, before now, 24h or 7d',
  ),
  before: option('TIME', 'calls that began before'),
  agent: option('NAME', 'calls of this agent; in a service of many TENANT/NAME'),
  tenant: option('NAME', 'calls of this tenant'),
  end: option('CODE', 'calls that ended so, such as caller_hung_up (docs/calls.md lists the codes)'),
  outcome: option('NAME', 'calls of this outcome, by their analysis'),
  'min-cost': option('AMOUNT', 'calls that cost so much or more'),
  'slower-than': option('MS', 'calls with an answer that took so long or longer'),
  faulty: flag('calls with faults, or that ended by one'),
  number: option('NUMBER', 'calls from or to this number'),
  metadata: option('KEY=VALUE', 'calls with this entry, of the token or the client'),
  text: option('WORDS', 'calls in which all of these words were said'),
} as const;

export const commands = {
  serve: {
    takes: [],
    summary: 'runs the service; this is the default command',
    options: { workers: option('auto|N', 'call workers, 1 to 256 (auto: one per core)') },
    notes: 'Settings are environment variables; docs/reference/server-settings.md lists them.',
  },
  check: {
    takes: ['FILE'],
    summary: 'checks an agent file, or a folder of many (SVC_AGENTS_DIR)',
    options: {
      'require-secrets': flag('treat an unset key variable as an error'),
      connect: flag('also try everything that the file connects to; keys must be set'),
    },
    notes: `--connect resolves, connects and asks every provider for one thing (a few tokens, one word of speech, half a second of silence),
lists the tools of tool servers, has a handshake with agent processes, and connects to the hosts of HTTP tools without running one.`,
  },
  init: {
    takes: ['FOLDER'],
    summary: 'begins a project with an agent, its rehearsal and what runs it',
    options: { template: option('NAME', `one of ${templateNames.join(', ')} (asked at a terminal)`) },
    notes:
      'FOLDER is new or empty, and its name becomes that of the agent. Nothing is installed and nothing is asked of the network.',
  },
  config: { takes: [], summary: 'prints the settings in force', options: {} },
  'token mint': {
    takes: [],
    summary: 'makes a session token',
    options: {
      aud: option('AUDIENCE', 'svc-ws, svc-rtvi or svc-webrtc; required'),
      ttl: option('SECONDS', 'until it expires, 1 to 86400 (60)'),
      sid: option('ID', 'session id, used once (a new one)'),
      agent: option('NAME', 'reaches the call as session.agent'),
      'max-s': option('SECONDS', 'longest call, 1 to 86400'),
      meta: repeated('KEY=VALUE', 'reaches the call as session.meta.KEY; up to 16 times'),
    },
    notes: 'The secret is read from SVC_SESSION_SECRET.',
  },
  'token inspect': {
    takes: ['TOKEN'],
    summary: 'reads a session token',
    options: {},
    notes: 'The secret is read from SVC_SESSION_SECRET and SVC_SESSION_SECRET_PREV.',
  },
  'webhooks list': {
    takes: [],
    summary: 'lists the events that wait for webhooks and those that were given up',
    options: { failed: flag('only those that were given up') },
    notes: 'The folder is found by SVC_CALLS_DB and SVC_STATE_DIR. The service may run or not.',
  },
  'webhooks replay': {
    takes: ['[ID]'],
    summary: 'sends events again that were given up',
    options: { all: flag('all of them, instead of those with this id of an event or of a record') },
    notes:
      'The running service takes them up within seconds, by the whole schedule and under the same ids. Endpoints that wanted no more events get them again.',
  },
  'webhooks secret': {
    takes: [],
    summary: 'makes a secret for webhooks',
    options: {},
    notes: 'It goes into the variable that secret_env of [after_call] names, and to the receiver.',
  },
  'calls show': {
    takes: ['ID'],
    summary: 'shows the record of one call',
    options: { json: flag('print the record as one JSON object') },
    notes:
      'ID is that of the record, or the id of the call as the log has it. The database is found by SVC_CALLS_DB.',
  },
  'calls export': {
    takes: [],
    summary: 'prints records of calls as lines of JSON, the oldest first',
    options: callFilters,
    notes: 'Each line is a whole record (docs/calls.md). The database is found by SVC_CALLS_DB.',
  },
  'calls erase': {
    takes: [],
    summary: "erases what is kept of somebody's calls",
    options: {
      number: option('NUMBER', 'of calls from or to this number'),
      metadata: option('KEY=VALUE', 'of calls with this entry, of the token or the client'),
      tenant: callFilters.tenant,
      'dry-run': flag('only say how many records there are'),
    },
    notes: `Records, calls that wait for the database, events for webhooks, and recordings in SVC_RECORDING_DIR. Ends with 1 where calls of theirs
run at present: erase again when these are over. Run it on each host, which has recordings and calls that wait of its own.`,
  },
  'calls token': {
    takes: [],
    summary: 'makes a token that opens the calls of one tenant on the history page',
    options: {
      tenant: option('NAME', 'the tenant; required'),
      days: option('N', 'until it expires, 1 to 3650 (30)'),
    },
    notes:
      'It is signed by SVC_CALLS_TOKEN, which must have at least 32 bytes. Another SVC_CALLS_TOKEN makes all of these tokens void.',
  },
  'live token': {
    takes: [],
    summary: 'makes a token for the running calls of one tenant',
    options: {
      tenant: option('NAME', 'the tenant; required'),
      may: option('ROLE', 'live (see and end calls), listen, whisper or take_over; required'),
      days: option('N', 'until it expires, 1 to 3650 (30)'),
    },
    notes: `It is signed by the token of the role, SVC_LIVE_TOKEN or SVC_MONITOR_…_TOKEN, which must have at least 32 bytes. Another value of that
variable makes all of these tokens void.`,
  },
  calls: {
    takes: [],
    summary: 'lists calls from the database, the newest first',
    options: {
      ...callFilters,
      limit: option('N', 'at most so many (50)'),
      json: flag('print one JSON object a line instead of a table'),
    },
    notes: 'The database is found by SVC_CALLS_DB, as the service has it. The service may run or not.',
  },
  'recordings decrypt': {
    takes: ['FILE|FOLDER|CALL'],
    summary: 'writes recordings that are encrypted as the files that they were made of',
    options: { to: option('DIR', 'folder for them (beside the encrypted ones)') },
    notes: `The keys are read from the file of SVC_RECORDING_KEY_FILE. FOLDER may hold many recordings; CALL is the id of a call whose recording
is in SVC_RECORDING_DIR. Nothing is overwritten. Ends with 1 where a file cannot be read to its end: what stands before that is written.`,
  },
  'recordings key': {
    takes: [],
    summary: 'makes a key for recordings',
    options: {},
    notes:
      'It goes into the file that SVC_RECORDING_KEY_FILE names. Keep a copy elsewhere: without it nobody can read the recordings.',
  },
  'models list': { takes: [], summary: 'lists the speech models and which are installed', options: {} },
  'models pull': {
    takes: ['[NAME]'],
    summary: 'downloads a speech model (smart-turn); models list names them',
    options: { from: option('URL', 'a mirror of its source') },
    notes: 'Models are stored in SVC_MODELS_DIR. A running service uses a new one after its next start.',
  },
  local: {
    takes: [],
    summary: 'serves speech to text and text to speech on this machine',
    options: {
      models: option('DIR', "folder with the models' folders (that of models pull)"),
      host: option('HOST', 'address to listen on (127.0.0.1)'),
      'stt-port': option('PORT', "recogniser, sherpa-onnx's WebSocket protocol (6006)"),
      'tts-port': option('PORT', 'voice, POST /v1/audio/speech, and GET /health (8880)'),
      'stt-model': option('NAME', 'folder of the recogniser, where there are several'),
      'tts-model': option('NAME', 'folder of the voice, where there are several'),
      without: option('stt|tts', 'serve only the other one'),
      threads: option('N', 'threads of each engine (half the cores, at most 4)'),
      'max-streams': option('N', 'connections to the recogniser at the same time (32)'),
    },
    notes: `Needs the package sherpa-onnx-node, which is installed separately (docs/local.md). Models: svc-supervisor models pull zipformer-en,
and piper-ljspeech or kokoro-en.`,
  },
  'docs-mcp': {
    takes: [],
    summary: 'serves this documentation to coding agents, as an MCP server on standard input and output',
    options: {},
    notes:
      'Tools: search_docs, read_page, agent_file_schema, check_agent_file. It opens no connection and ends with its input.',
  },
  console: {
    takes: ['AGENT.toml'],
    summary: 'lets you talk to an agent by typing, with its real LLM and tools',
    options: {},
    notes: `Type what the caller says. Ctrl-C interrupts the agent, Ctrl-D ends the call; /help lists what else there is.
Without a terminal, every line of the input is a turn, and nothing is waited for but the LLM and the tools.`,
  },
  rehearse: {
    takes: ['SCENARIOS.toml', 'AGENT.toml'],
    summary: 'plays scenarios against an agent',
    options: {
      only: repeated('NAME', 'play the scenario of this name; may be given several times'),
      jobs: option('N', 'scenarios at a time, 1 to 64 (1)'),
      junit: option('FILE', 'write a report for build servers'),
      verbose: flag('show the conversations of scenarios that pass, too'),
    },
    notes: 'Ends with 0 when all pass, 1 when one fails, 2 when there is nothing valid to play.',
  },
  replay: {
    takes: ['FILE|CALL'],
    summary: 'runs a recorded call again and shows where its decisions would differ now',
    options: {
      agent: option('AGENT.toml', 'with the settings of this agent file instead of those of the call'),
      json: flag('print one JSON object instead of lines'),
    },
    notes: `FILE is facts.jsonl.gz or its folder; CALL is the id of a call whose recording is in SVC_RECORDING_DIR. Facts are recorded
with facts = true in [recording]. Nothing is asked of any provider, and no tool is run. Ends with 0 when every order is the same, with 1
when one differs, with 2 when there is nothing that can be replayed.`,
  },
  top: {
    takes: [],
    summary: 'shows the calls of a running service live',
    options: {
      url: option('URL', 'the health listener of the service (http://127.0.0.1:8081)'),
      once: flag('print once and end'),
      json: flag('print one JSON object a second instead'),
    },
    notes: 'The token is read from SVC_LIVE_TOKEN, which the service needs as well. Ctrl-C ends it.',
  },
  agents: {
    takes: ['[reload]'],
    summary: 'lists the agents of a running service; with reload, it looks at their files first',
    options: {
      url: option('URL', 'the callback listener of the service (that of SVC_CALLBACK_ADDR)'),
      json: flag('print one JSON object instead of a table'),
    },
    notes: 'The secret is read from SVC_CALLBACK_SECRET. Ends with 1 where something is wrong with an agent.',
  },
  'agent dev': {
    takes: ['FILE'],
    summary: 'runs the demo with your agent process, and restarts the agent when you save it',
    options: {
      port: option('PORT', 'where the agent listens (a free one, told by VOICE_AGENT_PORT)'),
      'tap-port': option('PORT', 'where the service connects, with a look at what passes (8091)'),
      'no-service': flag('no demo: a service of yours runs, with SVC_AGENT_URL=ws://127.0.0.1:8091'),
      'free-ports': flag('every port is a free one'),
      all: flag('print every message, deltas and interim transcripts too'),
    },
    notes: `FILE is the agent: .ts, .js or .py. Types are not checked. Messages of the link are printed as they pass, > from the service and
< from the agent. SVC_AGENT_FILE names an agent file other than the demo's.`,
  },
  call: {
    takes: ['FILE.wav'],
    summary: 'calls a running service and plays a recording to it',
    options: {
      url: option('URL', 'where the service listens (ws://127.0.0.1:8080)'),
      out: option('FILE.wav', 'write what the caller heard, aligned in time'),
      rate: option('HZ', `sample rate of the call: ${SAMPLE_RATES.join(', ')} (16000)`),
      encoding: option('NAME', 'pcm16 or mulaw (pcm16)'),
      'wait-greeting': flag('speak when the greeting is over; this is the default'),
      'no-wait-greeting': flag('speak at once'),
      'listen-s': option(
        'SECONDS',
        'hang up at most this long after the recording (until the answer is over, at most 60)',
      ),
      token: option('TOKEN', 'bearer token for the service'),
      json: flag('print one JSON object instead of lines'),
    },
  },
} as const satisfies Record<string, Command>;

export type CommandName = keyof typeof commands;
const names = Object.keys(commands) as CommandName[];
const commandOf = (name: CommandName): Command => commands[name];

type Values<O> = {
  readonly [K in keyof O]?: O[K] extends { multiple: true }
    ? readonly string[]
    : O[K] extends { type: 'boolean' }
      ? boolean
      : string;
};

export interface Arguments<N extends CommandName> {
  readonly values: Values<(typeof commands)[N]['options']>;
  /** What stands without an option. */
  readonly given: readonly string[];
}

function didYouMean(name: string, known: readonly string[], prefix = ''): string {
  // Only names with underscores are compared with one another.
  const written = new Map(known.map((each) => [each.replaceAll('-', '_'), each]));
  const nearest = nearestName(name, [...written.keys()]);
  return nearest === undefined ? '' : `; did you mean ${prefix}${written.get(nearest) ?? nearest}?`;
}

/** A name that may be repeated in a message: what looks like anything but an option or a command stays out of it. */
const shown = (name: string): string => (/^-{0,2}[a-z][\w-]{0,30}$/i.test(name) ? ` ${name}` : '');

/** What is wrong with the options, if anything. */
function wrongOption(args: readonly string[], { options }: Command): string | undefined {
  const { tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true });
  const seen = new Set<string>();
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const { name, rawName, value } = token;
    const known = Object.hasOwn(options, name) ? options[name] : undefined;
    if (known === undefined) {
      return `unknown option${shown(rawName)}${didYouMean(name, Object.keys(options), '--')}`;
    }
    if (known.type === 'boolean' && value !== undefined) return `${rawName}: takes no value`;
    const isOption = token.inlineValue === false && value?.startsWith('-') === true;
    if (known.type === 'string' && (value === undefined || value === '' || isOption))
      return `${rawName}: needs a value`;
    if (seen.has(name) && known.multiple !== true) return `${rawName}: must be given once`;
    seen.add(name);
  }
  return undefined;
}

/** Reads what stands behind the name of a command. An error is one line for people. */
export function readArguments<N extends CommandName>(
  name: N,
  args: readonly string[],
): Result<Arguments<N>, string> {
  const command = commandOf(name);
  const wrong = wrongOption(args, command);
  if (wrong !== undefined) return fail(wrong);
  const { options, takes } = command;
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  const missing = takes[positionals.length];
  if (missing !== undefined && !missing.startsWith('[')) return fail(`${missing} is missing`);
  if (positionals.length > takes.length)
    return fail(
      `too many arguments: ${name} takes ${takes.length === 0 ? 'options alone' : takes.join(' ')}`,
    );
  return ok({ values: values as Arguments<N>['values'], given: positionals });
}

function usageOf(name: CommandName): string {
  const { takes, options } = commandOf(name);
  const parts = name === 'serve' ? [] : [name];
  return [
    'svc-supervisor',
    ...parts,
    ...takes,
    ...(Object.keys(options).length > 0 ? ['[options]'] : []),
  ].join(' ');
}

/** What is told about arguments that are wrong: the mistake, and how it goes. */
export const usageError = (name: CommandName, error: string): string =>
  `${error}\nusage: ${usageOf(name)} (--help says more)`;

const columns = (rows: readonly (readonly [string, string])[]): string[] => {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
};

function helpOf(name: CommandName): string {
  const { summary, options, notes } = commandOf(name);
  const rows = Object.entries(options).map(
    ([key, { value, text }]) => [`--${key}${value === undefined ? '' : ` ${value}`}`, text] as const,
  );
  return [
    `usage: ${usageOf(name)}`,
    '',
    `${name}: ${summary}`,
    ...(rows.length > 0 ? ['', ...columns(rows)] : []),
    ...(notes === undefined ? [] : ['', notes]),
  ].join('\n');
}

const overview = (): string =>
  [
    ...columns([
      ...names.map((name) => [usageOf(name), commandOf(name).summary] as const),
      ['svc-supervisor COMMAND --help', 'explains a command'],
      ['svc-supervisor --version', 'tells the version'],
    ]),
    '',
    'Settings are environment variables; docs/reference/server-settings.md lists them.',
  ].join('\n');

/** The text of docs/reference/commands.md. */
export function commandsPage(): string {
  const cell = (text: string): string => text.replaceAll('|', '\\|');
  const section = (name: CommandName): string => {
    const { summary, options, notes }: Command = commands[name];
    const rows = Object.entries<Option>(options).map(
      ([key, { value, text }]) =>
        `| \`--${key}${value === undefined ? '' : ` ${cell(value)}`}\` | ${cell(text)} |`,
    );
    return [
      `## \`${name}\``,
      `\`${usageOf(name)}\`: ${summary}.`,
      ...(rows.length > 0 ? [['| Option | Meaning |', '| --- | --- |', ...rows].join('\n')] : []),
      ...(notes === undefined ? [] : [notes]),
    ].join('\n\n');
  };
  return `# Commands

Generated from the table in \`cli/commands/commands.ts\`; \`npm run docs\` writes it anew.

\`svc-supervisor COMMAND --help\` explains a command, \`svc-supervisor --version\` tells the version. Every command ends with status 0 when
it did what it was asked for, and with 2 when its arguments are wrong; 1 means that it failed.

${names.map(section).join('\n\n')}
`;
}

export type Choice =
  | { readonly help: string }
  | { readonly wrong: string }
  | { readonly name: CommandName; readonly args: readonly string[] };

/** Which command is meant by all that stands behind `svc-supervisor`. */
export function chooseCommand(args: readonly string[]): Choice {
  const [first = '', second = ''] = args;
  const wantsHelp = args.some((arg) => arg === '--help' || arg === '-h');
  if (first === '' || first.startsWith('-'))
    return wantsHelp ? { help: overview() } : { name: 'serve', args };
  const family = names.filter((name) => name.split(' ')[0] === first);
  const name = family.find((each) => each === first || each === `${first} ${second}`);
  if (wantsHelp && family.length > 0)
    return { help: (name === undefined ? family : [name]).map(helpOf).join('\n\n') };
  if (name !== undefined) return { name, args: args.slice(name.split(' ').length) };
  if (family.length > 0)
    return {
      wrong: `${first}: must be followed by ${family.map((each) => each.split(' ')[1]).join(' or ')}`,
    };
  const firstWords = [...new Set(names.map((each) => each.split(' ')[0] ?? each))];
  return {
    wrong: `unknown command${shown(first)}${didYouMean(first, firstWords)}\n"svc-supervisor --help" lists the commands`,
  };
}
