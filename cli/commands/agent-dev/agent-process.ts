/** The agent under development as a child process: started, and started anew whenever a file of it changes. */
import { spawn, type ChildProcess } from 'node:child_process';
import { readdirSync, watch, type FSWatcher } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Clock, Timer } from '../../../shared/runtime/clock.ts';

/** An editor writes a file in several steps. */
const settleMs = 100;
/** Between being asked to end and being ended. */
const endWithinMs = 500;
const mostFolders = 256;
const isCode = /\.(m?[tj]s|py)$/;
const isLeftOut = /^(node_modules|__pycache__|dist|\..*)$/;

export interface AgentProcessOptions {
  readonly file: string;
  /** Started in the agent's own environment, with these on top. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The built `typescript-hooks`, and the folder of the Python SDK's sources. */
  readonly hooks: URL;
  readonly pythonPath: string;
  readonly clock: Clock;
  /** Is told of each process that is started. */
  readonly started: (child: ChildProcess) => void;
  readonly note: (text: string) => void;
}

/** The program and its arguments for a file; undefined for one of another language. Pure. */
export function commandFor(
  file: string,
  { hooks, execPath }: { hooks: URL; execPath: string },
): readonly string[] | undefined {
  if (/\.py$/.test(file)) return ['python3', '-u', file];
  if (!/\.m?[tj]s$/.test(file)) return undefined;
  return [execPath, '--enable-source-maps', '--import', hooks.href, pathToFileURL(resolve(file)).pathname];
}

/** The folder and those below it that may hold code, at most 256. */
function foldersOf(root: string): string[] {
  const folders = [root];
  for (const folder of folders) {
    const below = readdirSync(folder, { withFileTypes: true }).filter(
      (entry) => entry.isDirectory() && !isLeftOut.test(entry.name),
    );
    folders.push(...below.slice(0, mostFolders - folders.length).map(({ name }) => join(folder, name)));
  }
  return folders;
}

export class AgentProcess {
  readonly #options: AgentProcessOptions;
  readonly #command: readonly string[];
  #child: ChildProcess | undefined;
  #watchers: FSWatcher[] = [];
  #settling: Timer | undefined;
  #isStopping = false;

  constructor(options: AgentProcessOptions, command: readonly string[]) {
    this.#options = options;
    this.#command = command;
  }

  start(): void {
    this.#watch();
    this.#spawn();
  }

  /** Resolves when it has ended. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#settling?.cancel();
    this.#unwatch();
    await this.#end();
  }

  #spawn(): void {
    const { env, note, pythonPath } = this.#options;
    const [program = '', ...args] = this.#command;
    const path = [pythonPath, env['PYTHONPATH']]
      .filter((part) => part !== undefined && part !== '')
      .join(':');
    // A group of its own: the terminal's Ctrl-C reaches this command alone.
    const child = spawn(program, args, {
      env: { ...env, PYTHONPATH: path },
      stdio: 'inherit',
      detached: true,
    });
    this.#child = child;
    this.#options.started(child);
    child.once('error', () => note(`${program} could not be started`));
    child.once('exit', (code, signal) => {
      if (this.#child !== child) return;
      this.#child = undefined;
      note(`the agent ended (${code ?? signal ?? 'unknown'}); it starts again when a file changes`);
    });
  }

  #watch(): void {
    this.#watchers = foldersOf(dirname(resolve(this.#options.file))).map((folder) =>
      watch(folder, (_, name) => {
        if (name !== null && isCode.test(name)) this.#changed();
      }).on('error', () => this.#options.note('a folder can no longer be watched')),
    );
  }

  #unwatch(): void {
    for (const watcher of this.#watchers) watcher.close();
  }

  #changed(): void {
    this.#settling?.cancel();
    this.#settling = this.#options.clock.after(settleMs, () => void this.#restart());
  }

  async #restart(): Promise<void> {
    await this.#end();
    if (this.#isStopping) return;
    this.#options.note('a file changed: the agent starts again');
    this.#unwatch();
    this.#watch();
    this.#spawn();
  }

  #end(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined) return Promise.resolve();
    return new Promise((done) => {
      const late = this.#options.clock.after(endWithinMs, () => child.kill('SIGKILL'));
      child.once('exit', () => {
        late.cancel();
        done();
      });
      child.kill('SIGTERM');
    });
  }
}
