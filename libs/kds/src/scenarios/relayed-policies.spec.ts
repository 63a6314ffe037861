import { hashName } from '@causeway/naming/testing';
import { KumaZone } from '../../../../test/support/kuma-zone';
import { TestGlobal } from '../../../../test/support/sync-mesh';
import type { WireResource } from '../wire/wire-resource';

const SPEC = { to: [{ targetRef: { kind: 'MeshService', name: 'web' }, default: { connectionTimeout: '3s' } }] };

/** A policy as a Kuma zone on Kubernetes sends it. */
function policy(name: string, namespace: string, role: string): WireResource {
  const labels = {
    'kuma.io/display-name': name,
    'kuma.io/mesh': 'default',
    'kuma.io/zone': 'kz',
    'kuma.io/origin': 'zone',
    'kuma.io/policy-role': role,
    'k8s.kuma.io/namespace': namespace,
  };
  return {
    kind: 'MeshTimeout',
    mesh: 'default',
    name: hashName('default', name, 'kz', namespace),
    labels,
    spec: SPEC,
  };
}

describe('a policy of a Kuma zone', () => {
  const [maker, other] = [new KumaZone('kz'), new KumaZone('kz2')];
  let global: TestGlobal;

  beforeEach(async () => {
    global = new TestGlobal();
    await global.put('Mesh', 'default', {});
    await global.serve();
  });

  afterEach(async () => {
    maker.leave();
    other.leave();
    await global.close();
  });

  it('reaches other Kuma zones where its producer made it for clients, each namespace its own; others stop here', async () => {
    const made = [
      policy('web', 'shop', 'producer'),
      policy('web', 'desk', 'producer'),
      policy('mine', 'shop', 'consumer'),
    ];
    maker.tell(global, { MeshTimeout: made });
    const held = await Promise.all(
      made.map(({ labels }) =>
        global.holds({
          kind: 'MeshTimeout',
          mesh: 'default',
          zone: 'kz',
          namespace: labels['k8s.kuma.io/namespace'] ?? '',
          name: labels['kuma.io/display-name'] ?? '',
        }),
      ),
    );
    expect(held.map(({ spec }) => spec)).toEqual([SPEC, SPEC, SPEC]);
    other.ask(global, ['MeshTimeout']);
    expect(await other.firstState('MeshTimeout')).toEqual(['web', 'web']);
    maker.ask(global, ['MeshTimeout']);
    expect(await maker.firstState('MeshTimeout')).toEqual([]);
  });
});
