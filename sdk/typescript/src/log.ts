import { inspect } from 'node:util';

/**
 * Where the SDK says what it does. A line is a fixed sentence and fields; neither holds what callers say, arguments of tools, or tokens.
 * What a handler threw stands in the field `error`.
 */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

export type LogFields = Readonly<Record<string, unknown>>;

const line = (message: string, fields: LogFields = {}): string => {
  const { error, ...rest } = fields;
  const details = Object.entries(rest).map(([name, value]) => `${name}=${String(value)}`);
  const trace =
    error === undefined
      ? ''
      : `\n${error instanceof Error ? (error.stack ?? error.message) : inspect(error)}`;
  return `${message}${details.length > 0 ? ` (${details.join(', ')})` : ''}${trace}`;
};

/** Lines for people on the standard error stream; `debug` is left out. */
export const consoleLogger: Logger = {
  debug: () => undefined,
  info: (message, fields) => console.error(line(message, fields)),
  warn: (message, fields) => console.error(line(message, fields)),
  error: (message, fields) => console.error(line(message, fields)),
};

/** A logger of the application's must not end a call either. */
export function guarded(logger: Logger): Logger {
  const guard =
    (level: keyof Logger) =>
    (message: string, fields?: LogFields): void => {
      try {
        logger[level](message, fields);
      } catch (error) {
        console.error(line('the logger failed', { error }));
      }
    };
  return { debug: guard('debug'), info: guard('info'), warn: guard('warn'), error: guard('error') };
}
