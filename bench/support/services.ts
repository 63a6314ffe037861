/** Whether Postgres confirms a write only when it is on the disk: `BENCH_FSYNC=off` measures without. */
export const FSYNC = process.env['BENCH_FSYNC'] !== 'off';

/** Starts a real Postgres (and Redis, if it is installed) as the tests do; returns the function that stops them. */
export async function benchServices(): Promise<() => Promise<void>> {
  const { startTestServices } = await import('../../scripts/lib/test-services.mjs');
  return startTestServices(process.env, { durable: FSYNC });
}
