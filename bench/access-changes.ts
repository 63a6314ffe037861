import { performance } from 'node:perf_hooks';
import type { JsonObject } from '@causeway/resources';
import { AccessMesh } from '../test/support/access-mesh';
import { PROXY_KINDS, type ProxyKind } from '../test/support/traffic-plane';
import { numberSetting, report } from './support/report';
import { summary } from './support/summary';

/**
 * AccessPolicies that change under load: a server behind an Envoy, then behind a builtin plane. BENCH_CHANGES (100) times the policy of a
 * service is widened and narrowed, and moved between the service and its namespace, while callers that no policy ever allows go on
 * calling. Prints a JSON line with their calls, how many were answered (leaks), and how long a narrowing takes: until a new
 * connection is refused, and until an open one is closed. Exits with 1 after a leak. With CAUSEWAY_ENVOY also by Envoy.
 */
const CHANGES = numberSetting('BENCH_CHANGES', 100);
const NEVER = ['dev', 'stranger', 'west', 'none'];

async function measure(kind: ProxyKind): Promise<number> {
  const mesh = await AccessMesh.start(kind, `127.77.${process.pid % 250}.${kind === 'envoy' ? 2 : 3}`);
  const allow = (from: readonly JsonObject[]): JsonObject => ({ allow: { some: { from: [...from] } } });
  const id = (name: string): JsonObject => ({ spiffeId: { type: 'Exact', value: mesh.plane.spiffeId(name) } });
  const wide = allow([id('client'), id('other')]);
  const narrow = allow([id('client')]);
  const counts = { calls: 0, leaks: 0, allowed: 0, refused_of_allowed: 0 };
  const [refused, closed]: [number[], number[]] = [[], []];
  let isOver = false;
  const never = NEVER.map(async (as) => {
    while (!isOver) {
      const answers = [await mesh.answer(as), await mesh.ask(as, { isKept: true })];
      counts.calls += answers.length;
      counts.leaks += answers.filter((each) => each === 'redis:hello' || each === 200).length;
    }
  });
  await mesh.put(mesh.policy('redis', wide));
  const always = (async () => {
    while (!isOver) {
      counts.allowed += 1;
      if ((await mesh.answer('client')) === '') counts.refused_of_allowed += 1;
    }
  })();
  for (let n = 0; n < CHANGES; n += 3) {
    const [own, general] = [mesh.policy('redis', wide), mesh.policy('shop', wide)];
    await mesh.put(own);
    const open = await mesh.say('other');
    const start = performance.now();
    const isClosed = open.closed.then(() => closed.push(performance.now() - start));
    mesh.plane.state.put(mesh.policy('redis', narrow));
    while ((await mesh.answer('other')) !== '');
    refused.push(performance.now() - start);
    await isClosed;
    mesh.plane.state.change([general], [own]);
    await mesh.settled();
    mesh.plane.state.change([own], [general]);
    await mesh.settled();
  }
  isOver = true;
  await Promise.all([...never, always]);
  await mesh.stop();
  report(`access-changes-${kind}`, { changes: CHANGES, ...counts, refused: summary(refused), closed: summary(closed) });
  return counts.leaks;
}

async function main(): Promise<void> {
  let leaks = 0;
  for (const kind of PROXY_KINDS) leaks += await measure(kind);
  process.exit(leaks === 0 ? 0 : 1);
}

void main();
