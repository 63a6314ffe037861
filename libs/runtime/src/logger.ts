/** Fields of a log line; values must be valid JSON and never contain secrets. */
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
  /** Returns a logger that adds `fields` to every line. */
  child(fields: LogFields): Logger;
}

/** Logs nothing; for tests and tools. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLogger,
};

/** Returns the message of any thrown value. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
