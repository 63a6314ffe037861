import { pino, type Logger as Pino } from 'pino';
import { errorText, type LogFields, type Logger } from '@causeway/runtime';

/** How a program logs: JSON lines on stdout, or coloured text where a person reads them. */
export interface LogOptions {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  /** Stands in every line: `global`, `zone east`. */
  readonly program: string;
  readonly pretty: boolean;
}

const STDOUT = 1;

/** The product's logger on pino. Errors among the fields are written with message and stack. */
export function createLogger(options: LogOptions): Logger {
  const { level, program, pretty } = options;
  const base = { program };
  // Written at once: what waits in a buffer at the end can keep a program from ending when nobody reads its output any more.
  if (!pretty) return wrap(pino({ level, base }, pino.destination({ dest: STDOUT, sync: true })));
  const transport = { target: 'pino-pretty', options: { ignore: 'pid,hostname', translateTime: 'HH:MM:ss.l' } };
  return wrap(pino({ level, base, transport }));
}

function wrap(log: Pino): Logger {
  return {
    debug: (message, fields) => log.debug(plain(fields), message),
    info: (message, fields) => log.info(plain(fields), message),
    warn: (message, fields) => log.warn(plain(fields), message),
    error: (message, fields) => log.error(plain(fields), message),
    child: (fields) => wrap(log.child(plain(fields))),
  };
}

function plain(fields: LogFields = {}): LogFields {
  const entries: [string, unknown][] = Object.entries(fields).map(([key, value]) => [
    key,
    value instanceof Error ? describe(value) : value,
  ]);
  return Object.fromEntries(entries);
}

function describe(error: Error): LogFields {
  return { message: errorText(error), stack: error.stack };
}
