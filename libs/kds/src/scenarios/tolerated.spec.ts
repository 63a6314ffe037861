import { hashName } from '@causeway/naming/testing';
import { createConditionsReconciler } from '@causeway/controllers';
import { LoopRunner } from '@causeway/loops';
import { coreKinds } from '@causeway/kinds';
import { findCondition, type Identity } from '@causeway/resources';
import { silentLogger, systemClock } from '@causeway/runtime';
import { MemoryLease } from '@causeway/store/testing';
import { KumaZone } from '../../../../test/support/kuma-zone';
import { TestGlobal, TestZone } from '../../../../test/support/sync-mesh';
import type { WireResource } from '../wire/wire-resource';
import { meshesOf } from '../../../../test/support/meshes';

/** Kuma 2.14.3 lets all of this pass (docs/design.md §5). */
const SPEC = {
  ports: [
    { port: 0, targetPort: 80, appProtocol: 'smtp' },
    { port: 80, targetPort: 80, appProtocol: 'tcp' },
    { port: 80, targetPort: 80, appProtocol: 'tcp' },
  ],
  colour: 'blue',
};
const ODD: Identity = { kind: 'MeshService', mesh: 'default', zone: 'kz', namespace: 'default', name: 'odd' };

const odd = (status?: WireResource['status']): WireResource => ({
  kind: 'MeshService',
  mesh: 'default',
  name: hashName('default', 'odd', 'kz'),
  labels: { 'kuma.io/display-name': 'odd', 'kuma.io/mesh': 'default', 'kuma.io/zone': 'kz', 'kuma.io/origin': 'zone' },
  spec: SPEC,
  ...(status ? { status } : {}),
});

describe('what breaks rules of ours and comes by sync', () => {
  let global: TestGlobal;
  let west: TestZone;
  let kuma: KumaZone;
  const stop = new AbortController();
  let ended: Promise<void>;

  beforeEach(async () => {
    global = new TestGlobal();
    west = new TestZone('west');
    kuma = new KumaZone('kz');
    await global.put('Mesh', 'default', {});
    await global.serve();
    await west.join(global);
    const epoch = (await new MemoryLease(global.disk).takeOver(0, 'global-1', 1_000_000)) ?? 0;
    const { store, index } = global;
    const term = { epoch, holder: 'global-1', signal: stop.signal };
    const loop = createConditionsReconciler({
      cp: { role: 'global' },
      registry: coreKinds,
      meshes: meshesOf(global.index),
    });
    ended = new LoopRunner([loop], { store, index, clock: systemClock, logger: silentLogger, term }).run();
  });

  afterEach(async () => {
    stop.abort();
    await ended;
    kuma.leave();
    await west.close();
    await global.close();
  });

  it('is kept and handed on unchanged, and a condition says so whatever status its zone tells', async () => {
    kuma.tell(global, { MeshService: [odd()] });
    expect((await west.holds(ODD)).spec).toEqual(SPEC);
    const said = await global.holds(ODD, ({ status }) => findCondition(status, 'RulesBroken') !== undefined);
    expect(said.spec).toEqual(SPEC);
    expect(findCondition(said.status, 'RulesBroken')).toMatchObject({
      reason: 'Tolerated',
      message: expect.stringMatching(
        /ports\[0\]\.port .*ports\[0\]\.appProtocol .*colour .*ports\[2\]\.port must be unique/,
      ),
    });
    kuma.leave();
    await global.left('kz');
    kuma.tell(global, { MeshService: [odd({ dataplaneProxies: { total: 1, connected: 1, healthy: 1 } })] });
    const reported = await global.holds(ODD, ({ status }) => status?.['dataplaneProxies'] !== undefined);
    expect(findCondition(reported.status, 'RulesBroken')).toEqual(findCondition(said.status, 'RulesBroken'));
    expect(west.get(ODD)?.status).toBeUndefined();
  });
});
