/**
 * PostgreSQL as it comes from Debian, on a loopback port and in a folder of its own. It does not run as root, so that for root it runs as the
 * user that its package has made. A machine without it skips with {@link postgresMissing}.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';

const packages = '/usr/lib/postgresql';
const home = '/var/lib/postgresql';

/** Folder of its programs. */
const programs = existsSync(packages)
  ? readdirSync(packages)
      .toSorted((a, b) => Number(b) - Number(a))
      .map((version) => join(packages, version, 'bin'))
      .find((folder) => existsSync(join(folder, 'postgres')))
  : undefined;

/** Why tests with PostgreSQL cannot run here, or undefined when they can. */
export const postgresMissing: string | undefined =
  programs === undefined ? `no version of PostgreSQL is installed in ${packages}` : undefined;

/** Whom it runs as. */
const owner = (): { readonly uid?: number; readonly gid?: number } => {
  if (process.getuid?.() !== 0) return {};
  const { uid, gid } = statSync(home);
  return { uid, gid };
};

export class TestPostgres {
  readonly #folder = mkdtempSync(join(tmpdir(), 'svc-postgres-'));
  readonly #user = owner();
  #port = 0;
  #child: ChildProcess | undefined;
  #databases = 0;

  static async start(): Promise<TestPostgres> {
    const server = new TestPostgres();
    await server.#init();
    await server.restart();
    return server;
  }

  async #init(): Promise<void> {
    const { uid, gid } = this.#user;
    if (uid !== undefined && gid !== undefined) chownSync(this.#folder, uid, gid);
    this.#run('initdb', [
      '-D',
      this.#data,
      '-U',
      'calls',
      '-A',
      'trust',
      '--no-sync',
      '-E',
      'UTF8',
      '--locale=C',
    ]);
    this.#port = await freePort();
  }

  get #data(): string {
    return join(this.#folder, 'data');
  }

  #run(program: string, args: readonly string[]): void {
    execFileSync(join(programs ?? '', program), args, { ...this.#user, cwd: this.#folder, stdio: 'pipe' });
  }

  /** The address of a new, empty database. */
  newDatabase(): string {
    this.#databases += 1;
    const name = `calls${this.#databases}`;
    this.#run('createdb', ['-h', '127.0.0.1', '-p', String(this.#port), '-U', 'calls', name]);
    return `postgres://calls@127.0.0.1:${this.#port}/${name}`;
  }

  /** Starts it, again with what it had. Resolves when it takes connections. */
  async restart(): Promise<void> {
    const args = ['-D', this.#data, '-p', String(this.#port), '-h', '127.0.0.1', '-k', this.#folder, '-F'];
    const child = spawn(join(programs ?? '', 'postgres'), args, {
      ...this.#user,
      cwd: this.#folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#child = child;
    await new Promise<void>((resolve, reject) => {
      let said = '';
      child.stderr.on('data', (text: Buffer) => {
        said = `${said}${text.toString()}`.slice(-4_000);
        if (said.includes('ready to accept connections')) resolve();
      });
      child.once('exit', () => reject(new Error(`postgres ended: ${said}`)));
    });
  }

  /** It and all of its processes answer nobody, and forget nothing. */
  hang(): void {
    this.#signal('SIGSTOP');
  }

  goOn(): void {
    this.#signal('SIGCONT');
  }

  /** Ends as on a machine that is shut down at once. */
  async stop(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined) return;
    const gone = once(child, 'exit');
    child.kill('SIGQUIT');
    await gone;
  }

  async close(): Promise<void> {
    this.goOn();
    await this.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Children have sessions of their own. */
  #signal(signal: NodeJS.Signals): void {
    const { pid } = this.#child ?? {};
    if (pid === undefined) return;
    const children = execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' });
    for (const one of [pid, ...children.split('\n').map(Number)]) if (one > 0) signalIfThere(one, signal);
  }
}

/** A child may have ended since it was listed. */
function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
