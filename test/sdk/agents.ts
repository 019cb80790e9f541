/** An agent for tests of the TypeScript SDK: it is quiet, and remembers what it logged. */
import { Agent, type AgentOptions, type Logger } from '@voice-agent-service/agent';
import { Observed } from '../support/process/observed.ts';

export interface Logged {
  readonly level: keyof Logger;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export class RememberingLogger extends Observed implements Logger {
  readonly lines: Logged[] = [];
  debug = this.#at('debug');
  info = this.#at('info');
  warn = this.#at('warn');
  error = this.#at('error');

  #at(level: keyof Logger): Logger['info'] {
    return (message, fields = {}) => {
      this.lines.push({ level, message, fields });
      this.changed();
    };
  }

  has(message: string): boolean {
    return this.lines.some((line) => line.message === message);
  }
}

export function quietAgent(options: Partial<AgentOptions> = {}): { agent: Agent; log: RememberingLogger } {
  const log = new RememberingLogger();
  return { agent: new Agent({ name: 'test', logger: log, ...options }), log };
}

/** Settles what has already been decided. */
export const turnOfLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
