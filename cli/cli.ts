/** The command line of `svc-supervisor`. Every command has its own file; this one only finds it. */
import '../scripts/node-version.mjs';
import '../supervisor/restart/early-signals.ts';
import '../shared/runtime/stack.ts';
import { randomBytes, randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { statSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { fileURLToPath } from 'node:url';
import { runAgentDev } from './commands/agent-dev/agent-dev-command.ts';
import { parseCallArguments, runCall } from './commands/call/call-client.ts';
import { runAgents } from './commands/agents/agents-command.ts';
import { runCheckFolder } from './commands/check/check-folder.ts';
import { packagesOf, runCheck } from './commands/check/check-command.ts';
import { chooseCommand, readArguments, usageError, type CommandName } from './commands/commands.ts';
import { readBytes, readingOnce, readText } from '../shared/installation/named-files.ts';
import { runConfig } from './commands/config-command.ts';
import { runInit } from './commands/init/init-command.ts';
import type * as CallsMain from './commands/calls/main.ts';
import type { CallsCommand } from './commands/calls/calls-command.ts';
import type * as DocumentationServer from './commands/docs-mcp/main.ts';
import { runLocal } from './commands/local/local-command.ts';
import { parentChannel } from '../supervisor/restart/predecessor.ts';
import { runServe } from '../supervisor/service/serve.ts';
import { runRecordings } from './commands/recordings/recordings-command.ts';
import { runWebhooks } from './commands/webhooks/webhooks-command.ts';
import { runTop } from './commands/top/top-command.ts';
import { runToken } from './commands/token-command.ts';
import { leadProcessGroup } from '../shared/runtime/child.ts';
import { forJournal, isJournal } from '../shared/runtime/journal.ts';
import { readTakeover, takeoverVariable } from '../shared/protocol/takeover.ts';
import { readProcessState } from '../shared/runtime/process-state.ts';
import { systemClock, systemWallClock } from '../shared/runtime/clock.ts';
import { newLog } from '../shared/runtime/log.ts';

/** Set by the bundler; absent when the sources run as they are. */
declare const BUILD_VERSION: string | undefined;

/** The folder of the package: above that of the built command line, and above that of its source. */
const home = fileURLToPath(new URL(typeof BUILD_VERSION === 'string' ? '../..' : '..', import.meta.url));
const version = typeof BUILD_VERSION === 'string' ? BUILD_VERSION : 'run from the sources';
const maxWorkers = 256;
const { env } = process;
const clock = systemClock;
const cores = availableParallelism();
const out = (line: string): void => void process.stdout.write(`${line}\n`);
const errorLevel = 50;
const err = (line: string): void => {
  const shown = isJournal(2, env['JOURNAL_STREAM']) ? forJournal(errorLevel, line) : line;
  process.stderr.write(`${shown}\n`);
};

/**
 * A reader who has seen enough (`top | head`) ends a command as it ends any other program, with the status of SIGPIPE and without a
 * word. Not for a service, which logs by itself and goes on: asking for this stream makes a pipe non-blocking.
 */
function endWithOutput(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(141);
    err(`the output cannot be written: ${error.code ?? error.message}`);
    process.exit(1);
  });
}

/** Runs a command. Resolves with the exit status, or with undefined while a service runs. */
async function run(given: readonly string[]): Promise<number | undefined> {
  const [only] = given;
  if (given.length === 1 && only === '--version') {
    out(version);
    return 0;
  }
  const choice = chooseCommand(given);
  if ('help' in choice) {
    out(choice.help);
    return 0;
  }
  if ('wrong' in choice) {
    err(choice.wrong);
    return 2;
  }
  const { name, args } = choice;
  const parsed = readArguments(name, args);
  if (!parsed.ok) {
    err(usageError(name, parsed.error));
    return 2;
  }
  if (name !== 'serve') endWithOutput();
  return await runCommand(name, args);
}

async function runCommand(name: CommandName, args: readonly string[]): Promise<number | undefined> {
  switch (name) {
    case 'serve':
      return await serve(args);
    case 'check':
      return await check(args);
    case 'init':
      return await init(args);
    case 'config':
      return runConfig({ env, cores, write: out });
    case 'token mint':
    case 'token inspect':
      return runToken([...name.split(' ').slice(1), ...args], {
        env,
        nowS: Math.floor(systemWallClock.now() / 1000),
        newId: randomUUID,
        write: out,
        writeError: err,
      });
    case 'webhooks list':
    case 'webhooks replay':
    case 'webhooks secret':
      return runWebhooks(name, args, {
        env,
        cores,
        now: () => systemWallClock.now(),
        randomBytes,
        write: out,
        writeError: err,
      });
    case 'recordings decrypt':
    case 'recordings key':
      return await runRecordings(name, args, { env, randomBytes, write: out, writeError: err });
    case 'calls':
    case 'calls show':
    case 'calls export':
    case 'calls erase':
    case 'calls token':
    case 'live token':
      return await calls(name, args);
    case 'local':
      return await runLocal(args, {
        env,
        cores,
        clock,
        newLog: () => newLog({ role: 'local', level: 'info' }),
        write: out,
        writeError: err,
        exit: (code) => process.exit(code),
      });
    case 'agents':
      return await agents(args);
    case 'agent dev':
      return await agentDev(args);
    case 'call':
      return await call(args);
    case 'top':
      return await top(args);
    case 'docs-mcp':
      await serveDocumentation();
      return undefined;
    case 'replay':
    case 'console':
    case 'rehearse':
    case 'models list':
    case 'models pull':
      await runElsewhere();
      return undefined;
  }
}

