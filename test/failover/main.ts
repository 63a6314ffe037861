import { FailoverFigures } from './failover-figures';
import type { Replication } from './postgres-pair';

/**
 * What faults of the servers cost two replicas of a zone, with synchronous replication unless the first argument says
 * `asynchronous`; one JSON line a fault: `npm run build && node -r ./bench/register.cjs test/failover/main.ts`.
 */
async function main(): Promise<void> {
  const replication: Replication = process.argv[2] === 'asynchronous' ? 'asynchronous' : 'synchronous';
  const figures = await FailoverFigures.start(replication);
  try {
    for (const cost of [await figures.killLeader(), await figures.killRedis(), await figures.killPrimary()]) {
      console.log(JSON.stringify({ replication, ...cost }));
      if (replication === 'synchronous' && cost.lostWrites > 0) process.exitCode = 1;
    }
  } finally {
    await figures.stop();
  }
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
