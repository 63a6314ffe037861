import { destination, pino, type Logger as Pino } from 'pino';
import { build as prettyStream } from 'pino-pretty';
import type { LogFields, Logger } from '@causeway/runtime';
import { boundedFields, boundedText } from './bounded-fields';

/** How a program logs: JSON lines on stdout, or coloured text for people. */
export interface LogOptions {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  /** The program's name in every line: `global`, `zone east`. */
  readonly program: string;
  readonly pretty: boolean;
}

const STDOUT = 1;
const PRETTY = { ignore: 'pid,hostname', translateTime: 'HH:MM:ss.l' };
/** Most bytes of lines that wait to be written. */
const MOST_UNWRITTEN = 1_000_000;

/** The product's logger on pino. Errors among the fields are written with message and stack; texts and lists are bounded. */
export function createLogger(options: LogOptions): Logger {
  const { level, program, pretty } = options;
  const base = { program };
  if (!pretty) return wrap(pino({ level, base }, stdout()));
  // In this thread: a transport is a thread whose file a bundled program does not have.
  return wrap(pino({ level, base }, prettyStream({ ...PRETTY, destination: STDOUT, sync: true })));
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
 * Writes are synchronous: a buffer that is not empty at the end keeps a program from ending if nobody reads its output.
 * A full disk loses lines and costs neither the program nor its memory.
 */
function stdout(): ReturnType<typeof destination> {
  const stream = destination({ dest: STDOUT, sync: true, maxLength: MOST_UNWRITTEN });
  stream.on('error', () => undefined);
  return stream;
}