/** A file of its own: a service loads nothing of it. It reads the arguments itself and ends the process. */
async function runElsewhere(): Promise<void> {
  await import(new URL('./rehearsal/main.js', import.meta.url).href);
}

/** As above: what it loads is nobody else's. */
async function serveDocumentation(): Promise<void> {
  const file = new URL('./commands/docs-mcp/main.js', import.meta.url);
  const main = (await import(file.href)) as typeof DocumentationServer;
  await main.serveDocumentation(home, version);
}

async function calls(name: CallsCommand, args: readonly string[]): Promise<number> {
  const file = new URL('./commands/calls/main.js', import.meta.url);
  const main = (await import(file.href)) as typeof CallsMain;
  const now = (): number => systemWallClock.now();
  return await main.runCalls(name, args, { env, cores, now, write: out, writeError: err });
}

async function check(args: readonly string[]): Promise<number | undefined> {
  const parsed = readArguments('check', args);
  if (!parsed.ok) return 2;
  const { values, given } = parsed.value;
  if (values.connect === true) {
    await runElsewhere();
    return undefined;
  }
  const requireSecrets = values['require-secrets'] === true;
  const file = given[0] ?? '';
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory() === true)
    return await runCheckFolder(file, { requireSecrets, env, write: out });
  const readFile = readingOnce(readText);
  const packages = await packagesOf(file, { readFile });
  return runCheck(file, { requireSecrets, env, readFile, readBytes, packages, write: out });
}

async function init(args: readonly string[]): Promise<number> {
  const parsed = readArguments('init', args);
  if (!parsed.ok) return 2;
  const { values, given } = parsed.value;
  const terminal = process.stdin.isTTY && process.stdout.isTTY;
  return await runInit({
    folder: given[0] ?? '',
    template: values.template,
    home,
    ...(terminal && { ask }),
    write: out,
    writeError: err,
  });
}

async function ask(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return await terminal.question(question);
  } finally {
    terminal.close();
  }
}

async function agents(args: readonly string[]): Promise<number> {
  const parsed = readArguments('agents', args);
  if (!parsed.ok) return 2;
  const { values, given } = parsed.value;
  const [what] = given;
  if (what !== undefined && what !== 'reload') {
    err(usageError('agents', 'what stands behind agents is reload, or nothing'));
    return 2;
  }
  const { url, json = false } = values;
  return await runAgents({ url, json, reloads: what === 'reload', env, write: out, writeError: err });
}

/** A port in an option; undefined when it was not given, NaN when the text is no port. */
function portIn(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  return /^[0-9]{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : Number.NaN;
}

async function agentDev(args: readonly string[]): Promise<number | undefined> {
  const parsed = readArguments('agent dev', args);
  if (!parsed.ok) return 2;
  const { values, given } = parsed.value;
  const [port, tapPort] = [portIn(values.port), portIn(values['tap-port'])];
  if (Number.isNaN(port) || Number.isNaN(tapPort)) {
    err(usageError('agent dev', '--port, --tap-port: must be whole numbers from 0 to 65535'));
    return 2;
  }
  return await runAgentDev({
    file: given[0] ?? '',
    port,
    tapPort,
    noService: values['no-service'] === true,
    freePorts: values['free-ports'] === true,
    all: values.all === true,
    env,
    clock,
    wallClock: systemWallClock,
    write: out,
    writeError: err,
    exit: (status) => process.exit(status),
  });
}

async function call(args: readonly string[]): Promise<number> {
  const parsed = parseCallArguments(args);
  if (!parsed.ok) {
    err(usageError('call', parsed.error));
    return 2;
  }
  return await runCall(parsed.value, { write: out });
}

async function top(args: readonly string[]): Promise<number> {
  const parsed = readArguments('top', args);
  if (!parsed.ok) return 2;
  const { url, once = false, json = false } = parsed.value.values;
  const isTerminal = process.stdout.isTTY;
  const rows = (): number | undefined => (isTerminal ? process.stdout.rows : undefined);
  return await runTop({ url, once, json, env, clock, isTerminal, rows, write: out, writeError: err });
}

async function serve(args: readonly string[]): Promise<number | undefined> {
  const parsed = readArguments('serve', args);
  const workers = parsed.ok ? (parsed.value.values.workers ?? 'auto') : '';
  const count = workers === 'auto' ? cores : Number(workers);
  if (!Number.isInteger(count) || count < 1 || count > maxWorkers) {
    err(usageError('serve', `--workers: must be auto or a whole number from 1 to ${maxWorkers}`));
    return 2;
  }
  const takeover = readTakeover(process.env[takeoverVariable], {
    parentPid: process.ppid,
    // Stays where the other end has gone.
    hasChannel: process.send !== undefined,
    isAlive: (pid) => readProcessState(pid)?.ended === false,
  });
  if (!takeover.ok) {
    err(takeover.error);
    return 1;
  }
  // Neither the children of this process nor a supervisor after it take over from that one.
  Reflect.deleteProperty(process.env, takeoverVariable);
  const { argv, execArgv, execPath, pid } = process;
  const launch = { command: execPath, args: [...execArgv, ...argv.slice(1)], env, pid };
  if (!takeover.value) return await runServe({ workers: count, env, writeError: err, launch });
  leadProcessGroup();
  const problems: string[] = [];
  const writeError = (line: string): void => {
    problems.push(line);
    err(line);
  };
  const status = await runServe({ workers: count, env, writeError, launch, parent: parentChannel });
  if (status !== undefined)
    await new Promise<void>((resolve) => parentChannel.send({ type: 'failed', problems }, resolve));
  return status;
}

const status = await run(process.argv.slice(2));
if (status !== undefined) process.exit(status);
