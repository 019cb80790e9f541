/** A real redis-server on a free port, for tests of what several instances share. Nothing of it is written to a disk. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { freePort } from './free-port.ts';

export const hasRedis = spawnSync('redis-server', ['--version']).status === 0;

export class TestRedis {
  readonly port: number;
  readonly #password: string;
  #child: ChildProcess | undefined;

  private constructor(port: number, password: string) {
    this.port = port;
    this.#password = password;
  }

  static async start(password: string): Promise<TestRedis> {
    const redis = new TestRedis(await freePort(), password);
    await redis.restart();
    return redis;
  }

  get url(): string {
    return `redis://:${this.#password}@127.0.0.1:${this.port}/0`;
  }

  /** Starts it again, empty, on the same port. */
  async restart(): Promise<void> {
    const args = ['--port', String(this.port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
    const child = spawn('redis-server', [...args, '--requirepass', this.#password], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    this.#child = child;
    await new Promise<void>((resolve, reject) => {
      child.stdout.on('data', (text: Buffer) => {
        if (text.includes('Ready to accept connections')) resolve();
      });
      child.once('exit', () => reject(new Error('redis-server ended')));
    });
  }

  /** It answers nobody, and forgets nothing. */
  hang(): void {
    this.#child?.kill('SIGSTOP');
  }

  goOn(): void {
    this.#child?.kill('SIGCONT');
  }

  async stop(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }
}
