import { Dataplane } from '@causeway/kinds';
import type { Labels, Resource } from '@causeway/resources';
import { idOf, storedResource } from '../../../../test/support/loop-harness';
import type { ReconcileResult } from '@causeway/loops';
import { carriedLabels, GENERATOR, planService, type BackingDataplane, type LabelSource } from './plan-service';
import type { GeneratedSpec } from './service-candidates';

/** Older ones first. */
function sources(...groups: [number, Labels][]): LabelSource[] {
  let creationOrder = 0;
  return groups.flatMap(([count, labels]) =>
    Array.from({ length: count }, () => ({ labels, creationOrder: ++creationOrder })),
  );
}

// The numbers are those of docs/reference/kuma-rest.md §9.1.
describe('carriedLabels of one Dataplane', () => {
  it.each<[string, Labels, Labels]>([
    ['1', { appci: 'jeffy' }, { appci: 'jeffy' }],
    ['2', { color: 'blu' }, { color: 'blu' }],
    ['5', {}, {}],
    ['8', { 'BAD!KEY': 'x', team: 'payments' }, { team: 'payments' }],
    ['8b', { appci: 'bad value with space' }, {}],
    ['9a', { 'kuma.io/zone': 'evil-override', color: 'blu' }, { color: 'blu' }],
    ['P2 with a prefix', { 'app.example.com/tier': 'gold' }, { 'app.example.com/tier': 'gold' }],
    ['P4 reserved', { 'k8s.kuma.io/namespace': 'x', 'kuma.io/workload': 'y', team: 'a' }, { team: 'a' }],
    ['ours', { 'causeway.io/registered-by': 'x', team: 'a' }, { team: 'a' }],
  ])('%s', (_, labels, want) => expect(carriedLabels([{ labels, creationOrder: 1 }])).toEqual(want));
});

describe('carriedLabels of several Dataplanes', () => {
  const team = (value: string): Labels => ({ team: value });
  it.each<[string, LabelSource[], Labels]>([
    ['12', sources([3, team('payments')]), team('payments')],
    ['13 the majority', sources([7, team('v5')], [3, team('v6')]), team('v5')],
    ['14', sources([9, team('v5')], [1, team('v6')]), team('v5')],
    ['15 the newest of equals', sources([5, team('v5')], [5, team('v6')]), team('v6')],
    ['16', sources([5, {}], [5, { tier: 'critical' }]), { tier: 'critical' }],
    ['17', sources([5, team('payments')], [5, {}]), team('payments')],
    ['18', sources([2, {}]), {}],
    [
      '19 the smallest',
      [
        { labels: team('zebra'), creationOrder: 1 },
        { labels: team('apple'), creationOrder: 1 },
      ],
      team('apple'),
    ],
    ['nobody', [], {}],
  ])('%s', (_, given, want) => {
    expect(carriedLabels(given)).toEqual(want);
    expect(carriedLabels([...given].reverse())).toEqual(want);
  });
});

describe('planService', () => {
  const EAST = { role: 'zone', zone: 'east', federated: true } as const;
  const ID = idOf('MeshService', 'backend');
  const [NOW, GRACE] = [1_000, 500];
  const specOf = (port: number): GeneratedSpec => ({
    selector: { dataplaneTags: { 'kuma.io/service': 'backend' } },
    ports: [{ name: String(port), port, targetPort: port, appProtocol: 'tcp' }],
  });
  const backing = (name: string, port = 80, labels: Labels = {}): BackingDataplane => {
    const networking = { address: '10.0.0.1', inbound: [{ port }] };
    const dataplane = storedResource(idOf('Dataplane', name), { labels, spec: { networking } });
    if (!Dataplane.is(dataplane)) throw new Error('not a Dataplane');
    return { dataplane, spec: specOf(port) };
  };
  const plan = (existing: Resource | undefined, ...backings: BackingDataplane[]): ReconcileResult =>
    planService({ id: ID, existing, backings, cp: EAST, now: NOW, gracePeriod: GRACE });
  /** The service as its first Dataplane makes it, stored. */
  const stored = (rest: Partial<Resource> = {}): Resource => {
    const { change } = plan(undefined, backing('a'));
    if (change?.type !== 'put') throw new Error('not created');
    const { labels, spec, status } = change;
    return { ...storedResource(ID, { labels, spec, status }), ...rest };
  };

  it('creates a service with its state, count and labels', () => {
    expect(plan(undefined, backing('a', 80, { team: 'x' }), backing('b', 81))).toMatchObject({
      change: {
        type: 'put',
        expect: 'absent',
        labels: { team: 'x', 'kuma.io/managed-by': GENERATOR, 'kuma.io/zone': 'east' },
        spec: { ...specOf(80), state: 'Available' },
        status: { dataplaneProxies: { total: 2, healthy: 1 }, conditions: [{ reason: 'PortConflict' }] },
      },
    });
  });

  it.each<[string, Resource | undefined, BackingDataplane[], ReconcileResult]>([
    ['nothing of nothing', undefined, [], {}],
    ['a service written by hand is left alone', storedResource(ID, {}), [backing('a')], {}],
    ['unchanged', stored(), [backing('a')], {}],
    ['agreeing Dataplanes', stored(), [backing('a'), backing('b')], {}],
    [
      'the last Dataplane went: the grace period begins',
      stored(),
      [],
      { change: { type: 'patch', id: ID, expect: 7, graceStartedAt: NOW }, dueAt: NOW + GRACE },
    ],
    ['within the grace period', stored({ graceStartedAt: NOW - 1 }), [], { dueAt: NOW - 1 + GRACE }],
    [
      'after the grace period',
      stored({ graceStartedAt: NOW - GRACE }),
      [],
      { change: { type: 'delete', id: ID, expect: 7 } },
    ],
    [
      'a Dataplane came back',
      stored({ graceStartedAt: NOW - 1 }),
      [backing('a')],
      { change: { type: 'patch', id: ID, expect: 7, graceStartedAt: null } },
    ],
  ])('%s', (_, existing, backings, want) => expect(plan(existing, ...backings)).toEqual(want));

  it('keeps ports while one Dataplane agrees, and takes those of the oldest when none does', () => {
    const kept = plan(stored(), backing('b', 81), backing('a'));
    expect(kept.change).toMatchObject({ type: 'patch', status: { conditions: [{ status: 'False' }] } });
    const moved = plan(stored(), backing('b', 81), backing('c', 82));
    expect(moved.change).toMatchObject({ type: 'put', expect: 7, spec: specOf(81) });
  });

  it('keeps the labels that users added and drops those that Dataplanes no longer carry', () => {
    const row = stored();
    const existing = {
      ...row,
      labels: { ...row.labels, mine: 'yes', team: 'x' },
      status: { ...row.status, carriedLabels: ['team'] },
    };
    const { change } = plan(existing, backing('a', 80, { tier: 'gold' }));
    expect(change).toMatchObject({ type: 'put', status: { carriedLabels: ['tier'] } });
    expect(change?.type === 'put' && change.labels).toEqual({ ...row.labels, mine: 'yes', tier: 'gold' });
  });
});
