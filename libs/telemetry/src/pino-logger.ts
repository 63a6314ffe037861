import { destination, pino, type Logger as Pino } from 'pino';
import type { LogFields, Logger } from '@causeway/runtime';
import { boundedFields, boundedText } from './bounded-fields';

/** How a program logs: JSON lines on stdout, or coloured text where a person reads them. */
export interface LogOptions {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  /** Stands in every line: `global`, `zone east`. */
  readonly program: string;
  readonly pretty: boolean;
}

const STDOUT = 1;
/** What is kept of lines that cannot be written now, bytes. */
const MOST_UNWRITTEN = 1_000_000;

/** The product's logger on pino. Errors among the fields are written with message and stack; texts and lists are bounded. */
export function createLogger(options: LogOptions): Logger {
  const { level, program, pretty } = options;
  const base = { program };
  if (!pretty) return wrap(pino({ level, base }, stdout()));
  const transport = { target: 'pino-pretty', options: { ignore: 'pid,hostname', translateTime: 'HH:MM:ss.l' } };
  return wrap(pino({ level, base, transport }));
}

function wrap(log: Pino): Logger {
  return {
    debug: (message, fields) => write(log, 'debug', message, fields),
    info: (message, fields) => write(log, 'info', message, fields),
    warn: (message, fields) => write(log, 'warn', message, fields),
    error: (message, fields) => write(log, 'error', message, fields),
    child: (fields) => wrap(log.child(boundedFields(fields))),
  };
}

function write(log: Pino, level: LogOptions['level'], message: string, fields: LogFields = {}): void {
  if (log.isLevelEnabled(level)) log[level](boundedFields(fields), boundedText(message));
}

/**
 * Written at once: what waits in a buffer at the end can keep a program from ending when nobody reads its output any more.
 * A disk that is full costs lines, neither the program nor its memory.
 */
function stdout(): ReturnType<typeof destination> {
  const stream = destination({ dest: STDOUT, sync: true, maxLength: MOST_UNWRITTEN });
  stream.on('error', () => undefined);
  return stream;
}
