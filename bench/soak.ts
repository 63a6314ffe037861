import { appendFileSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { soakInRealTime } from './soak/real-time';
import { soakSimulated } from './soak/simulated';
import { summarise, type Sample } from './soak/summarise';
import { report } from './support/report';
import { benchServices } from './support/services';

/**
 * A mesh under churn for a long time (docs/benchmarks.md): do memory, tables and latency stay flat? Prints one JSON line; samples go to
 * `--file`, a JSON line each. Exits with 1 where an invariant is broken.
 *
 *     node -r ./bench/register.cjs bench/soak.ts --minutes 120 --rate 5 --file soak.jsonl
 *
 * A global and two zones of two replicas each as processes, Postgres with fsync, Redis; users make, change and delete things at `--rate`
 * a second; every `--mishap` seconds a replica is killed or stopped, or a link is cut. Needs a build.
 *
 *     node -r ./bench/register.cjs bench/soak.ts --simulated 48 --changes 720 --file soak.jsonl
 *
 * So many hours of the engine on simulated time, over stores in memory, with so many changes an hour.
 *
 *     node -r ./bench/register.cjs bench/soak.ts --read soak.jsonl
 *
 * What the samples of a soak in real time say that still runs, or was ended.
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
      simulated: { type: 'string' },
      read: { type: 'string' },
      changes: { type: 'string', default: '720' },
    },
  });
  const { minutes, rate, services, mishap, simulated, changes, file } = values;
  const seed = Number(values.seed);
  if (values.read !== undefined) {
    const lines = readFileSync(values.read, 'utf8').trim().split('\n');
    return tell('soak', summarise(lines.map((line) => readSample(line))));
  }
  if (simulated !== undefined) {
    const took = (sample: object): void => appendFileSync(file, `${JSON.stringify(sample)}\n`);
    return tell(
      'soak-simulated',
      await soakSimulated({ hours: Number(simulated), changes: Number(changes), seed, took }),
    );
  }
  const stopServices = await benchServices();
  try {
    const load = { minutes: Number(minutes), rate: Number(rate), services: Number(services) };
    tell('soak', await soakInRealTime({ ...load, seed, file, mishapEvery: Number(mishap) }));
  } finally {
    await stopServices();
  }
}

function tell(bench: string, figures: Readonly<Record<string, unknown>>): void {
  report(bench, figures);
  const broken = ['violations', 'differences', 'falls', 'refusals'].flatMap((each) => figures[each] ?? []);
  process.exitCode = broken.length > 0 ? 1 : 0;
}

/** A line that this program wrote. */
function readSample(line: string): Sample {
  const sample: unknown = JSON.parse(line);
  if (!isSample(sample)) throw new Error(`not a sample: ${line.slice(0, 100)}`);
  return sample;
}

function isSample(sample: unknown): sample is Sample {
  return typeof sample === 'object' && sample !== null && 'probes' in sample && 'processes' in sample;
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
