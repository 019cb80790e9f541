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
