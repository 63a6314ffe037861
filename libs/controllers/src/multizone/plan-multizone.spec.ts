import type { JsonObject, Labels } from '@causeway/resources';
import { idOf, storedResource } from '../../../../test/support/loop-harness';
import { isMatched, planMultizone, requiredLabels } from './plan-multizone';

const ID = idOf('MeshMultiZoneService', 'backend', { zone: '' });
const stored = (spec: JsonObject, status?: JsonObject) => storedResource(ID, { spec, status });

describe('requiredLabels', () => {
  const many = Object.fromEntries(Array.from({ length: 257 }, (_, i) => [`l${i}`, 'x']));
  it.each<[string, JsonObject, Labels | undefined]>([
    ['labels', { selector: { meshService: { matchLabels: { app: 'x' } } } }, { app: 'x' }],
    ['no label: matches nothing', { selector: { meshService: { matchLabels: {} } } }, undefined],
    ['no selector', {}, undefined],
    ['a selector that is no object', { selector: 'x' }, undefined],
    ['values that are no text', { selector: { meshService: { matchLabels: { a: 'x', b: 1 } } } }, { a: 'x' }],
    ['too many labels: matches nothing', { selector: { meshService: { matchLabels: many } } }, undefined],
  ])('%s', (_, spec, want) => expect(requiredLabels(stored(spec))).toEqual(want));
});

describe('isMatched', () => {
  it.each<[string, string, Labels, boolean]>([
    ['its mesh, its labels', 'default', { app: 'x' }, true],
    ['another mesh', 'other', { app: 'x' }, false],
    ['another value', 'default', { app: 'y' }, false],
  ])('%s', (_, mesh, labels, want) => {
    const candidate = storedResource(idOf('MeshService', 'web', { mesh }), { labels });
    expect(isMatched(stored({}), { app: 'x', 'k8s.kuma.io/service-name': 'web' }, candidate)).toBe(want);
  });
});

describe('planMultizone', () => {
  const [east, west] = [idOf('MeshService', 'web'), idOf('MeshService', 'web', { zone: 'west' })];
  const line = (zone: string): JsonObject => ({ name: 'web', namespace: 'default', zone, mesh: 'default' });
  const matches = [west, east].map((id) => storedResource(id, {}));

  it('lists matches in order, once, and keeps the rest of the status', () => {
    const first = planMultizone(stored({}, { vip: { ip: '243.0.0.1' } }), matches, 0);
    expect(first?.status).toMatchObject({
      vip: { ip: '243.0.0.1' },
      meshServices: [line('east'), line('west')],
      conditions: [{ status: 'True', reason: 'MatchesFound', message: 'Matched 2 MeshService(s)' }],
    });
    expect(planMultizone(stored({}, first?.status), [...matches].reverse(), 1_000)).toBeUndefined();
  });

  it('reports that nothing matches', () => {
    const change = planMultizone(stored({}), [], 0);
    expect(change).toMatchObject({
      expect: 7,
      status: { conditions: [{ status: 'False', reason: 'NoMatchesFound' }] },
    });
    expect(change?.status?.['meshServices']).toBeUndefined();
  });
});
