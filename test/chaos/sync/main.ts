import { faults } from './chaos-report';
import { runSyncChaos } from './sync-chaos';

/**
 * Sync under kill -9, stops, broken links, changes of the global's replica, databases that go away and a Postgres that
 * crashes, while users write in every zone: `node -r ./bench/register.cjs test/chaos/sync/main.ts SEEDS SECONDS FIRST`
 * (10 seeds of 60 s from 1). Prints one JSON line a seed; the programs must be built.
 */
async function main(): Promise<void> {
  const [seeds = 10, seconds = 60, first = 1] = process.argv.slice(2).map(Number);
  for (let seed = first; seed < first + seeds; seed++) {
    const report = await runSyncChaos({ seed, seconds });
    console.log(JSON.stringify({ chaos: 'sync', ...report }));
    if (faults(report).length > 0) process.exitCode = 1;
  }
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
