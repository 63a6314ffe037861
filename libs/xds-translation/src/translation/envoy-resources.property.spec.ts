import { type FillRunner } from '@causeway/store';
import { fillAtOnce } from '@causeway/store/testing';
import fc from 'fast-check';
import { identityKey } from '@causeway/resources';
import { FollowedPolicies, FollowedRoutes } from '@causeway/meshes';
import { policyOrTraffic } from '../../../../test/support/policy-changes';
import { sketch, shippedKinds, TrafficZone } from '../../../../test/support/traffic-zone';
import { type RefusedResource, RESOURCE_TYPES } from '@causeway/xds-server';
import { ClusterLoadAssignment } from '@causeway/proto-gen';
import { listTargets } from '../tables/destination-table';
import type { EnvoyResources } from './envoy-resources';
import type { EnvoyResourcesOptions } from './envoy-resources-options';
import type { EnvoyView } from '../views/envoy-view';
import { resourceOptions, zoneResources } from '../../../../test/support/zone-resources';

const dataplaneId = { kind: 'Dataplane', mesh: 'default', zone: 'west', namespace: 'default', name: 'a' };
const consumerId = { ...dataplaneId, namespace: 'clients' };
const identity = (): { chain: string; key: { pem: string } } => ({ chain: 'C', key: { pem: 'K' } });
const allViews: readonly EnvoyView[] = [
  {
    mesh: 'default',
    capture: { type: 'bind' },
    listed: 'declared',
    dataplane: dataplaneId,
    identity,
  },
  {
    mesh: 'default',
    capture: {
      type: 'redirect',
      at: { address: '127.0.0.1', port: 15001 },
      reentry: { address: '127.0.0.1', port: 15011 },
      ipv6: true,
    },
    // With on-demand names the result would depend on earlier requests.
    listed: 'all',
    dataplane: dataplaneId,
  },
  {
    mesh: 'default',
    capture: {
      type: 'redirect',
      at: { address: '127.0.0.1', port: 15001 },
      reentry: { address: '127.0.0.1', port: 15011 },
      withoutChains: true,
    },
    listed: 'all',
  },
  { mesh: 'other', capture: { type: 'bind' }, listed: 'all' },
  // A view of a namespace that has routes of its own.
  { mesh: 'default', capture: { type: 'bind' }, listed: 'all', dataplane: consumerId },
  { mesh: 'default', capture: { type: 'translate' }, listed: 'all', dataplane: dataplaneId },
  { mesh: 'default', wire: 'grpc', listed: new Set(), dataplane: consumerId },
  { mesh: 'default', listed: new Set(), dataplane: dataplaneId, identity },
  { mesh: 'default', wire: 'grpc', listed: new Set(), dataplane: dataplaneId },
  { mesh: 'default', listed: new Set(), ingress: { address: '127.0.0.1', port: 10001 } },
  { mesh: '', listed: new Set(), egress: { at: { address: '127.0.0.1', port: 10002 }, identity } },
];

const cluster = RESOURCE_TYPES.cluster;

/** Resources of a zone with its policies, as a process has them. */
function sourceOf(zone: TrafficZone, given: Partial<EnvoyResourcesOptions> = {}): EnvoyResources {
  const options = resourceOptions(zone, 'west', given);
  const routes = new FollowedRoutes({ index: zone.index, zone: 'west', meshes: zone.access.meshes, run: fillAtOnce });
  const { meshes } = zone.access;
  const policies = new FollowedPolicies({ index: zone.index, meshes, routes, run: fillAtOnce });
  return zoneResources(zone, 'west', { ...options, policies });
}

function listedBy(source: EnvoyResources, view: EnvoyView): ReadonlySet<string> {
  const types = [cluster, RESOURCE_TYPES.listener];
  return new Set(types.flatMap((type) => [...source.names({ id: 'p', view }, type)].map((one) => `${type} ${one}`)));
}

/**
 * Returns all resources that the proxies of a view can hold: listed ones, those that these name, and every address on demand. `asked`: names that
 * they requested before, and go on requesting.
 */
function everything(source: EnvoyResources, view: EnvoyView, asked = new Set<string>()): Map<string, string> {
  const found = new Map<string, string>();
  const take = (type: string, name: string): void => {
    asked.add(`${type} ${name}`);
    const resource = source.get(view, type, name);
    if (resource === 'pending') return;
    if (resource) found.set(`${type} ${name}`, resource.version);
    if (resource?.endpointsName !== undefined) take(RESOURCE_TYPES.endpoints, resource.endpointsName);
  };
  // gRPC clients keep requested resources when the service is gone; resources of other clients show in their lists. Endpoints stay as they are when a
  // cluster that shares its address with another no longer names them.
  for (const key of [...asked]) {
    const [type = '', name = ''] = key.split(' ');
    if (view.wire === 'grpc' || type === RESOURCE_TYPES.endpoints) take(type, name);
    else source.get(view, type, name);
  }
  for (const hostname of ['a.mesh', 'b.mesh']) take(RESOURCE_TYPES.hostName, hostname);
  if (view.wire === 'grpc') {
    for (const destination of source.model.destinations()) {
      for (const target of listTargets(destination)) take(RESOURCE_TYPES.listener, target);
      take(cluster, destination.name);
      take(RESOURCE_TYPES.endpoints, destination.name);
      checkGrpcEndpoints(source.get(view, RESOURCE_TYPES.endpoints, destination.name));
    }
    return found;
  }
  for (const type of [cluster, RESOURCE_TYPES.listener])
    for (const name of source.names({ id: 'p', view }, type)) take(type, name);
  for (const name of ['identity', 'trust']) take(RESOURCE_TYPES.secret, name);
  for (const ip of ['241.0.0.1', '241.0.0.2', '[fd00::1]'])
    for (const port of [80, 443, 6379, 9000]) {
      take(cluster, `vip:${ip}:${port}`);
      take(RESOURCE_TYPES.filterChain, `fc:${ip}:${port}`);
    }
  for (const { name } of source.model.destinations()) take(RESOURCE_TYPES.routes, name);
  return found;
}

