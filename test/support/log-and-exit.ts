import { createLogger } from '@causeway/telemetry';

/** On a command it logs far more than a pipe holds and exits with code 3. */
process.once('message', () => {
  const logger = createLogger({ level: 'info', program: 'test', pretty: false });
  for (let line = 0; line < 5_000; line++) logger.info('a line that nobody reads', { line, pad: 'x'.repeat(100) });
  process.exit(3);
});
process.send?.('ready');
