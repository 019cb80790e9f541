// How the release runs other programs.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** Settings of whoever runs this belong to that command: the parts of a release are tried without them. */
export const cleanEnv = (more = {}) => ({
  ...Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(npm_|SVC_|VOICE_AGENT_|PYTHON|VIRTUAL_ENV|INIT_CWD)/.test(name),
    ),
  ),
  SVC_MODEL_INDEX: 'off',
  ...more,
});

/** Runs a program to its end and gives what it printed; throws with both of its outputs where it fails. */
export function run(command, args, { cwd, env = cleanEnv(), fails = false } = {}) {
  return new Promise((resolve, reject) => {
    execFile(command, args, { cwd, env, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      const text = `${stdout}${fails ? stderr : ''}`;
      if ((error !== null) === fails) resolve(text);
      else if (fails) reject(new Error(`${command} ${args.join(' ')} should have failed`));
      else reject(new Error(`${command} ${args.join(' ')}: ${error.message}\n${stdout}${stderr}`));
    });
  });
}

/** A program that goes on, in a group of its own, so that all that it starts ends with it. */
export class Running {
  #child;
  #said = '';

  constructor(command, args, { cwd, env = cleanEnv() } = {}) {
    this.#child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  }

  /** The first line, on either output, that matches. Throws with all that was said where the program ends before. */
  async says(pattern) {
    const lines = [this.#child.stdout, this.#child.stderr].map((input) => createInterface({ input }));
    try {
      return await new Promise((resolve, reject) => {
        for (const each of lines)
          each.on('line', (line) => {
            this.#said += `${line}\n`;
            const found = pattern.exec(line);
            if (found !== null) resolve(found);
          });
        this.#child.once('error', reject);
        this.#child.once('exit', () =>
          reject(new Error(`it ended before it said ${pattern}:\n${this.#said}`)),
        );
      });
    } finally {
      // Nobody reads on, and a full pipe would hold the program up.
      for (const each of lines) each.removeAllListeners('line').on('line', () => undefined);
    }
  }

  async stop() {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    try {
      process.kill(-this.#child.pid, 'SIGTERM');
    } catch (error) {
      if (error.code !== 'ESRCH') throw error;
    }
    await ended;
  }
}
