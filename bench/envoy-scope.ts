import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EnvoyView } from '@causeway/xds-translation';
import type { Resource } from '@causeway/resources';
import { ENVOY, type EnvoyProcess } from '../test/support/envoy-process';
import { echo, say } from '../test/support/mesh-processes';
import { TrafficPlane } from '../test/support/traffic-plane';
import { sketch } from '../test/support/traffic-zone';
import { until } from '../test/support/until';
import { numberSetting, report } from './support/report';
import { summary } from './support/summary';

/**
 * Measures an Envoy that uses 50 of the 10,000 services of its zone: clusters, memory, and ms until the first answer of each, all
 * with mutual TLS. Its capture is `redirect`, in a network namespace of its own, so it asks for a service at the first connection.
 * BENCH_SCOPE=all gives the proxy every service from the start, as CAUSEWAY_XDS_SCOPE=all does. Prints one JSON line.
 *
 * Needs CAUSEWAY_ENVOY, unshare, iproute2, nft, and root or user namespaces. BENCH_SERVICES (10000), BENCH_USED (50).
 */
const SERVICES = numberSetting('BENCH_SERVICES', 10_000);
const USED = numberSetting('BENCH_USED', 50);
const SCOPE = process.env['BENCH_SCOPE'] ?? 'used';
const INSIDE = '--inside';
const AT = { address: '127.0.0.1', port: 15_001 };
const REENTRY = { address: '127.0.0.1', port: 15_002 };
const PORT = 6379;

const vip = (n: number): string => `241.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;

/** Only connections to virtual IPs are redirected. */
const NAMESPACE = `
ip link set lo up && ip route add local 241.0.0.0/8 dev lo &&
nft 'add table ip v; add chain ip v out { type nat hook output priority -100; }; add rule ip v out ip daddr 241.0.0.0/8 ip protocol tcp redirect to :${AT.port}' &&
exec "$@"`;

function service(n: number): Resource {
  const identities = [{ type: 'SpiffeID', value: 'spiffe://default.west.mesh.local/workload/server' }];
  const spec = {
    selector: { dataplaneTags: { app: 'server' } },
    ports: [{ port: PORT, appProtocol: 'tcp' }],
    identities,
  };
  return sketch('MeshService', `service-${n}`, spec, { status: { vip: { ip: vip(n + 1) } } });
}

function residentMb({ pid }: EnvoyProcess): number {
  const kb = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  return Math.round(kb / 100) / 10;
}

/** Calls services one after the other; returns how long each call took, in ms. */
async function callServices(): Promise<readonly number[]> {
  const times: number[] = [];
  for (let n = 0; n < USED; n++) {
    const start = performance.now();
    const answer = await say(vip(1 + Math.floor((n * SERVICES) / USED)), PORT);
    if (answer !== 'server:hello') throw new Error(`service ${n} answered "${answer}"`);
    times.push(performance.now() - start);
  }
  return times;
}

async function measure(): Promise<void> {
  const west = await TrafficPlane.start('west');
  const process = await echo('server');
  try {
    const inbound = [{ port: PORT, servicePort: process.port, tags: { app: 'server' } }];
    const dataplane = west.dataplane('server', { address: '127.0.0.2', inbound });
    west.state.put(west.trust(''), ...Array.from({ length: SERVICES }, (_, n) => service(n)));
    const view = { mesh: 'default', listed: new Set<string>() };
    await west.envoy('server', { ...view, dataplane: dataplane.id }, 'server');
    const began = performance.now();
    const own: EnvoyView = {
      mesh: 'default',
      listed: SCOPE === 'all' ? 'all' : new Set(),
      capture: { type: 'redirect', at: AT, reentry: REENTRY },
    };
    const envoy = await west.envoy('client', own, 'client');
    await until(
      'the proxy is settled',
      async () => west.isSettled('client') && (await envoy.ask('/ready')).startsWith('LIVE'),
      120_000,
    );
    const ready_ms = Math.round(performance.now() - began);
    const before_mb = residentMb(envoy);
    const times = await callServices();
    const clusters = new Set(
      [...(await envoy.ask('/clusters')).matchAll(/^(vip:[\d.]+:\d+)::/gm)].map(([, name]) => name),
    );
    const known = await envoy.stat('cluster_manager.active_clusters');
    report('envoy-scope', {
      scope: SCOPE,
      services: SERVICES,
      used: USED,
      outbound_clusters: clusters.size,
      clusters: known,
      ready_ms,
      before_mb,
      after_mb: residentMb(envoy),
      first_answer: summary(times),
      problems: west.problems(),
    });
  } finally {
    await process.stop();
    await west.stop();
  }
}

/** Runs this program again in a namespace. */
function runInside(): void {
  if (ENVOY === undefined) throw new Error('CAUSEWAY_ENVOY: is not set; `sh test/envoy/install.sh` prints it');
  const node = [process.execPath, '-r', join(__dirname, 'register.cjs'), __filename, INSIDE];
  const flags = process.getuid?.() === 0 ? ['-n'] : ['-r', '-n'];
  const { status } = spawnSync('unshare', [...flags, 'sh', '-c', NAMESPACE, 'sh', ...node], { stdio: 'inherit' });
  process.exitCode = status ?? 1;
}

if (process.argv.includes(INSIDE))
  measure().then(
    () => process.exit(0),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
else runInside();
