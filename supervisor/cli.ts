/** The command line of `svc-supervisor`. Every command has its own file; this one only finds it. */
import '../shared/runtime/stack.ts';
import { randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { CALL_USAGE, parseCallArguments, runCall } from './call-client.ts';
import { runCheck } from './check-command.ts';
import { readBytes, readText } from './named-files.ts';
import { runConfig } from './config-command.ts';
import { runLocal } from './local-command.ts';
import { runModels } from './models-command.ts';
import { parentChannel } from './predecessor.ts';
import { runServe } from './serve-command.ts';
import { runToken } from './token-command.ts';
import { leadProcessGroup } from '../shared/runtime/child.ts';
import { readTakeover, takeoverVariable } from '../shared/protocol/takeover.ts';
import { systemClock, systemWallClock } from '../shared/runtime/clock.ts';
import { newLog } from '../shared/runtime/log.ts';

const usage = `svc-supervisor [--workers auto|N]          run the service
svc-supervisor check FILE [--require-secrets]  check an agent file
svc-supervisor check FILE --connect        and try everything that it reaches
svc-supervisor token mint|inspect ...       make or read a session token (token --help)
svc-supervisor models list|pull            which speech models are there; fetch one (models --help)
svc-supervisor local [options]             serve speech on this machine with sherpa-onnx (local --help)
svc-supervisor console FILE                talk to an agent by typing (console --help)
svc-supervisor rehearse SCENARIOS FILE     play scenarios against an agent (rehearse --help)
svc-supervisor config                      print the settings in force
svc-supervisor call FILE.wav [options]     play a recording into a running service (call --help)
svc-supervisor --help

Settings are environment variables; docs/reference/server-settings.md lists them.`;

/** Commands that explain themselves. */
const helpfulCommands = ['call', 'token', 'models', 'local', 'console', 'rehearse'];

const maxWorkers = 256;
const out = (line: string): void => void process.stdout.write(`${line}\n`);
const err = (line: string): void => void process.stderr.write(`${line}\n`);

/** Runs a command. Resolves with the exit status, or with undefined while a service runs. */
async function run(args: readonly string[]): Promise<number | undefined> {
  const [first, ...rest] = args;
  if (args.includes('--help') && !helpfulCommands.includes(first ?? '')) {
    out(usage);
    return 0;
  }
  switch (first) {
    case 'check':
      if (rest.includes('--connect')) {
        await tryAgent();
        return undefined;
      }
      return check(rest);
    case 'config':
      if (rest.length > 0) break;
      return runConfig({ env: process.env, cores: availableParallelism(), write: out });
    case 'token':
      return runToken(rest, {
        env: process.env,
        nowS: Math.floor(systemWallClock.now() / 1000),
        newId: randomUUID,
        write: out,
        writeError: err,
      });
    case 'models':
      return await runModels(rest, {
        env: process.env,
        clock: systemClock,
        write: out,
        writeError: err,
        ...(process.stderr.isTTY && { redraw: (line) => process.stderr.write(`\r${line}`) }),
      });
    case 'local':
      return await runLocal(rest, {
        env: process.env,
        cores: availableParallelism(),
        clock: systemClock,
        newLog: () => newLog({ role: 'local', level: 'info' }),
        write: out,
        writeError: err,
        exit: (code) => process.exit(code),
      });
    case 'call':
      return await call(rest);
    case 'console':
    case 'rehearse':
      await tryAgent();
      return undefined;
    case undefined:
      return await serve('auto');
    case '--workers':
      if (rest.length === 1) return await serve(rest[0] ?? '');
      break;
    default:
      if (first.startsWith('--workers=') && rest.length === 0)
        return await serve(first.slice('--workers='.length));
  }
  err(`unknown arguments\n\n${usage}`);
  return 1;
}

/** A file of its own: a service loads nothing of it. It reads the arguments itself and ends the process. */
async function tryAgent(): Promise<void> {
  await import(new URL('./rehearsal/main.js', import.meta.url).href);
}

function check(args: readonly string[]): number {
  const files = args.filter((arg) => !arg.startsWith('--'));
  const options = args.filter((arg) => arg.startsWith('--'));
  const [file] = files;
  if (file === undefined || files.length > 1 || options.some((option) => option !== '--require-secrets')) {
    err('usage: svc-supervisor check FILE [--require-secrets] [--connect]');
    return 1;
  }
  const requireSecrets = options.length > 0;
  return runCheck(file, { requireSecrets, env: process.env, readFile: readText, readBytes, write: out });
}

async function call(args: readonly string[]): Promise<number> {
  if (args.includes('--help')) {
    out(CALL_USAGE);
    return 0;
  }
  const parsed = parseCallArguments(args);
  if (!parsed.ok) {
    err(`${parsed.error}\n\n${CALL_USAGE}`);
    return 1;
  }
  return await runCall(parsed.value, { write: out });
}

async function serve(workers: string): Promise<number | undefined> {
  const count = workers === 'auto' ? availableParallelism() : Number(workers);
  if (!Number.isInteger(count) || count < 1 || count > maxWorkers) {
    err(`--workers: must be auto or a whole number from 1 to ${maxWorkers}`);
    return 1;
  }
  const takeover = readTakeover(process.env[takeoverVariable], {
    parentPid: process.ppid,
    hasChannel: process.connected,
  });
  if (!takeover.ok) {
    err(takeover.error);
    return 1;
  }
  // Neither the children of this process nor a supervisor after it take over from that one.
  Reflect.deleteProperty(process.env, takeoverVariable);
  const { argv, env, execArgv, execPath, pid } = process;
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
