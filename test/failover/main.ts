import { FailoverFigures } from './failover-figures';
import type { Replication } from './postgres-pair';
import { StoreMove } from './store-move';

/**
 * What faults of the servers cost two replicas of a zone, with synchronous replication unless the first argument says
 * `asynchronous`; one JSON line a fault: `npm run build && node -r ./bench/register.cjs test/failover/main.ts`. With the
 * argument `move`: what it costs to move their store to another server (docs/guides/backup.md).
 */
async function main([what]: readonly string[]): Promise<void> {
  if (what === 'move') return move();
  const replication: Replication = what === 'asynchronous' ? 'asynchronous' : 'synchronous';
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

async function move(): Promise<void> {
  const cost = await StoreMove.run();
  console.log(JSON.stringify(cost));
  if (cost.lostWrites + cost.failedReads + cost.failedToResolve > 0) process.exitCode = 1;
}

main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