/** Checks the rules of grpc-js for endpoints, which rejects others. */
function checkGrpcEndpoints(resource: ReturnType<EnvoyResources['get']>): void {
  if (resource === undefined || resource === 'pending') throw new Error('endpoints of gRPC are never removed');
  const { endpoints } = ClusterLoadAssignment.decode(resource.bytes);
  const addresses = endpoints.flatMap(({ lbEndpoints }) =>
    lbEndpoints.map((each) => JSON.stringify(each.hostIdentifier)),
  );
  expect(new Set(addresses).size).toBe(addresses.length);
  const places = endpoints.map(({ locality, priority }) => `${locality?.zone ?? ''} ${priority}`);
  expect(new Set(places).size).toBe(places.length);
  for (const { locality, loadBalancingWeight = 0, lbEndpoints } of endpoints) {
    expect(locality?.zone).toBeTruthy();
    expect(loadBalancingWeight).toBeGreaterThan(0);
    expect(lbEndpoints.length).toBeGreaterThan(0);
  }
  const ranks = [...new Set(endpoints.map(({ priority }) => priority))].sort((a, b) => a - b);
  expect(ranks).toEqual(ranks.map((_, i) => i));
}

test('what followed every change is what a fresh start makes, every difference was announced, and Envoy’s rules hold', () => {
  fc.assert(
    // With 0, a change of access makes everything be derived anew.
    fc.property(fc.array(policyOrTraffic, { maxLength: 12 }), fc.constantFrom(0, Infinity), (changes, mostAtOnce) => {
      const held = new Map(shippedKinds().map((each) => [identityKey(each.id), each]));
      const followed = new TrafficZone(shippedKinds());
      const source = sourceOf(followed, { maxAtOnce: mostAtOnce });
      source.follow();
      const announced = new Set<string>();
      let isAllTold = false;
      source.subscribe({
        changed: ({ type, names, group = '' }) => names.forEach((each) => announced.add(`${group} ${type} ${each}`)),
        relisted: ({ view: only }) => {
          // As the server does: views with lists of their own are checked at changes of their own.
          for (const view of only === undefined ? views.filter((each) => !source.listsOwn(each)) : [only])
            for (const type of [cluster, RESOURCE_TYPES.listener])
              for (const name of source.takeRelisted(view, type))
                relisted.add(`${views.indexOf(view)} ${type} ${name}`);
        },
        allChanged: () => (isAllTold = true),
      });
      const relisted = new Set<string>();
      const views = [...allViews];
      const isThere = ({ dataplane }: EnvoyView): boolean =>
        dataplane !== undefined && followed.index.get(dataplane) !== undefined;
      const asked = views.map(() => new Set<string>());
      let before = views.map((view, i) => everything(source, view, asked[i]));
      for (const { resources, gone } of changes) {
        const wasThere = views.map(isThere);
        const wasListed = views.map((view) => listedBy(source, view));
        const listedOwn = views.map((view) => source.listsOwn(view));
        const wasAsked = asked.map((names) => new Set(names));
        announced.clear();
        relisted.clear();
        isAllTold = false;
        const distinct = [...new Map(resources.map((each) => [identityKey(each.id), each])).values()];
        if (gone) followed.delete(...distinct);
        else followed.put(...distinct);
        for (const each of distinct) {
          if (gone) held.delete(identityKey(each.id));
          else held.set(identityKey(each.id), each);
        }
        // A deleted Dataplane ended the streams of its proxies; a new one has a new view.
        const isSame = views.map((view, i) => isThere(view) === wasThere[i]);
        for (const [i, view] of views.entries()) if (isSame[i] === false) views[i] = { ...view };
        const after = views.map((view, i) => everything(source, view, asked[i]));
        after.forEach((now, i) => {
          if (isSame[i] === false) return;
          const then = before[i] ?? new Map<string, string>();
          const view = views[i] ?? { mesh: '', listed: 'all' };
          const isKnown = (key: string): boolean =>
            wasAsked[i]?.has(key) === true || wasListed[i]?.has(key) === true || listedBy(source, view).has(key);
          for (const key of new Set([...now.keys(), ...then.keys()]))
            if (!isAllTold && now.get(key) !== then.get(key) && isKnown(key)) {
              // A view that alone lists an address of its own is notified of it with its group.
              const isOwn =
                listedOwn[i] === true && (wasListed[i]?.has(key) === true || listedBy(source, view).has(key));
              const keys = [...(isOwn ? [] : [` ${key}`]), `${source.findGroup(view) ?? 'none'} ${key}`];
              const isAnnounced = relisted.has(`${i} ${key}`) || keys.some((each) => announced.has(each));
              expect(isAnnounced || `${key} was not announced to view ${i}`).toBe(true);
            }
        });
        before = after;
      }
      const again = new TrafficZone([...held.values()].reverse());
      const fresh = sourceOf(again);
      expect([...source.model.destinations()].sort(byName)).toEqual([...fresh.model.destinations()].sort(byName));
      for (const view of views) expect(everything(source, view)).toEqual(everything(fresh, view));
      for (const view of views) {
        const found = refusedBy(source, view);
        expect(found).toEqual(refusedBy(fresh, view));
        // Only unsupported fields of routes and of outbounds of the Dataplane are refused.
        const fields = found.flatMap(({ violations }) => violations.map(({ field }) => field));
        expect(fields.filter((field) => !/^(routes$|spec\.networking\.outbound)/.test(field))).toEqual([]);
      }
    }),
    { numRuns: 12 },
  );
});

