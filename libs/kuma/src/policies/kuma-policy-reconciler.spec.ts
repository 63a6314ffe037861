import { identityKey, Label, type Resource } from '@causeway/resources';
import { BindingTable } from '@causeway/routing';
import { ResourceIndex } from '@causeway/store';
import { idOf, storedResource } from '../../../../test/support/loop-harness';
import { KumaPolicyReconciler } from './kuma-policy-reconciler';
import { kumaPolicyId, kumaPolicyKinds } from './plan-kuma-policy';

/** Each service selects instances of its own, so that the way in which proxies find them never causes another plan. */
function service(name: string, zone: string, more: { readonly labels?: Record<string, string> } = {}): Resource {
  const spec = { selector: { dataplaneTags: { 'kuma.io/service': name } }, ports: [{ port: 80 }] };
  const labels = { [Label.displayName]: name, [Label.zone]: zone, ...more.labels };
  return storedResource({ ...idOf('MeshService', name), zone }, { spec, labels });
}

/** The keys of all that is made for services. */
const keysFor = (...services: readonly Resource[]): readonly string[] =>
  services
    .flatMap(({ id }) =>
      (Object.keys(kumaPolicyKinds) as (keyof typeof kumaPolicyKinds)[]).map((kind) => kumaPolicyId(kind, id)),
    )
    .map(identityKey)
    .sort();

describe('which services are translated again once one has changed', () => {
  const east = service('web', 'east');
  const west = service('web', 'west');
  const other = service('api', 'east');

  /** Returns the keys that are planned again after a change, if these resources exist before it and these zones are of Kuma. */
  function stale(
    there: readonly Resource[],
    { before, after }: { readonly before?: Resource; readonly after?: Resource },
    zones: readonly string[] = ['kuma'],
  ): readonly unknown[] {
    const index = new ResourceIndex();
    index.load({ point: { incarnation: 'one', revision: 1 }, resources: there, tombstones: [] });
    const nothing = { hasLoaded: true, subscribe: () => () => undefined };
    const none = { effectiveOfRule: () => undefined, effectiveOfBackend: () => undefined, listConsumers: () => [] };
    const reconciler = new KumaPolicyReconciler({
      meshes: { served: () => [], version: '' },
      routes: { ...nothing, table: new BindingTable({ zone: '' }) },
      policies: { ...nothing, table: none },
      zones: () => zones,
    });
    reconciler.outsideKeys();
    for (const _ of reconciler.seed(index, 'reset'));
    const { id } = after ?? before ?? east;
    return [...reconciler.listKeys({ key: identityKey(id), id, before, after }, index)].sort();
  }

  it('one of the same name comes in another zone: each zone takes its own first, so neither is sent', () => {
    expect(stale([east, other], { after: west })).toEqual(keysFor(east, west));
  });

  it('one of the same name goes, or gets another name', () => {
    expect(stale([east, west, other], { before: west })).toEqual(keysFor(east, west));
    const renamed = service('web', 'west', { labels: { [Label.displayName]: 'shop' } });
    expect(stale([east, west, other], { before: west, after: renamed })).toEqual(keysFor(east, west));
  });

  it('one of three of the same name goes: the other two are not sent, as before', () => {
    expect(stale([east, west, service('web', 'north')], { before: west })).toEqual(keysFor(west));
  });

  it('no zone is of Kuma: none is sent', () => {
    expect(stale([east, other], { after: west }, [])).toEqual(keysFor(west));
  });

  it('its counts alone change: nothing is translated again', () => {
    const counted = { ...east, status: { dataplaneProxies: { total: 1 } } };
    expect(stale([east, west], { before: east, after: counted })).toEqual([]);
  });
});
