import fc from 'fast-check';
import type { JsonObject, Resource } from '@causeway/resources';
import { planAvailability } from '@causeway/controllers/testing';
import { asDataplane, findSelector, type DataplaneResource, type ServiceResource } from './dataplane-selector';
import { InboundChange } from './inbound-change';

const HERE = { mesh: 'default', zone: 'east', namespace: 'default' };

function resource(kind: string, name: string, spec: JsonObject, labels = {}): Resource {
  const facts = { uid: name, generation: 1, revision: 1, creationOrder: 1, createdAt: 0, modifiedAt: 0, freed: [] };
  return {
    ...facts,
    origin: { incarnation: 'one', revision: 1, committedAt: 0 },
    id: { ...HERE, kind, name },
    labels,
    spec,
  };
}

function dataplane(inbound: readonly JsonObject[], { labels = {}, address = '10.0.0.1' } = {}): DataplaneResource {
  const found = asDataplane(resource('Dataplane', 'one', { networking: { address, inbound: [...inbound] } }, labels));
  if (!found) throw new Error('no Dataplane');
  return found;
}

const service = (spec: JsonObject): ServiceResource => resource('MeshService', 'redis', spec);
const inbound = (n: number): JsonObject => ({ port: 6000 + n, tags: { 'kuma.io/service': `s-${n}` } });
const INBOUNDS = [0, 1, 2, 3, 4].map(inbound);
const byTag = (n: number): ServiceResource =>
  service({
    selector: { dataplaneTags: { 'kuma.io/service': `s-${n}` } },
    ports: [{ port: 80, targetPort: 6000 + n }],
  });

describe('a change of some inbounds', () => {
  it('concerns the services of these inbounds, by tags and by ports', () => {
    const after = INBOUNDS.map((each, n) => (n === 3 ? { ...each, state: 'NotReady' } : each));
    const change = InboundChange.of(dataplane(INBOUNDS), dataplane([...after, inbound(7)]));
    const asked = [0, 1, 2, 3, 4, 5, 6, 7].filter((n) => change?.concerns(byTag(n)));
    expect(asked).toEqual([3, 7]);
    expect(change?.concerns(service({ selector: { dataplaneTags: { a: 'b' } }, ports: [{ port: 6003 }] }))).toBe(true);
  });

  it.each<[string, DataplaneResource | undefined, DataplaneResource | undefined]>([
    ['a Dataplane that came', undefined, dataplane(INBOUNDS)],
    ['one that went', dataplane(INBOUNDS), undefined],
    ['another address', dataplane(INBOUNDS), dataplane(INBOUNDS, { address: '10.0.0.2' })],
    ['another label', dataplane(INBOUNDS), dataplane(INBOUNDS, { labels: { team: 'a' } })],
    ['few inbounds', dataplane(INBOUNDS.slice(0, 3)), dataplane(INBOUNDS)],
  ])('is more than that: %s', (_, before, after) => {
    expect(InboundChange.of(before, after)).toBeUndefined();
  });

  it('leaves all else as it was', () => {
    const tag = fc.constantFrom('a', 'b', 'c');
    const some = fc.record({
      port: fc.integer({ min: 1, max: 8 }),
      name: fc.constantFrom('x', 'y', 'z'),
      tags: fc.record({ 'kuma.io/service': tag, v: tag }),
      state: fc.constantFrom('Ready', 'NotReady', 'Ignored'),
    });
    const inbounds = fc.array(some, { minLength: 4, maxLength: 8 });
    const changed = inbounds.chain((list) =>
      fc.tuple(
        fc.constant(list),
        fc.array(fc.constantFrom(...list), { maxLength: 8 }),
        fc.array(some, { maxLength: 2 }),
      ),
    );
    const selector = fc.oneof(
      fc.record({ dataplaneTags: fc.record({ 'kuma.io/service': tag, v: tag }, { requiredKeys: ['v'] }) }),
      fc.constantFrom<JsonObject>({ dataplaneLabels: {} }, { dataplaneRef: { name: 'one' } }),
    );
    const target = fc.oneof(fc.integer({ min: 1, max: 8 }), fc.constantFrom('x', 'y', 'z'));
    const ports = fc.array(fc.record({ port: fc.integer({ min: 1, max: 8 }), targetPort: target }), { maxLength: 3 });
    fc.assert(
      fc.property(changed, selector, ports, ([list, kept, added], wanted, served) => {
        const [before, after] = [dataplane(list), dataplane([...kept, ...added])];
        const asked = service({ selector: wanted, ports: served });
        const change = InboundChange.of(before, after);
        fc.pre(change !== undefined && !change.concerns(asked));
        const [of, was] = [findSelector(asked), (one: DataplaneResource) => planAvailability(asked, [one])];
        expect(of?.matches(after)).toBe(of?.matches(before));
        expect(was(after)).toEqual(was(before));
      }),
    );
  });
});
