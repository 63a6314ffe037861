/** Whether `redis-server` is on the PATH. */
export function hasRedisServer(): boolean;
