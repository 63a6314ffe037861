import { parseArgs } from 'node:util';
import { soakInRealTime } from './soak/real-time';
import { report } from './support/report';
import { benchServices } from './support/services';

/**
 * A mesh under churn for a long time (docs/benchmarks.md): does memory, do tables, does latency stay flat?
 *
 *     node -r ./bench/register.cjs bench/soak.ts --minutes 120 --rate 5 --file /tmp/soak.jsonl
 *
 * A global and two zones of two replicas each as processes, Postgres with fsync, Redis; users make, change and delete things at
 * `--rate` a second; every `--mishap` seconds a replica is killed or stopped, or a link is cut. Samples go to `--file`, one JSON
 * line each 30 s; the last line of the output is what they say. Exits with 1 where an invariant is broken at the end. Needs a build.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '120' },
      rate: { type: 'string', default: '5' },
      services: { type: 'string', default: '400' },
      mishap: { type: 'string', default: '240' },
      seed: { type: 'string', default: '1' },
      file: { type: 'string', default: 'soak.jsonl' },
    },
  });
  const { minutes, rate, services, mishap, seed, file } = values;
  const stopServices = await benchServices();
  try {
    const figures = await soakInRealTime({
      ...{ minutes: Number(minutes), rate: Number(rate), services: Number(services), seed: Number(seed), file },
      mishapEvery: Number(mishap),
    });
    report('soak', figures);
    const broken = [figures['violations'], figures['falls'], figures['refusals']].flat();
    process.exitCode = broken.length > 0 ? 1 : 0;
  } finally {
    await stopServices();
  }
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
