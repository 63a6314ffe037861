import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import type { ProcessMesh } from '../test/support/process-mesh';
import { withMesh } from './support/bench-mesh';
import { CountingProxy, type Passed } from './support/counting-proxy';
import { memory } from './support/process-metrics';
import { numberSetting, report } from './support/report';
import { benchServices } from './support/services';
import { untilSettled } from './support/settled';

/**
 * A new zone joins a mesh with 10,000 services (docs/design.md §8): the time from its connection until all of them have
 * virtual IP and hostname there, by the last commit in its database; bytes and gRPC messages on the wire, without TLS;
 * then the same for a reconnection with nothing changed. Prints one JSON line. BENCH_SERVICES (10000).
 */
const SERVICES = numberSetting('BENCH_SERVICES', 10_000);
/** Without a message for this long the zone is in sync, ms. */
const QUIET = 3_000;

function total({ bytes_down, bytes_up }: Passed): number {
  return bytes_down + bytes_up;
}

async function quiet(proxy: CountingProxy): Promise<void> {
  while (performance.now() - Math.max(proxy.passedAt, proxy.connectedAt) < QUIET) await pause(100);
}

/** Cuts the connection and counts what the next one transfers. */
async function reconnect(proxy: CountingProxy): Promise<Passed & { readonly ms: number }> {
  await quiet(proxy);
  proxy.take();
  const cutAt = performance.now();
  proxy.cut();
  while (proxy.connectedAt < cutAt) await pause(10);
  await quiet(proxy);
  return { ms: Math.round(proxy.passedAt - proxy.connectedAt), ...proxy.take() };
}

async function measure(mesh: ProcessMesh): Promise<void> {
  const proxy = await CountingProxy.open(mesh.global.kdsAddress);
  try {
    const url = await mesh.databaseUrl('new');
    const wanted = { services: SERVICES, every: 10, still: 1_000, timeout: 600_000 };
    const zone = mesh.startZone('new', { CAUSEWAY_GLOBAL_ADDRESS: `grpc://${proxy.address}` });
    const { pid } = await zone;
    const completeAt = await untilSettled(url, wanted);
    const complete_ms = Math.round(completeAt - proxy.connectedAt);
    await quiet(proxy);
    const first = proxy.take();
    const again = await reconnect(proxy);
    const share = Math.round((total(again) / total(first)) * 1e5) / 1e3;
    report('join', { services: SERVICES, complete_ms, first, again, again_percent: share, ...memory(pid) });
  } finally {
    proxy.close();
  }
}

async function main(): Promise<void> {
  const stopServices = await benchServices();
  try {
    await withMesh({ zones: ['east'], services: SERVICES, global: { CAUSEWAY_KDS_TLS: 'off' } }, measure);
  } finally {
    await stopServices();
  }
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
