import { benchServices } from '../../../bench/support/services';
import { runLeaderChaos } from './leader-chaos';

/**
 * Forced changes of the leader under load, as many as the first argument says (1,000 unless given), with the lease of
 * the second in ms (200): `node -r ./bench/register.cjs test/chaos/leader/main.ts 1000`. Prints one JSON line.
 */
async function main(): Promise<void> {
  const [changes = '1000', lease = '200'] = process.argv.slice(2);
  const stopServices = await benchServices();
  try {
    const report = await runLeaderChaos({ changes: Number(changes), leaseMs: Number(lease) });
    console.log(JSON.stringify({ chaos: 'leader', leaseMs: Number(lease), ...report }));
    const broken =
      report.duplicates + report.restsViolated + report.lostWrites + report.lateEpochs + report.sharedEpochs;
    if (broken > 0) process.exitCode = 1;
  } finally {
    await stopServices();
  }
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
