import type { Labels } from '@causeway/resources';
import { carriedLabels, type LabelSource } from './plan-service';

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
