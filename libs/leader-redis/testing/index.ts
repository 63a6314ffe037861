/** Test support of this lib: internals that tests and benchmarks elsewhere import. Production code does not import it. */
export type { RedisLock } from '../src/redis-lock';
