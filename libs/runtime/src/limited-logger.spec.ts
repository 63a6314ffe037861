import { FakeClock } from './clock';
import { limitedLogger } from './limited-logger';
import { silentLogger, type LogFields, type Logger } from './logger';

function recorder(): { readonly lines: string[]; readonly logger: Logger } {
  const lines: string[] = [];
  const line = (message: string, fields: LogFields = {}): void =>
    void lines.push(`${message} ${JSON.stringify(fields)}`);
  const logger: Logger = { ...silentLogger, warn: line, error: line, child: () => logger };
  return { lines, logger };
}

describe('a limited logger', () => {
  it('writes the first lines of a message, and later how many it left out', () => {
    const clock = new FakeClock();
    const { lines, logger } = recorder();
    const limited = limitedLogger(logger, { clock, lines: 2 });
    for (let n = 0; n < 1_000; n++) limited.warn('refused', { n });
    expect(lines).toEqual(['refused {"n":0}', 'refused {"n":1}']);
    clock.advance(60_000);
    limited.warn('refused', { n: 'later' });
    expect(lines[2]).toBe('refused {"n":"later","suppressed":998}');
  });

  it('limits each message by itself, and children with it', () => {
    const { lines, logger } = recorder();
    const limited = limitedLogger(logger, { clock: new FakeClock(), lines: 1 });
    for (let n = 0; n < 10; n++) for (const one of [limited, limited.child({ zone: 'east' })]) one.warn('refused');
    limited.error('broken');
    expect(lines).toEqual(['refused {}', 'broken {}']);
  });

  it('stays bounded where messages are no constant text', () => {
    const { lines, logger } = recorder();
    const limited = limitedLogger(logger, { clock: new FakeClock(), lines: 2 });
    for (let n = 0; n < 10_000; n++) limited.warn(`message ${n}`);
    expect(lines.length).toBeLessThanOrEqual(258);
  });
});
