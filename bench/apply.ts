import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { ADMIN_TOKEN } from '../test/support/admin-credential';
import type { ProcessPlane } from '../test/support/process-plane';
import { withMesh } from './support/bench-mesh';
import { cpuOf, cpuSince, memoryOf } from './support/process-metrics';
import { numberSetting, report } from './support/report';
import { watchServices } from './support/service-watch';
import { programToStart } from '../test/support/built-programs';
import { benchServices } from './support/services';

/**
 * `causeway apply -f FILE` of many MeshServices in east, with a global and two zones as processes: how long until the program
 * has ended, how long until a watch in west has seen every service with virtual IP and hostname, and what CPU time each
 * control plane and Postgres use for it. Both times begin with the start of the program, so that they have its start and its
 * parsing. Prints one JSON line. Needs `npm run build`. BENCH_SERVICES (10000), BENCH_FORM (yaml; or jsonl), BENCH_ATOMIC (0).
 */
const SERVICES = numberSetting('BENCH_SERVICES', 10_000);
const ATOMIC = numberSetting('BENCH_ATOMIC', 0) > 0;
const FORM = process.env['BENCH_FORM'] ?? 'yaml';
const PATIENCE = 120_000;

function readSeries(name: string): string {
  return name.split('-')[0] ?? '';
}

function yaml(name: string): string {
  return `type: MeshService\nmesh: default\nname: ${name}\nlabels:\n  series: ${readSeries(name)}\nspec:\n  selector:\n    dataplaneTags:\n      kuma.io/service: ${name}\n  ports:\n    - port: 80\n      appProtocol: tcp\n`;
}

function json(name: string): string {
  const spec = { selector: { dataplaneTags: { 'kuma.io/service': name } }, ports: [{ port: 80, appProtocol: 'tcp' }] };
  return `${JSON.stringify({ type: 'MeshService', mesh: 'default', name, labels: { series: readSeries(name) }, spec })}\n`;
}

function documents(series: string, count: number): string {
  const names = Array.from({ length: count }, (_, i) => `${series}-${i}`);
  return FORM === 'yaml' ? names.map(yaml).join('---\n') : names.map(json).join('');
}

/** Runs the command line program to its end. */
function run(zone: ProcessPlane, ...words: readonly string[]): Promise<void> {
  const args = [programToStart('ctl'), '--server', zone.restUrl, ...words];
  return new Promise((resolve, reject) => {
    const env = { ...process.env, CAUSEWAY_TOKEN: ADMIN_TOKEN };
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
    child
      .once('error', reject)
      .once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`${words.join(' ')} ended with ${code}`))));
  });
}

function apply(zone: ProcessPlane, file: string): Promise<void> {
  return run(zone, 'apply', '-f', file, ...(ATOMIC ? ['--atomic'] : []));
}

async function main(): Promise<void> {
  const stopServices = await benchServices();
  const folder = mkdtempSync(join(tmpdir(), 'causeway-bench-'));
  const fileOf = (series: string, count: number): string => {
    const file = join(folder, `${series}.${FORM}`);
    writeFileSync(file, documents(series, count));
    return file;
  };
  try {
    await withMesh({ zones: ['east', 'west'], services: 0 }, async (mesh) => {
      const [east, west] = [mesh.zone('east'), mesh.zone('west')];
      const seen = new Set<string>();
      let told: () => void = () => undefined;
      const end = await watchServices(west, ({ name }) => {
        seen.add(name);
        told();
      });
      const until = (count: number): Promise<void> =>
        new Promise((resolve, reject) => {
          const timer = setTimeout(() => reject(new Error(`${seen.size} of ${count} services arrived`)), PATIENCE);
          told = () => {
            if (seen.size < count) return;
            clearTimeout(timer);
            resolve();
          };
          told();
        });
      await Promise.all([apply(east, fileOf('warm', 200)), until(200)]);
      const file = fileOf('new', SERVICES);
      const before = cpuOf(mesh);
      const began = performance.now();
      let applied_s = NaN;
      const applied = apply(east, file).then(() => void (applied_s = seconds(began)));
      await Promise.all([applied, until(200 + SERVICES)]);
      const complete_s = seconds(began);
      end();
      const applied_cpu = cpuSince(mesh, before);
      const beforeDelete = cpuOf(mesh);
      const deleteBegan = performance.now();
      await run(east, 'delete', 'meshservices', '-l', 'series=new', '-y');
      const deleted_s = seconds(deleteBegan);
      const deleted = { deleted_s, delete_cpu_s: cpuSince(mesh, beforeDelete) };
      const facts = { services: SERVICES, form: FORM, atomic: ATOMIC };
      report('apply', { ...facts, applied_s, complete_s, cpu_s: applied_cpu, ...deleted, memory: memoryOf(mesh) });
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
    await stopServices();
  }
}

function seconds(began: number): number {
  return Math.round((performance.now() - began) / 10) / 100;
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
