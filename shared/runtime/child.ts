/** Being a child of the supervisor. */

/**
 * Calls `stop` once when the supervisor is gone, however it went: its end of the message channel closes with it. Signals
 * that a terminal or a service manager sends to the whole process group are left to the supervisor.
 */
export function exitWithParent(stop: () => void): void {
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => undefined);
  process.on('SIGUSR2', () => undefined);
  process.once('disconnect', stop);
  if (!process.connected) stop();
}

/** The message with which the supervisor sets a child up; its type is the supervisor's promise. */
export function firstMessage<T>(): Promise<T> {
  return new Promise((resolve) => process.once('message', (message) => resolve(message as T)));
}

/**
 * The first stack of an error makes Node read the source map of the whole bundle, which takes tens of milliseconds: better before
 * there are calls than in the middle of all of them.
 */
export const readSourceMap = (): boolean => new Error('only for its stack').stack !== undefined;
