/**
 * The lock in Redis that decides which replica of a control plane tries to lead. Who leads is decided by the epoch in
 * the store.
 */
export { createRedisLock, type RedisLock, type RedisLockOptions } from './redis-lock';
