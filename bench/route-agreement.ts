import { disagreements } from '../test/support/route-agreement';
import { RoutedPlane } from '../test/support/routed-plane';
import { numberSetting, report } from './support/report';

/**
 * Whether explanations and a real Envoy (CAUSEWAY_ENVOY) agree about random requests with random routes
 * (docs/reference/routing.md). Prints one JSON line. BENCH_PAIRS (1000000), BENCH_SEED (1), BENCH_REQUESTS (50)
 * for each set of routes.
 */
const PAIRS = numberSetting('BENCH_PAIRS', 1_000_000);
const SEED = numberSetting('BENCH_SEED', 1);
const REQUESTS = numberSetting('BENCH_REQUESTS', 50);

async function main(): Promise<void> {
  const routed = await RoutedPlane.start();
  try {
    await routed.mesh();
    const begun = performance.now();
    const found = await disagreements(routed, PAIRS, SEED, REQUESTS);
    const seconds = Math.round((performance.now() - begun) / 1_000);
    report('route-agreement', {
      pairs: PAIRS,
      seed: SEED,
      requests: REQUESTS,
      seconds,
      found,
      rejected: routed.plane.problems(),
    });
    if (found.length > 0) process.exitCode = 1;
  } finally {
    await routed.stop();
  }
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
