/** Facts beside a message; values must survive JSON and never hold secrets. */
export interface LogFields {
  readonly [key: string]: unknown;
}

/** Severity of a line, ascending. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Log of a program. Messages are constant text; variable parts go into fields. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A logger that adds `fields` to every line. */
  child(fields: LogFields): Logger;
}

/** Says nothing; for tests and tools. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLogger,
};

/** The message of anything that was thrown. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
