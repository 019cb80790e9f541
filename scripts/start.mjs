// `npm start`, and `npx voice-agent-service` where the package is installed: the service with the keyless demo. Installs and builds what is missing, starts the demo's providers, then the
// supervisor, and says where to go. Neither child outlives the other, nor this command.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { answerHelp } from './process/help.mjs';
import { isInstalled, makeReady } from './process/ready.mjs';
import { stopWithNpm } from './process/stop-with-npm.mjs';

/** In a checkout and in a project of `init` it is a script that says which agent. */
const isScript = !isInstalled || process.env.npm_lifecycle_event === 'start';
const command = isScript ? 'npm start --' : 'npx voice-agent-service demo';
const usage = `usage: ${command} [options]
  --free-ports  every port is a free one
  --realtime    the demo has a model that hears and speaks by itself
  --json        one machine-readable line when all is up
  --verbose     every log line of the service`;
answerHelp(usage);
if (process.argv.slice(2).some((arg) => !arg.startsWith('--'))) {
  process.stderr.write(`unknown argument\n${usage}\n`);
  process.exit(2);
}
const flags = Object.fromEntries(
  ['free-ports', 'realtime', 'json', 'verbose'].map((name) => [name, process.argv.includes(`--${name}`)]),
);
const dist = (path) => fileURLToPath(new URL(`../dist/${path}`, import.meta.url));
const preload = new URL('./process/stop-with-parent.mjs', import.meta.url).href;
const say = (text) => (flags.json ? process.stderr : process.stdout).write(`${text}\n`);

const levels = { 10: 'trace', 20: 'debug', 30: 'info', 40: 'warning', 50: 'error', 60: 'fatal' };
const hidden = ['level', 'time', 'pid', 'hostname', 'name', 'msg', 'v'];

/** A log line of the service as an object; undefined when it is something else. */
function parseLog(line) {
  try {
    const entry = JSON.parse(line);
    return typeof entry === 'object' && entry !== null ? entry : undefined;
  } catch {
    return undefined;
  }
}

