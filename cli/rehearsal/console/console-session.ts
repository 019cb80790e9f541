/**
 * The console: lines that are typed become turns of a caller, one after another. It waits for the end of an answer before
 * the next line, except that a line typed meanwhile takes the answer as heard; an interruption does not.
 */
import type { Conversation } from '../conversation.ts';

const consoleHelp = `Type what the caller says. Ctrl-C interrupts the agent, Ctrl-D ends the call.
/key 1    press keys: 0-9 * # A-D, several at once too
/wait 15  stay silent for so many seconds
/quit     end the call`;

const longestWaitS = 3_600;
const longestLine = 4_096;

export interface ConsoleOptions {
  /** Takes a line of the console's own. */
  readonly notice: (line: string) => void;
  /** Somebody types and listens: nothing is waited for once they type on. */
  readonly isInteractive: boolean;
  /** Lines wait, or none does: whether more should be read. */
  readonly wantsLines: (wanted: boolean) => void;
}

/** Lines that may wait before no more are read. */
const mostWaiting = 16;

export class ConsoleSession {
  readonly #call: Conversation;
  readonly #options: ConsoleOptions;
  readonly #lines: string[] = [];
  #hasEnded = false;
  #stirred: (() => void) | undefined;

  constructor(call: Conversation, options: ConsoleOptions) {
    this.#call = call;
    this.#options = options;
  }

  /** A line was typed. */
  line(text: string): void {
    this.#lines.push(text);
    if (this.#lines.length >= mostWaiting) this.#options.wantsLines(false);
    if (this.#options.isInteractive) this.#call.hurry();
    this.#stirred?.();
  }

  interrupt(): void {
    if (!this.#call.interrupt()) this.#options.notice('Nothing to interrupt. Ctrl-D or /quit ends the call.');
  }

  /** No more lines come. Those that wait are still said, unless somebody is there who wants to leave. */
  end(): void {
    this.#hasEnded = true;
    if (this.#options.isInteractive) {
      this.#lines.length = 0;
      this.#call.hangUp();
    }
    this.#stirred?.();
  }

  /** Resolves when the call is over. */
  async run(): Promise<void> {
    await this.#call.run({ until: 'quiet' });
    while (!this.#call.isOver) {
      const line = await this.#nextLine();
      if (line === undefined) this.#call.hangUp();
      else await this.#take(line.trim());
    }
  }

  async #nextLine(): Promise<string | undefined> {
    while (this.#lines.length === 0 && !this.#hasEnded) {
      this.#options.wantsLines(true);
      await new Promise<void>((resolve) => (this.#stirred = resolve));
    }
    return this.#lines.shift();
  }

  async #take(line: string): Promise<void> {
    if (line === '') return;
    if (line.startsWith('/')) {
      await this.#command(line);
      return;
    }
    if (line.length > longestLine) {
      this.#options.notice(`A line has at most ${longestLine} characters.`);
      return;
    }
    this.#call.say(line);
    await this.#call.run({ until: 'quiet' });
  }

  async #command(line: string): Promise<void> {
    const [command = '', argument = '', ...rest] = line.split(/\s+/);
    const { notice } = this.#options;
    if (command === '/quit' && argument === '') {
      this.#call.hangUp();
    } else if (command === '/help') {
      notice(consoleHelp);
    } else if (command === '/key' && rest.length === 0 && /^[0-9*#A-D]{1,32}$/.test(argument)) {
      this.#call.press(argument);
      await this.#call.run({ until: 'quiet' });
    } else if (command === '/wait' && rest.length === 0 && isWait(argument)) {
      await this.#call.run({ until: 'time', ms: Number(argument) * 1000 });
      await this.#call.run({ until: 'quiet' });
    } else {
      notice(`This is not a command.\n${consoleHelp}`);
    }
  }
}

const isWait = (text: string): boolean =>
  /^\d{1,4}$/.test(text) && Number(text) >= 1 && Number(text) <= longestWaitS;
