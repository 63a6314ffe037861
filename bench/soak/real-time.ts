import { appendFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { Prng } from '../../test/simulation/engine/prng';
import { Churn } from './churn';
import { untilStill, violations } from './invariants';
import { Mishaps } from './mishaps';
import { Probe } from './probe';
import { sampleDatabases, sampleProcesses, vacuum } from './samples';
import { OWNERS, SoakMesh, type Owner } from './soak-mesh';
import { summarise, type Sample } from './summarise';

/** A soak in real time. */
export interface RealTime {
  readonly minutes: number;
  /** Changes a second. */
  readonly rate: number;
  /** Number of permanent services in each zone. */
  readonly services: number;
  /** Samples are appended here, one JSON line each. */
  readonly file: string;
  readonly seed: number;
  /** s between two mishaps. */
  readonly mishapEvery: number;
}

const SAMPLE_EVERY = 30_000;
const PROBE_EVERY = 3_000;
const MINUTE = 60_000;
/** A generated service without instances is kept for so long: short enough that their number comes to rest. */
const ZONE_SETTINGS = { CAUSEWAY_SERVICE_GRACE: '5m' };

/** Runs the soak; `violations` is empty if every invariant held at the end. */
export async function soakInRealTime(options: RealTime): Promise<Readonly<Record<string, unknown>>> {
  const mesh = new SoakMesh();
  const clients = new Map<Owner, Client>();
  try {
    await mesh.start(options.services, { LOG_LEVEL: 'info' }, ZONE_SETTINGS);
    for (const owner of OWNERS) {
      const client = new Client({ connectionString: mesh.url(owner) });
      await client.connect();
      clients.set(owner, client);
    }
    await untilStill(clients);
    return await run(mesh, clients, options);
  } finally {
    await Promise.all([...clients.values()].map((client) => client.end().catch(() => undefined)));
    await mesh.stop();
  }
}

function countsOf(churn: Churn): Readonly<Record<string, unknown>> {
  return {
    answered: churn.answered,
    unanswered: churn.unanswered,
    refusals: churn.refusals.slice(0, 20),
    checked: churn.expected().length,
  };
}

async function run(
  mesh: SoakMesh,
  clients: ReadonlyMap<Owner, Client>,
  options: RealTime,
): Promise<Readonly<Record<string, unknown>>> {
  const length = options.minutes * MINUTE;
  const churn = new Churn(mesh, new Prng(options.seed), options.rate);
  const mishaps = new Mishaps(mesh, options.mishapEvery * 1_000, length / 4);
  const standing = 'fill-east-0.svc.east.mesh.local';
  const probe = new Probe(mesh, PROBE_EVERY, standing, mishaps.isDisturbed);
  const samples: Sample[] = [];
  const vacuums: unknown[] = [];
  const start = performance.now();
  const take = async (): Promise<void> => {
    const sample: Sample = {
      at: Math.round(performance.now() - start),
      load: loadavg()[0] ?? 0,
      processes: await sampleProcesses(mesh),
      ...(await sampleDatabases(clients)),
      probes: probe.take(),
    };
    appendFileSync(options.file, `${JSON.stringify(sample)}\n`);
    samples.push(sample);
  };
  churn.start();
  await probe.start();
  mishaps.start();
  for (let due = 0; due <= length; due += SAMPLE_EVERY) {
    await pause(Math.max(0, start + due - performance.now()));
    await take();
    if (vacuums.length === 0 && due >= length / 2) vacuums.push(await vacuum(clients));
  }
  await mishaps.stop();
  await churn.stop();
  await probe.stop();
  await untilStill(clients);
  await take();
  const violated = await violations(mesh, clients, churn.expected());
  vacuums.push(await vacuum(clients));
  return {
    ...options,
    ...summarise(samples),
    vacuums,
    mishaps: mishaps.done.length,
    falls: mesh.falls,
    ...countsOf(churn),
    violations: violated.slice(0, 50),
  };
}