/** `14:03:11 warning  The sentence (key=value, ...)` */
function readable(entry) {
  const level = levels[entry.level] ?? String(entry.level ?? 'info');
  const time = new Date(entry.time ?? Date.now()).toTimeString().slice(0, 8);
  const fields = Object.entries(entry).filter(([name]) => !hidden.includes(name));
  // A name that a caller chose is text in the terminal and no command to it.
  const plain = (value) =>
    value.replaceAll(/\p{Cc}/gu, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`);
  const details = fields.map(
    ([name, value]) => `${name}=${plain(typeof value === 'string' ? value : JSON.stringify(value))}`,
  );
  return `${time} ${level.padEnd(8)} ${entry.msg ?? ''}${details.length > 0 ? ` (${details.join(', ')})` : ''}`;
}

const isWarning = ({ level }) =>
  typeof level === 'number' ? level >= 40 : /^(warn|error|fatal)/.test(level ?? '');

/** The token of the page of past calls was made here, for this run alone. */
const isOwnToken = ({ msg }) =>
  process.env.SVC_CALLS_TOKEN === undefined && String(msg).startsWith('SVC_CALLS_TOKEN is a static token');

/** A child whose end is known: `ended` resolves with its exit code, or the signal's name. */
function start(args, options) {
  // Its own group: the terminal's Ctrl-C reaches only this command, which passes it on once.
  const child = spawn(process.execPath, args, { ...options, detached: true });
  const ended = new Promise((resolve) => {
    child.once('error', () => resolve(1));
    child.once('exit', (code, signal) => resolve(code ?? signal));
  });
  return { child, ended };
}

/** The providers; resolves with what they say when they listen, rejects when they end before that. */
async function startDemo() {
  const demo = start(
    [
      '--enable-source-maps',
      dist('examples/demo/main.js'),
      ...['free-ports', 'realtime'].filter((name) => flags[name]).map((name) => `--${name}`),
    ],
    {
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  demo.child.stdin.on('error', () => undefined);
  const lines = createInterface({ input: demo.child.stdout });
  const ready = await Promise.race([
    new Promise((resolve) => lines.once('line', (line) => resolve(parseLog(line)))),
    demo.ended.then(() => undefined),
  ]);
  if (ready?.ready !== true) throw new Error('The demo providers did not start.');
  return { ...demo, ready };
}

/** Records of the demo's calls, as long as it runs, and who may see them: the user's own settings win. */
function historyOf(folder) {
  if (process.env.SVC_CALLS_DB !== undefined) return {};
  return {
    SVC_CALLS_DB: join(folder, 'calls.db'),
    SVC_CALLS_TOKEN: process.env.SVC_CALLS_TOKEN ?? randomBytes(16).toString('hex'),
  };
}

/** The environment of the supervisor: the user's own settings win; of an agent file the demo may have made a copy. */
function supervisorEnv(agentFile, history) {
  const fixed = {
    SVC_WS_ADDR: '127.0.0.1:8080',
    SVC_HEALTH_ADDR: '127.0.0.1:8081',
    SVC_PAGE_ADDR: '127.0.0.1:8088',
    SVC_RTVI_ADDR: '127.0.0.1:8089',
  };
  const free = Object.fromEntries(Object.keys(fixed).map((name) => [name, '127.0.0.1:0']));
  return { ...(flags['free-ports'] ? free : fixed), ...history, ...process.env, SVC_AGENT_FILE: agentFile };
}

/** Whether the supervisor found another program on one of its ports. */
let isPortTaken = false;

/** Follows the supervisor's log; `up` resolves with its addresses when it is ready. */
function follow(supervisor) {
  const addresses = {};
  const lines = createInterface({ input: supervisor.child.stdout });
  const up = new Promise((resolve) => {
    lines.on('line', (line) => {
      const entry = parseLog(line);
      if (entry?.msg === 'listening') addresses[entry.listener] = entry.address;
      if (entry?.msg === 'ready') resolve(addresses);
      if (String(entry?.error).includes('(EADDRINUSE)')) isPortTaken = true;
      if (entry === undefined) process.stderr.write(`${line}\n`);
      else if (flags.verbose || (isWarning(entry) && !isOwnToken(entry)))
        process.stderr.write(`${readable(entry)}\n`);
    });
  });
  return up;
}

function summary({ page, ws, rtvi, ready, calls, ownAgent }) {
  return [
    '',
    '  The voice agent is running.',
    '',
    `  Call page     ${page}`,
    `  WebSocket     ${ws}`,
    `  RTVI          ${rtvi}`,
    `  Ready?        ${ready}`,
    ...(calls === undefined ? [] : [`  Past calls    ${calls.page} (token ${calls.token})`]),
    ...(ownAgent
      ? [`  Agent         ${ownAgent}`]
      : ['  Agent         the keyless demo: ask for the time, the weather, a table, an order']),
    '',
    '  Ctrl-C stops it.',
    '',
  ].join('\n');
}

let stopping = false;

/** Waits for the end of both children; a signal goes to the supervisor, which drains, and the demo ends after it. */
async function runUntilEnd(demo, supervisor) {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      stopping = true;
      supervisor.child.kill(signal === 'SIGHUP' ? 'SIGTERM' : signal);
    });
  }
  const first = await Promise.race([
    supervisor.ended.then((result) => ({ who: 'supervisor', result })),
    demo.ended.then((result) => ({ who: 'demo', result })),
  ]);
  if (first.who === 'demo') {
    if (!stopping)
      process.stderr.write(`The demo providers ended (${first.result}); stopping the service.\n`);
    supervisor.child.kill('SIGTERM');
  } else if (!stopping && first.result !== 0) {
    process.stderr.write(`The service ended (${first.result}); stopping the demo providers.\n`);
    if (isPortTaken && !flags['free-ports'])
      process.stderr.write(`\`${command} --free-ports\` takes free ports instead.\n`);
  }
  const result = await supervisor.ended;
  supervisor.child.stdin.end();
  demo.child.stdin.end();
  await demo.ended;
  if (first.who === 'demo' && !stopping) return 1;
  return typeof result === 'number' ? result : 1;
}

async function main() {
  stopWithNpm(() => {
    if (!stopping) process.kill(process.pid, 'SIGTERM');
  });
  await makeReady();
  const demo = await startDemo();
  const folder = mkdtempSync(join(tmpdir(), 'voice-agent-demo-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const history = historyOf(folder);
  const supervisor = start(['--import', preload, dist('supervisor/cli.js'), '--workers', 'auto'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: supervisorEnv(demo.ready.agentFile, history),
  });
  supervisor.child.stdin.on('error', () => undefined);
  follow(supervisor)
    .then((addresses) => {
      const ws = `ws://${addresses.websocket}`;
      const rtvi = `ws://${addresses.rtvi}`;
      const health = `http://${addresses.health}/healthz`;
      const page = `http://${addresses.page}/`;
      const ready = `http://${addresses.health}/readyz`;
      const { SVC_CALLS_TOKEN: token } = history;
      const calls = token && { page: `http://${addresses.health}/calls`, token };
      say(summary({ page, ws, rtvi, ready, calls, ownAgent: process.env.SVC_AGENT_FILE }));
      if (flags.json) {
        const { stt, llm, tts, realtime } = demo.ready;
        process.stdout.write(
          `${JSON.stringify({ demo: 'ready', page, ws, rtvi, health, stt, llm, tts, realtime })}\n`,
        );
      }
    })
    .catch(() => supervisor.child.kill('SIGTERM'));
  return runUntilEnd(demo, supervisor);
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : 'The start failed.'}\n`);
  process.exitCode = 1;
}
