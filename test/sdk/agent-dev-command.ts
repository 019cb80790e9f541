/** `svc-supervisor agent dev` as a process: the whole command, and what it says line by line. */
import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Observed } from '../support/process/observed.ts';
import { cleanEnv } from '../support/process/running-demo.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));

export class AgentDev extends Observed {
  readonly lines: string[] = [];
  readonly child: ChildProcess;
  #isOver = false;

  constructor(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    super();
    const program = join(project, 'scripts/svc-supervisor.mjs');
    const child = spawn(process.execPath, [program, 'agent', 'dev', ...args], {
      cwd: project,
      env: { ...cleanEnv(), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child = child;
    for (const stream of [child.stdout, child.stderr])
      createInterface({ input: stream }).on('line', (line) => {
        this.lines.push(line);
        this.changed();
      });
    child.once('close', () => {
      this.#isOver = true;
      this.changed();
    });
  }

  /** Nobody writes to its streams any more. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Resolves with what the pattern finds in a line after the first `from`. */
  async says(pattern: RegExp, from = 0): Promise<RegExpExecArray> {
    const find = (): RegExpExecArray | undefined => {
      for (const line of this.lines.slice(from)) {
        const found = pattern.exec(line);
        if (found !== null) return found;
      }
      return undefined;
    };
    await this.until(() => this.#isOver || find() !== undefined);
    const found = find();
    if (found === undefined)
      throw new Error(`the command ended without saying ${pattern}:\n${this.lines.join('\n')}`);
    return found;
  }
}
