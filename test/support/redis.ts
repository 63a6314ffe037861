/**
 * The Redis of this test run, undefined where the machine has none: then `describeWithRedis` leaves its tests out.
 * In CI a run without Redis does not start, so nothing is left out there.
 */
export function testRedisUrl(): string | undefined {
  return process.env['CAUSEWAY_TEST_REDIS_URL'];
}

/** A `describe` whose tests need Redis; they are reported as skipped where there is none. */
export function describeWithRedis(name: string, tests: (url: string) => void): void {
  const url = testRedisUrl();
  if (url === undefined) {
    describe.skip(name, () => it('needs Redis: REDIS_URL, or redis-server on the PATH', () => undefined));
  } else {
    describe(name, () => tests(url));
  }
}
