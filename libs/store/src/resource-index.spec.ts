import type { Identity, Labels, Resource } from '@causeway/resources';
import { ResourceIndex, type IndexEvent } from './resource-index';
import type { StoreChange } from './resource-store';

function resource(name: string, revision: number, labels: Labels = {}, rest: Partial<Identity> = {}): Resource {
  const id = { kind: 'Thing', mesh: 'default', zone: 'east', namespace: 'default', name, ...rest };
  const origin = { incarnation: 'first', revision, committedAt: 0 };
  const times = { creationOrder: revision, createdAt: 0, modifiedAt: 0 };
  return { id, uid: name, labels, spec: {}, generation: 1, ...times, revision, origin, freed: [] };
}

const put = (made: Resource): StoreChange => ({ type: 'put', resource: made });
const gone = ({ id }: Resource, revision: number): StoreChange => ({
  type: 'delete',
  tombstone: { id, revision, deletedAt: 0, freed: [] },
});
const keyOf = (name: string): string => `Thing/default/east/default/${name}`;
const names = (found: Iterable<Resource>): string[] => [...found].map(({ id }) => id.name).sort();

describe('ResourceIndex', () => {
  let index: ResourceIndex;
  const load = (...resources: Resource[]): void =>
    index.load({ point: { incarnation: 'first', revision: 10 }, resources, tombstones: [] });
  const apply = (revision: number, ...changes: StoreChange[]): void => index.apply({ revision, changes });
  beforeEach(() => (index = new ResourceIndex()));

  it('looks up by label, also resources created, changed and deleted after the first query', () => {
    load(resource('a', 1, { team: 'x' }), resource('b', 2, { team: 'y' }), resource('c', 3));
    const team = (value: string): string[] => names(index.withLabel('Thing', 'team', value));
    expect([team('x'), team('y'), team('z')]).toEqual([['a'], ['b'], []]);
    apply(11, put(resource('c', 11, { team: 'x' })), put(resource('b', 11, { team: 'x' })));
    expect([team('x'), team('y')]).toEqual([['a', 'b', 'c'], []]);
    apply(12, gone(resource('a', 1), 12), put(resource('c', 12)));
    expect(team('x')).toEqual(['b']);
    load(resource('d', 13, { team: 'x' }));
    expect(team('x')).toEqual(['d']);
    expect(names(index.withLabel('Other', 'team', 'x'))).toEqual([]);
  });

  it('counts by mesh', () => {
    load(resource('a', 1), resource('b', 2, {}, { mesh: 'm' }));
    const counts = (): object => Object.fromEntries(index.countByMesh('Thing'));
    expect(counts()).toEqual({ default: 1, m: 1 });
    apply(11, put(resource('a', 11)), put(resource('c', 11, {}, { mesh: 'm' })), gone(resource('never', 1), 11));
    expect(counts()).toEqual({ default: 1, m: 2 });
    apply(12, gone(resource('a', 1), 12));
    expect(counts()).toEqual({ m: 2 });
    load(resource('a', 13));
    expect(counts()).toEqual({ default: 1 });
    expect(index.countByMesh('Other').size).toBe(0);
  });

  it('returns what the index holds now, not what it held', () => {
    load(resource('a', 1, { team: 'x' }));
    index.withLabel('Thing', 'team', 'x');
    const newer = resource('a', 11, { team: 'x' });
    apply(11, put(newer));
    expect([...index.withLabel('Thing', 'team', 'x')]).toEqual([newer]);
  });

  it('knows the implied labels as selectors do', () => {
    load(
      resource('a', 1),
      resource('b', 2, {}, { namespace: '' }),
      resource('c', 3, { 'k8s.kuma.io/namespace': 'prod' }),
    );
    expect(names(index.withLabel('Thing', 'k8s.kuma.io/namespace', 'default'))).toEqual(['a', 'b']);
    expect(names(index.withLabel('Thing', 'k8s.kuma.io/service-name', 'c'))).toEqual(['c']);
  });

  it('passes the former and the new resource to listeners', () => {
    load(resource('a', 1));
    const events: IndexEvent[] = [];
    const end = index.subscribe((event) => void events.push(event));
    const [before, after] = [index.get(resource('a', 1).id), resource('a', 11)];
    apply(11, put(after));
    apply(12, gone(after, 12));
    end();
    apply(13, put(resource('a', 13)));
    expect(
      events.map(({ point, reloaded, changes }) => [point.revision, reloaded, changes[0]?.before, changes[0]?.after]),
    ).toEqual([
      [11, false, before, after],
      [12, false, after, undefined],
    ]);
  });

  it('keeps tombstones until the store has forgotten them or the name is used again', () => {
    load(resource('a', 1), resource('b', 2), resource('c', 3));
    apply(13, gone(resource('a', 1), 11), gone(resource('b', 2), 12), gone(resource('c', 3), 13));
    expect([...index.tombstones()]).toHaveLength(3);
    apply(14, put(resource('c', 14)));
    index.apply({ revision: 15, changes: [], compactionRevision: 11 });
    expect([...index.tombstones()].map(({ id }) => id.name)).toEqual(['b']);
    expect([...index.listTombstones('Thing')].map(([key]) => key)).toEqual([keyOf('b')]);
    index.load({ point: { incarnation: 'next', revision: 1 }, resources: [], tombstones: [] });
    expect([...index.listTombstones('Thing')]).toEqual([]);
  });

  it('lists resources and tombstones of a kind by their keys', () => {
    load(resource('a', 1), resource('b', 2));
    apply(13, gone(resource('a', 1), 11));
    expect([...index.listEntries('Thing')].map(([key, { id }]) => [key, id.name])).toEqual([[keyOf('b'), 'b']]);
    expect([...index.listTombstones('Thing')].map(([key, { id }]) => [key, id.name])).toEqual([[keyOf('a'), 'a']]);
    expect([...index.listEntries('Other'), ...index.listTombstones('Other')]).toEqual([]);
  });

  it('resolves waits for a revision when it is there, in that incarnation', async () => {
    load(resource('a', 1));
    await index.reached(10);
    const order: string[] = [];
    const waits = [
      index.reached(12).then(() => order.push('12')),
      index.reached(11).then(() => order.push('11')),
      index.reached({ incarnation: 'next', revision: 1 }).then(() => order.push('next incarnation')),
    ];
    apply(11);
    await waits[1];
    apply(12);
    await waits[0];
    expect(order).toEqual(['11', '12']);
    index.load({ point: { incarnation: 'next', revision: 1 }, resources: [], tombstones: [] });
    await waits[2];
    await expect(index.reached(99, AbortSignal.abort(new Error('over')))).rejects.toThrow('over');
  });
});
