/**
 * A WHIP client in a process of its own. It takes commands as lines of text (`say`, `hang up`) and tells what happens as lines of
 * JSON with an `event`.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { Observed } from '../../process/observed.ts';

type Told = Readonly<Record<string, unknown>> & { readonly event: string };

export class ClientProgram extends Observed {
  readonly told: Told[] = [];
  /** What it wrote beside that, for the reader of a failure. */
  readonly text: string[] = [];
  readonly #child: ChildProcess;
  #isOver = false;

  constructor(command: string, args: readonly string[]) {
    super();
    this.#child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    const { stdout, stderr } = this.#child;
    if (stdout !== null) createInterface({ input: stdout }).on('line', (line) => this.#take(line));
    if (stderr !== null) createInterface({ input: stderr }).on('line', (line) => this.text.push(line));
    this.#child.once('close', () => {
      this.#isOver = true;
      this.changed();
    });
  }

  #take(line: string): void {
    if (line.startsWith('{')) this.told.push(JSON.parse(line) as Told);
    else this.text.push(line);
    this.changed();
  }

  /** Resolves with the newest line of an event as soon as one fits. */
  async tells(event: string, fits: (told: Told) => boolean = () => true): Promise<Told> {
    const find = (): Told | undefined => this.told.findLast((told) => told.event === event && fits(told));
    await this.until(() => this.#isOver || find() !== undefined);
    const found = find();
    if (found === undefined)
      throw new Error(`the client ended without telling "${event}":\n${this.text.join('\n')}`);
    return found;
  }

  command(text: 'say' | 'hang up'): void {
    this.#child.stdin?.write(`${text}\n`);
  }

  close(): void {
    this.#child.kill('SIGKILL');
  }
}
