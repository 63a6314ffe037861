/** The lock in Redis for the election of a leader (libs/leader-redis/README.md). */
export { redisUrlFault } from './redis-url';
export { createRedisLock } from './redis-lock';
