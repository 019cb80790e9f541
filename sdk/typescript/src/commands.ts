/**
 * Commands of one call and their outcomes. Each is answered exactly once: by its `command.result`, or when the call is over. What waits
 * outlives a broken link and is sent again with the same id, which the service answers without doing it twice.
 */
import { brokenRule, type Command } from './command-rules.ts';
import { CallEnded, CommandRefused } from './errors.ts';
import { limits } from './wire/constants.ts';
import type { CommandResultMessage } from './wire/service-messages.ts';

interface Waiting {
  readonly text: string;
  readonly done: () => void;
  readonly refused: (error: CommandRefused) => void;
}

/** Bytes of UTF-8. */
const byteLength = (text: string): number => Buffer.byteLength(text);

/** Whether a text fits into one message of the link. */
export const fitsLink = (text: string): boolean => byteLength(text) <= limits.messageBytes;

export class Commands {
  readonly #waiting = new Map<string, Waiting>();
  readonly #write: (text: string) => void;
  #count = 0;
  #isOver = false;

  /** `write` sends at once, or does nothing while there is no link. */
  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  /** Resolves when the service has done it, rejects with `CommandRefused`. One that nobody awaits ends no process. */
  send(command: Command): Promise<void> {
    const outcome = this.#send(command);
    outcome.catch(() => undefined);
    return outcome;
  }

  #send(command: Command): Promise<void> {
    if (this.#isOver) return Promise.reject(new CallEnded());
    const id = command.id ?? `sdk-${(this.#count += 1)}`;
    const rule = brokenRule(command);
    if (rule !== undefined) return refuse('invalid_message', rule);
    const text = jsonOf({ ...command, id });
    if (text === undefined) return refuse('invalid_message', 'data: must be JSON');
    if (!fitsLink(text))
      return refuse('message_too_large', `a message must be at most ${limits.messageBytes} bytes`);
    if (this.#waiting.has(id))
      return refuse('invalid_message', 'id: another command with it waits for its outcome');
    if (this.#waiting.size >= limits.rememberedCommands)
      return refuse(
        'too_many_commands',
        `${limits.rememberedCommands} commands wait for their outcomes already`,
      );
    return new Promise((done, refused) => {
      this.#waiting.set(id, { text, done, refused });
      this.#write(text);
    });
  }

  settle({ id, ok, error }: CommandResultMessage): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    this.#waiting.delete(id);
    if (ok) waiting.done();
    else {
      const { code, message } = { code: 'refused', message: 'the service gave no reason', ...error };
      waiting.refused(new CommandRefused(code, message));
    }
  }

  /** Everything that waits, in its order: there is a link now. */
  sendAll(): void {
    for (const { text } of this.#waiting.values()) this.#write(text);
  }

  /** No outcome will come any more. */
  close(): void {
    this.#isOver = true;
    for (const { refused } of this.#waiting.values()) refused(new CallEnded());
    this.#waiting.clear();
  }
}

/** Undefined for what JSON cannot hold. */
function jsonOf(command: Command): string | undefined {
  try {
    const text = JSON.stringify(command);
    return 'data' in command && JSON.stringify(command.data) === undefined ? undefined : text;
  } catch {
    return undefined;
  }
}

const refuse = (code: string, message: string): Promise<never> =>
  Promise.reject(new CommandRefused(code, message));
