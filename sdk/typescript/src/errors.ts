/** What can be thrown at, and by, an application. */
import type { LinkErrorCode } from './wire/constants.ts';

/** Codes of the service, and those of the SDK itself. */
export type RefusalCode = LinkErrorCode | 'session_over' | 'too_many_commands' | (string & {});

/** A command was not done. `code` says why; the words are for people. */
export class CommandRefused extends Error {
  override readonly name = 'CommandRefused';
  readonly code: RefusalCode;

  constructor(code: RefusalCode, message: string) {
    super(`${code}: ${message}`);
    this.code = code;
  }
}

/** The call was over before the command was answered, or before it was given. */
export class CallEnded extends CommandRefused {
  constructor() {
    super('session_over', 'the call is over');
  }
}

/** Thrown by a tool handler: the LLM is told these words. Of any other error it learns only that the tool failed. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
}

/** Thrown by a start handler: the agent does not take the call, which the service then holds by its agent file. */
export class RejectCall extends Error {
  override readonly name = 'RejectCall';
  readonly code: string;

  constructor(code: string, message = '') {
    super(message);
    this.code = code;
  }
}
