import { setTimeout as pause } from 'node:timers/promises';
import type { QuickstartRun } from '../test/e2e/quickstart-run';
import { putServices, withDemo } from './support/demo';
import { Propagation } from './support/propagation';
import { numberSetting, report } from './support/report';
import { RestWriter, WRITES } from './support/rest-writer';
import { runProgram } from './support/run-program';
import { watchServices } from './support/service-watch';
import { summary } from './support/summary';

/**
 * Measures what a user meets first in both forms of `npm start`, with control planes only and with agents, ingresses and services, in turn: how long 8
 * writers take until west has an address and a name for each of BENCH_SERVICES Dataplanes (2000), and then PUT of a MeshService in east → its virtual
 * IP and hostname in west, one PUT after the other with a pause. Prints one JSON line for each form and round. Needs a build.
 * BENCH_TRIES (100), BENCH_PAUSE: ms between two PUTs (50), BENCH_ROUNDS (1).
 */
const SERVICES = numberSetting('BENCH_SERVICES', 2_000);
const TRIES = numberSetting('BENCH_TRIES', 100);
const PAUSE = numberSetting('BENCH_PAUSE', 50);
const ROUNDS = numberSetting('BENCH_ROUNDS', 1);
const WARM = 20;
/** Time after the services were written, ms: agents still follow. */
const REST = 5_000;

async function measurePropagation(run: QuickstartRun, series: string): Promise<readonly number[]> {
  const propagation = new Propagation();
  const end = await watchServices({ restUrl: run.restUrl('west') }, (service) => propagation.seen(service));
  const east = new RestWriter({ restUrl: run.restUrl('east') });
  const write = WRITES['service'];
  for (let n = 0; write && n < WARM + TRIES; n++) {
    await propagation.one(east, write(series, n));
    await pause(PAUSE);
  }
  east.close();
  end();
  return propagation.times.slice(WARM);
}

async function measure(run: QuickstartRun): Promise<Readonly<Record<string, unknown>>> {
  const empty = summary(await measurePropagation(run, 'empty'));
  const began = performance.now();
  await putServices(run, SERVICES);
  const written_s = Math.round((performance.now() - began) / 10) / 100;
  await pause(REST);
  return { propagation: empty, written_s, propagation_filled: summary(await measurePropagation(run, 'filled')) };
}

async function main(): Promise<void> {
  for (let round = 0; round < ROUNDS; round++)
    for (const hasTraffic of [false, true]) {
      const figures = await withDemo({ hasTraffic }, measure);
      report('both-forms', { traffic: hasTraffic, services: SERVICES, ...figures });
    }
}

runProgram(main);
