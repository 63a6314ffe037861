import { FailoverFigures, type FaultCost } from './failover-figures';
import type { Replication } from './postgres-pair';
import { StoreMove } from './store-move';

/**
 * Measures what faults of the servers cost two replicas of a zone, with synchronous replication unless the first argument says
 * `asynchronous`; one JSON line a fault: `npm run build && node -r ./bench/register.cjs test/failover/main.ts`. With the
 * argument `move`: the cost of moving their store to another server (docs/guides/backup.md).
 */
async function main([what]: readonly string[]): Promise<void> {
  if (what === 'move') return move();
  const replication: Replication = what === 'asynchronous' ? 'asynchronous' : 'synchronous';
  await costs(replication, (figures) => [
    () => figures.killLeader(),
    () => figures.killRedis(),
    () => figures.killPrimary(),
  ]);
  await costs(replication, (figures) => [() => figures.silencePrimary()]);
}

/** Does one fault after the other, on servers of their own. */
async function costs(
  replication: Replication,
  faultsOf: (figures: FailoverFigures) => readonly (() => Promise<FaultCost>)[],
): Promise<void> {
  const figures = await FailoverFigures.start(replication);
  try {
    for (const fault of faultsOf(figures)) {
      const cost = await fault();
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
