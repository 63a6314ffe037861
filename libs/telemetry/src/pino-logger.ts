import { destination, pino, type Logger as Pino } from 'pino';
import { build as prettyStream } from 'pino-pretty';
import type { LogFields, Logger, LogLevel } from '@causeway/runtime';
import { boundedFields, boundedText } from './bounded-fields';

/** Logger of a program. */
export interface ProgramLogger extends Logger {
  /** Changes the level of this logger and all its children immediately, and logs the change at any level. */
  setLevel(level: LogLevel): void;
}

/** Format of a program's log: JSON lines on stdout, or coloured text for people. */
export interface LogOptions {
  readonly level: LogLevel;
  /** Name of the program in every line: `global`, `zone east`. */
  readonly program: string;
  readonly pretty: boolean;
}

const STDOUT = 1;
const ORDER: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };
const PRETTY = { ignore: 'pid,hostname', translateTime: 'HH:MM:ss.l' };
/** Maximum size of unwritten lines, bytes. */
const MAX_UNWRITTEN = 1_000_000;

/** Creates the product's logger on pino. Errors in fields are written with message and stack; texts and lists are bounded. */
export function createLogger(options: LogOptions): ProgramLogger {
  const { program, pretty } = options;
  // Children of pino copy their parent's level, so a shared level decides, and pino itself passes every line.
  const shared = { level: options.level };
  const form = { level: 'debug', base: { program } };
  // In this thread: a transport would be a thread whose file a bundled program does not have.
  const output = pretty ? prettyStream({ ...PRETTY, destination: STDOUT, sync: true }) : stdout();
  const log = pino(form, output);
  const setLevel = (level: LogLevel): void => {
    log.info({ from: shared.level, to: level }, 'the log level was changed');
    shared.level = level;
  };
  return { ...wrap(log, shared), setLevel };
}

function wrap(log: Pino, shared: { readonly level: LogLevel }): Logger {
  const write = (level: LogLevel, message: string, fields: LogFields = {}): void => {
    if (ORDER[level] >= ORDER[shared.level]) log[level](boundedFields(fields), boundedText(message));
  };
  return {
    debug: (message, fields) => write('debug', message, fields),
    info: (message, fields) => write('info', message, fields),
    warn: (message, fields) => write('warn', message, fields),
    error: (message, fields) => write('error', message, fields),
    child: (fields) => wrap(log.child(boundedFields(fields)), shared),
  };
}

/**
 * Creates the destination. Writes are synchronous: a non-empty buffer at the end would keep a program running if its
 * output is not read. A full disk loses lines, but affects neither the program nor its memory.
 */
function stdout(): ReturnType<typeof destination> {
  const stream = destination({ dest: STDOUT, sync: true, maxLength: MAX_UNWRITTEN });
  stream.on('error', () => undefined);
  return stream;
}
