import { globalIdentity, identityKey, type ControlPlane, type Identity } from '@causeway/resources';
import { FakeClock } from '@causeway/runtime/testing';
import { MemoryDisk, MemoryStore } from '@causeway/store/testing';
import { applyDefaults } from './apply-defaults';

const global: ControlPlane = { role: 'global' };
const east: ControlPlane = { role: 'zone', zone: 'east', federated: true };
const alone: ControlPlane = { role: 'zone', zone: 'east', federated: false };
const clock = new FakeClock(1_000);

const generators = ['local-universal-mesh-service', 'local-mesh-external-service', 'local-virtual-service'];

function names(ids: readonly Identity[]): string[] {
  return ids.map((id) => `${id.kind} ${id.zone}/${id.name}`);
}

async function remove(store: MemoryStore, id: Identity | undefined): Promise<void> {
  if (!id) throw new Error('nothing to delete');
  await store.write({ changes: [{ type: 'delete', id, expect: 'any' }], onRefusal: 'abort' });
}

describe('applyDefaults', () => {
  it.each<[string, ControlPlane, string[]]>([
    [
      'the global',
      global,
      [
        'Namespace /default',
        'HostnameGenerator /synced-mesh-multi-zone-service',
        'HostnameGenerator /synced-kube-mesh-service',
        'HostnameGenerator /synced-headless-kube-mesh-service',
        'HostnameGenerator /synced-universal-mesh-service',
        'HostnameGenerator /synced-mesh-external-service',
      ],
    ],
    ['a zone', east, generators.map((name) => `HostnameGenerator east/${name}`)],
    ['a zone by itself', alone, ['Namespace /default', ...generators.map((name) => `HostnameGenerator east/${name}`)]],
  ])('gives %s its own', async (_, controlPlane, want) => {
    const store = new MemoryStore();
    expect(names(await applyDefaults({ store, controlPlane, clock }))).toEqual(want);
    expect(await applyDefaults({ store, controlPlane, clock })).toEqual([]);
  });

  it('writes them as a user would have', async () => {
    const store = new MemoryStore();
    await applyDefaults({ store, controlPlane: east, clock });
    const id = {
      kind: 'HostnameGenerator',
      mesh: '',
      zone: 'east',
      namespace: '',
      name: 'local-universal-mesh-service',
    };
    expect(await store.get(id)).toMatchObject({
      labels: {
        'kuma.io/display-name': id.name,
        'kuma.io/origin': 'zone',
        'kuma.io/zone': 'east',
        'kuma.io/env': 'universal',
      },
      spec: {
        selector: { meshService: { matchLabels: { 'kuma.io/origin': 'zone' } } },
        template: '{{ .DisplayName }}.svc.mesh.local',
      },
    });
  });

  it('never brings back what a user deleted, nor undoes a change', async () => {
    const store = new MemoryStore();
    const [namespace, generator] = await applyDefaults({ store, controlPlane: global, clock });
    await remove(store, generator);
    if (!namespace) throw new Error('no namespace');
    await store.write({
      changes: [{ type: 'put', id: namespace, expect: 'any', labels: { mine: 'yes' }, spec: {} }],
      onRefusal: 'abort',
    });
    expect(await applyDefaults({ store, controlPlane: global, clock })).toEqual([]);
    expect((await store.get(namespace))?.labels).toEqual({ mine: 'yes' });
  });

  it('gives a store of an earlier version, once, what this one has besides', async () => {
    const store = new MemoryStore();
    const made = await applyDefaults({ store, controlPlane: east, clock });
    const [newest] = made.filter(({ name }) => name === 'local-virtual-service');
    await remove(store, newest);
    await store.write({
      changes: [],
      onRefusal: 'abort',
      metadata: [{ area: 'defaults', key: newest ? identityKey(newest) : '', value: null }],
    });
    expect(await applyDefaults({ store, controlPlane: east, clock })).toEqual([newest]);
    await remove(store, newest);
    expect(await applyDefaults({ store, controlPlane: east, clock })).toEqual([]);
  });

  it('leaves alone what is there before its first run', async () => {
    const store = new MemoryStore();
    const id = globalIdentity('Namespace', 'default');
    await store.write({
      changes: [{ type: 'put', id, expect: 'any', labels: { mine: 'yes' }, spec: {} }],
      onRefusal: 'abort',
    });
    expect(names(await applyDefaults({ store, controlPlane: global, clock }))).not.toContain('Namespace /default');
    await remove(store, id);
    expect(await applyDefaults({ store, controlPlane: global, clock })).toEqual([]);
  });

  it('gives a zone that leaves its global the namespace it needs', async () => {
    const store = new MemoryStore();
    await applyDefaults({ store, controlPlane: east, clock });
    expect(names(await applyDefaults({ store, controlPlane: alone, clock }))).toEqual(['Namespace /default']);
  });

  it('can be run by two replicas at once', async () => {
    const disk = new MemoryDisk({ clock });
    const runs = [new MemoryStore(disk), new MemoryStore(disk)].map((store) =>
      applyDefaults({ store, controlPlane: global, clock }),
    );
    const made = (await Promise.all(runs)).map((ids) => ids.length);
    expect(made.sort()).toEqual([0, 6]);
    expect((await new MemoryStore(disk).snapshot()).resources).toHaveLength(6);
  });

  it('writes nothing as a leader that is none', async () => {
    const store = new MemoryStore();
    const run = applyDefaults({ store, controlPlane: global, clock, fence: { epoch: 7, holder: 'nobody' } });
    await expect(run).rejects.toThrow();
    expect((await store.snapshot()).resources).toEqual([]);
    expect(await store.listMetadata('defaults')).toEqual([]);
  });
});
