import fc from 'fast-check';
import { identityKey, type Identity, type Resource } from '@causeway/resources';
import { foldPath, pathsAt, type PolicyTable } from '@causeway/policies';
import { type FillRunner } from '@causeway/store';
import { fillAtOnce } from '@causeway/store/testing';
import { HeldFills } from '../../../../test/support/held-fills';
import { meshesOf } from '../../../../test/support/meshes';
import { policyOrTraffic } from '../../../../test/support/policy-changes';
import { shippedKinds, sketch, TrafficZone } from '../../../../test/support/traffic-zone';
import { FollowedRoutes } from '../routes/followed-routes';
import { FollowedPolicies } from './followed-policies';

const MESHES = ['default', 'other'].map((name): Identity => ({
  kind: 'Mesh',
  mesh: '',
  zone: '',
  namespace: '',
  name,
}));

/** Returns the contents of a table: the effective spec of each path with policies, and the place of each policy. */
function said(table: PolicyTable): Map<string, string> {
  const found = new Map<string, string>();
  for (const kind of table.all()) {
    const { kind: name } = kind.definition;
    for (const mesh of MESHES) {
      for (const path of pathsAt(kind, mesh, kind.policies.attachments)) {
        const fold = foldPath(kind, path);
        if (fold) found.set(`${name} ${path.key}`, JSON.stringify([fold.spec, [...fold.sources]]));
      }
    }
    for (const { policy, targets } of kind.policies.attachments.all()) {
      found.set(policy.key, JSON.stringify(targets.map((each) => [each.permitted, [...each.found.keys()].sort()])));
    }
  }
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Returns the announced changes without those of policies that are gone: a policy that changed nothing is not announced. What it changed for others
 * is among the paths and the other policies, which all stay.
 */
function withoutGone(shown: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>): Map<string, string> {
  const isPath = (key: string): boolean => key.includes(' ');
  return new Map([...shown].filter(([key]) => isPath(key) || now.has(key)));
}

function followed(zone: TrafficZone, run: FillRunner, maxAtOnce?: number) {
  const options = {
    index: zone.index,
    meshes: meshesOf(zone.index),
    run,
    ...(maxAtOnce !== undefined && { maxAtOnce }),
  };
  const routes = new FollowedRoutes({ ...options, zone: 'west' });
  return { routes, policies: new FollowedPolicies({ ...options, routes }) };
}

const change = fc.record({ what: policyOrTraffic, steps: fc.nat(12) });

describe('the policies of a process', () => {
  it.each(['Mesh', 'Namespace'])('a policy on a %s is reported when a service below it goes', (kind) => {
    const service = sketch('MeshService', 'a', { ports: [{ port: 80, targetPort: 80 }] });
    const targetRefs = [kind === 'Mesh' ? { kind, name: 'default' } : { kind, selector: {} }];
    const policy = sketch('LoadBalancingPolicy', 'p', { targetRefs, algorithm: 'Random' });
    const zone = new TrafficZone([...shippedKinds(), sketch('MeshService', 'b', service.spec), service, policy]);
    const steps = new HeldFills();
    const { policies } = followed(zone, steps.run);
    steps.finish();
    const received: string[] = [];
    policies.subscribe({ reload: () => undefined, apply: (affected) => received.push(...affected.policies) });
    zone.delete(service);
    expect(received).toContain(identityKey(policy.id));
    policies.close();
  });

  it('are those of the index, whatever changed between the steps of its loads, and a table that nobody sees announces nothing', () => {
    fc.assert(
      fc.property(
        fc.array(policyOrTraffic, { maxLength: 6 }),
        fc.array(change, { maxLength: 16 }),
        fc.constantFrom(0, 1, undefined),
        (before, changes, maxAtOnce) => {
          const held = new Map<string, Resource>();
          const write = (zone: TrafficZone, { resources, gone }: (typeof before)[number]): void => {
            const distinct = [...new Map(resources.map((each) => [identityKey(each.id), each])).values()];
            if (gone) zone.delete(...distinct);
            else zone.put(...distinct);
            for (const each of distinct) {
              if (gone) held.delete(identityKey(each.id));
              else held.set(identityKey(each.id), each);
            }
          };
          const zone = new TrafficZone();
          for (const each of before) write(zone, each);
          const steps = new HeldFills();
          const { policies } = followed(zone, steps.run, maxAtOnce);
          let shown = said(policies.table);
          let isNotified = false;
          const notify = (): void => void (isNotified = true);
          policies.subscribe({ reload: notify, apply: notify });
          const look = (): void => {
            const now = said(policies.table);
            if (!isNotified) expect(now).toEqual(withoutGone(shown, now));
            [shown, isNotified] = [now, false];
          };
          for (const { what, steps: count } of changes) {
            for (let n = 0; n < count; n++) steps.take();
            look();
            write(zone, what);
            look();
          }
          steps.finish();
          look();
          const again = new TrafficZone([...held.values()].reverse());
          const fresh = followed(again, fillAtOnce);
          expect(policies.isCurrent).toBe(true);
          expect(new Set(policies.table.definitions)).toEqual(new Set(fresh.policies.table.definitions));
          expect(said(policies.table)).toEqual(said(fresh.policies.table));
          policies.close();
        },
      ),
      { numRuns: 60 },
    );
  });
});
