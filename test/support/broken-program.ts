import { shutdownSignal } from '../../apps/control-plane/src/program/shutdown-signal';
import { createLogger } from '@causeway/telemetry';

/** A program that fails as its argument selects, and logs a signal to end. */
const logger = createLogger({ level: 'info', program: 'test', pretty: false });
const life = shutdownSignal(() => logger);
life.signal.addEventListener('abort', () => logger.info('handed over'));
const work = setInterval(() => undefined, 1_000);
setTimeout(() => {
  for (let n = 0; n < 3; n++) {
    if (process.argv[2] === 'rejection') void Promise.reject(new Error(`broken ${n}`));
    else setTimeout(() => fail(n), 0);
  }
  clearInterval(work);
}, 0);

function fail(n: number): never {
  throw new Error(`broken ${n}`);
}
