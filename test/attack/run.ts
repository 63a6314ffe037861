import { fork } from 'node:child_process';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { memory } from '../../bench/support/process-metrics';
import { grpcPortsOf } from '../support/grpc-ports';
import { ProcessMesh } from '../support/process-mesh';
import type { ProcessPlane } from '../support/process-plane';
import { EVIL_ZONES } from './attacks/zone-attacks';
import type { AttackGroup, Orders } from './attacker';
import { NormalLoad } from './load';
import type { Counts } from './tally';
import type { ProxyTarget, Target } from './target';
import type { PlaneFigures, Seen } from './verdict';
import { adminFetch } from '../support/admin-credential';

const ROOT = join(__dirname, '..', '..');
const GROUPS: readonly AttackGroup[] = ['zones', 'rest', 'dns', 'proxies'];
const ZONES = ['east', 'west'] as const;

/** Durations of the parts of a run, s. */
export interface RunOptions {
  readonly before: number;
  readonly attack: number;
  readonly after: number;
  /** Only these attacks; none means all. */
  readonly only: readonly string[];
}

/** Writes a second of the normal load. */
const RATE = 10;

/**
 * A global and two zones as processes on real Postgres, services that change in east and are watched in west, and all
 * attacks at once from a process of their own. Everything that was started is ended.
 */
export async function runAttack(options: RunOptions): Promise<Seen> {
  const mesh = await ProcessMesh.start(ZONES);
  const load = new NormalLoad(mesh.zone('east'), mesh.zone('west'), RATE);
  try {
    return await observed(mesh, load, options);
  } finally {
    load.close();
    // A process that an attack holds would not notice its end.
    await Promise.all([mesh.global, ...mesh.zones.values()].map((plane) => plane.kill()));
    await mesh.stop();
  }
}

async function observed(mesh: ProcessMesh, load: NormalLoad, options: RunOptions): Promise<Seen> {
  const planes = [mesh.global, mesh.zone('east'), mesh.zone('west')];
  const target = await targetOf(mesh);
  const fallen = new Set<string>();
  for (const plane of planes) void plane.exited.then(() => fallen.add(plane.name));
  const peaks = new Map<string, number>();
  const watch = setInterval(() => planes.forEach((plane) => notePeak(plane, peaks)), 250);
  load.start();
  // The first writes make the services.
  await pause(4_000);
  const began = performance.now();
  await pause(options.before * 1_000);
  const terms = await Promise.all(planes.map(termsOf));
  const attackFrom = performance.now();
  const orders = { target, lasts: options.attack * 1_000, only: options.only };
  const counts = await Promise.all(GROUPS.map((group) => attacked({ ...orders, group })));
  const attacks = merged(counts);
  const attackUntil = performance.now();
  await pause(options.after * 1_000);
  await load.end();
  const lost = await lostWrites(load, mesh);
  // The watch shows the zone's state a moment later.
  await pause(2_000);
  const ended = performance.now();
  clearInterval(watch);
  const figures = await Promise.all(
    planes.map(async (plane, i): Promise<PlaneFigures> => {
      const [termsBefore, termsAfter] = [terms[i] ?? 0, await termsOf(plane)];
      return {
        name: plane.name,
        peakMb: peaks.get(plane.name) ?? 0,
        termsBefore,
        termsAfter,
        fell: fallen.has(plane.name),
      };
    }),
  );
  const phases = { began, attackFrom, attackUntil, ended };
  return { seconds: options.attack, phases, writes: load.writes, lost, planes: figures, attacks };
}

async function targetOf(mesh: ProcessMesh): Promise<Target> {
  const tokens = await Promise.all(EVIL_ZONES.map(async (zone) => [zone, await mesh.zoneToken(zone)] as const));
  const planes = [mesh.global, ...ZONES.map((zone) => mesh.zone(zone))];
  const proxies = await Promise.all(ZONES.map(async (zone) => [zone, await proxiesOf(mesh.zone(zone))] as const));
  const owners = await Promise.all(ZONES.map(async (zone) => [zone, await ownerOf(mesh.zone(zone))] as const));
  return {
    kds: mesh.global.kdsAddress,
    ca: await mesh.global.text('/kds/ca'),
    tokens: Object.fromEntries(tokens),
    rest: Object.fromEntries(planes.map(({ name, restUrl }) => [name, restUrl])),
    dns: Object.fromEntries(ZONES.map((zone) => [zone, mesh.zone(zone).dnsAddress])),
    grpc: grpcPortsOf(mesh).map(({ name, target, path }) => ({ name, target, path })),
    owners: Object.fromEntries(owners),
    proxies: Object.fromEntries(proxies),
  };
}