test('a route that makes a service without an address one of requests tells its cluster', () => {
  const ports = [{ port: 6379 }];
  const many = sketch('MeshMultiZoneService', 'a', { ports, selector: {} }, { status: { meshServices: [] } });
  const zone = new TrafficZone([many]);
  const source = zoneResources(zone, 'west');
  source.follow();
  const [, view = { mesh: '', listed: 'all' }] = allViews;
  expect(source.names({ id: 'p', view }, cluster).size).toBe(0);
  const announced: string[] = [];
  const relisted = () => void announced.push(...source.takeRelisted(view, cluster));
  source.subscribe({ changed: () => undefined, relisted, allChanged: () => undefined });
  const parentRefs = [{ kind: 'MeshMultiZoneService', name: 'a' }];
  zone.put(sketch('HTTPRoute', 'a', { parentRefs, rules: [{ backendRefs: [] }] }));
  expect(announced).toContain('kri_mzsvc_default___a_6379');
});

test('a load in slices, with changes between its steps, gives what a fresh start makes, and is announced at its end', () => {
  fc.assert(
    fc.property(
      fc.array(policyOrTraffic, { maxLength: 12 }),
      fc.array(fc.nat(6), { maxLength: 12 }),
      (changes, pauses) => {
        const held = new Map(shippedKinds().map((each) => [identityKey(each.id), each]));
        const store = new TrafficZone(shippedKinds());
        const write = ({ resources, gone }: (typeof changes)[number]): void => {
          const distinct = [...new Map(resources.map((each) => [identityKey(each.id), each])).values()];
          if (gone) store.delete(...distinct);
          else store.put(...distinct);
          for (const each of distinct) {
            if (gone) held.delete(identityKey(each.id));
            else held.set(identityKey(each.id), each);
          }
        };
        const half = Math.floor(changes.length / 2);
        changes.slice(0, half).forEach(write);
        const steps: Iterator<unknown>[] = [];
        const run: FillRunner = (work) => void steps.push(work[Symbol.iterator]());
        const routes = new FollowedRoutes({
          index: store.index,
          zone: 'west',
          meshes: store.access.meshes,
          run: fillAtOnce,
        });
        const source = sourceOf(store, { run, routes });
        source.follow();
        const announced: number[] = [];
        source.subscribe({
          changed: () => undefined,
          relisted: () => undefined,
          allChanged: (at) => void announced.push(at),
        });
        const before = source.revision;
        changes.slice(half).forEach((each, n) => {
          for (let step = 0; step < (pauses[n] ?? 0); step++) steps[0]?.next();
          write(each);
          // The served resources and their revision stay as they were.
          if (!source.loader.hasLoaded)
            expect([source.revision, [...source.model.destinations()]]).toEqual([before, []]);
        });
        // Policies that were derived anew meanwhile make a load of their own.
        for (let n = 0; n < steps.length; n++) {
          while (steps[n]?.next().done === false);
        }
        expect(announced).toContain(before + 1);
        expect(source.revision).toBe(store.index.point?.revision);
        const again = new TrafficZone([...held.values()].reverse());
        const fresh = sourceOf(again);
        expect([...source.model.destinations()].sort(byName)).toEqual([...fresh.model.destinations()].sort(byName));
        for (const view of allViews) expect(everything(source, view)).toEqual(everything(fresh, view));
      },
    ),
    { numRuns: 5 },
  );
});

function refusedBy(source: EnvoyResources, view: EnvoyView): readonly RefusedResource[] {
  const key = ({ type, name }: RefusedResource): string => `${type} ${name}`;
  return [...source.refused({ id: 'web-1', view })].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}
