/**
 * The lock in Redis that decides which replica of a control plane tries to lead. The epoch in the store decides which one
 * leads.
 */
export { redisUrlFault } from './redis-url';
export { createRedisLock } from './redis-lock';