/** The Dataplanes of the attacking proxies, and of the one that behaves. */
async function proxiesOf(zone: ProcessPlane): Promise<ProxyTarget> {
  const tokens: Record<string, string> = {};
  for (const name of ['evil', 'good']) {
    const networking = { address: '127.0.0.1', inbound: [{ port: 7_000, tags: { 'kuma.io/service': name } }] };
    await zone.put(`/meshes/default/dataplanes/${name}`, { type: 'Dataplane', mesh: 'default', name, networking });
    tokens[`default.${name}`] = await dataplaneToken(zone, name);
  }
  tokens['default.agent'] = await dataplaneToken(zone, 'agent');
  return { port: Number(zone.xdsAddress.split(':')[1]), tokens };
}

function dataplaneToken(zone: ProcessPlane, name: string): Promise<string> {
  return zone.text('/tokens/dataplane', { mesh: 'default', name, validFor: '24h' });
}

/** The token of a user who owns services; the zone has a Secret that is no business of his. */
async function ownerOf(zone: ProcessPlane): Promise<string> {
  const crown = { type: 'Secret', mesh: 'default', name: 'crown', spec: { data: 'eA==' } };
  const spec = { role: 'service-owner', subjects: [{ kind: 'User', name: 'owner' }], namespaces: ['default'] };
  for (const [path, body] of [
    ['/meshes/default/secrets/crown', crown],
    ['/rolebindings/owner', { type: 'RoleBinding', name: 'owner', spec }],
  ] as const) {
    const status = await zone.put(path, body);
    if (status >= 300) throw new Error(`${zone.name} answered ${status} to ${path}`);
  }
  return zone.text('/tokens/user', { name: 'owner', groups: [], validFor: '24h' });
}

/** Resolves with what became of the attacks when they are over. */
function attacked(orders: Orders): Promise<Counts> {
  const child = fork(join(__dirname, 'attacker.ts'), [], {
    cwd: ROOT,
    execArgv: ['-r', join(ROOT, 'bench', 'register.cjs')],
  });
  child.send(orders);
  const kill = setTimeout(() => child.kill('SIGKILL'), orders.lasts + 120_000);
  return new Promise((resolve, reject) => {
    child.once('message', (counts: Counts) => {
      clearTimeout(kill);
      child.removeAllListeners('exit').once('exit', () => resolve(counts));
      child.kill('SIGKILL');
    });
    child.once('exit', (code, signal) => reject(new Error(`the attacker ended with ${code ?? signal}`)));
  });
}

/** Only breaches are counted by more than one process. */
function merged(counts: readonly Counts[]): Counts {
  const breaches = Object.assign({}, ...counts.map((each) => each['BREACH'] ?? {}));
  const all: Counts = Object.assign({}, ...counts);
  return Object.keys(breaches).length > 0 ? { ...all, BREACH: breaches } : all;
}

function notePeak({ name, pid }: ProcessPlane, peaks: Map<string, number>): void {
  try {
    peaks.set(name, Math.max(peaks.get(name) ?? 0, memory(pid).peak_mb));
  } catch {
    // It has ended; another check reports that.
  }
}

/** Returns how often a control plane became leader, and its epoch: both grow when it loses its lease. */
async function termsOf(plane: ProcessPlane): Promise<number> {
  for (let tries = 0; tries < 20; tries++) {
    try {
      const text = await (
        await fetch(`${plane.diagnosticsUrl}/metrics`, { signal: AbortSignal.timeout(5_000) })
      ).text();
      return Number(/^\w*leader_epoch(?:\{[^}]*\})? (\d+)/m.exec(text)?.[1] ?? NaN);
    } catch {
      await pause(500);
    }
  }
  return NaN;
}

/** Returns the writes that were answered with success and are missing in east or in west. */
async function lostWrites(load: NormalLoad, mesh: ProcessMesh): Promise<readonly string[]> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const lost = (await Promise.all(ZONES.map((zone) => lostIn(zone, load, mesh)))).flat();
    if (lost.length === 0 || Date.now() > deadline) return lost;
    await pause(500);
  }
}

async function lostIn(zone: string, load: NormalLoad, mesh: ProcessMesh): Promise<readonly string[]> {
  const plane = mesh.zone(zone);
  const checks = [...load.answered()].map(async ([service, port]) => {
    const at = `/meshes/default/meshservices/${service}?zone=east`;
    const held = await asked(plane.restUrl + at);
    const holds = held?.spec?.ports?.[0]?.port ?? 0;
    return holds >= port ? [] : [`${zone} has ${service} at ${holds}, answered was ${port}`];
  });
  return (await Promise.all(checks)).flat();
}

interface HeldService {
  readonly spec?: { readonly ports?: readonly { readonly port: number }[] };
}

/** Returns a service as a control plane shows it; undefined if it does not, or not in time. */
async function asked(url: string): Promise<HeldService | undefined> {
  try {
    const answer = await adminFetch(url, { signal: AbortSignal.timeout(5_000) });
    if (!answer.ok) return undefined;
    const held: HeldService = JSON.parse(await answer.text());
    return held;
  } catch {
    return undefined;
  }
}
