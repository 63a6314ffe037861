import type { Identity, JsonObject, Labels, Resource } from '@causeway/resources';
import { selectedDataplanes } from './dataplane-selector';

const HERE = { mesh: 'default', zone: 'east', namespace: 'default' };

function resource(id: Identity, spec: JsonObject, labels: Labels = {}): Resource {
  const facts = { uid: id.name, generation: 1, revision: 1, creationOrder: 1, createdAt: 0, modifiedAt: 0, freed: [] };
  const origin = { incarnation: 'one', revision: 1, committedAt: 0 };
  return { ...facts, origin, id, labels, spec };
}

function dataplane(name: string, inbound: JsonObject[], where: object = {}, labels: Labels = {}): Resource {
  const networking = { address: '10.0.0.1', inbound };
  return resource({ ...HERE, ...where, kind: 'Dataplane', name }, { networking }, labels);
}

const dataplanes = [
  dataplane('one', [{ port: 1, tags: { app: 'web', v: '1' } }], {}, { team: 'a' }),
  dataplane('two', [
    { port: 1, tags: { app: 'web' } },
    { port: 2, tags: { v: '1' } },
  ]),
  dataplane('silent', [], {}, { team: 'a' }),
  dataplane('untagged', [{ port: 1 }], {}, { team: 'b' }),
  ...['mesh', 'zone', 'namespace'].map((part) =>
    dataplane('one', [{ port: 1, tags: { app: 'web', v: '1' } }], { [part]: 'other' }, { team: 'a' }),
  ),
];

describe('the Dataplanes of a service', () => {
  it.each<[string, JsonObject | undefined, string[]]>([
    ['all tags on one inbound', { dataplaneTags: { app: 'web', v: '1' } }, ['one']],
    ['a tag', { dataplaneTags: { app: 'web' } }, ['one', 'two']],
    ['no tags', { dataplaneTags: {} }, []],
    ['labels; never one without inbound', { dataplaneLabels: { matchLabels: { team: 'a' } } }, ['one']],
    [
      'a label that it has implicitly',
      { dataplaneLabels: { matchLabels: { 'k8s.kuma.io/namespace': 'default' } } },
      ['one', 'two', 'untagged'],
    ],
    ['no labels: all', { dataplaneLabels: {} }, ['one', 'two', 'untagged']],
    ['a name', { dataplaneRef: { name: 'one' } }, ['one']],
    ['a name without inbound', { dataplaneRef: { name: 'silent' } }, []],
    ['an empty selector', {}, []],
    ['no selector', undefined, []],
  ])('are chosen by %s, in its mesh, zone and namespace', (_, selector, want) => {
    const service = resource({ ...HERE, kind: 'MeshService', name: 'web' }, selector ? { selector } : {});
    const found = [...selectedDataplanes(service, dataplanes)].flatMap((one) => one?.id ?? []);
    expect(found).toEqual(want.map((name) => ({ ...HERE, kind: 'Dataplane', name })));
  });

  it('are none of what is no service', () => {
    expect(dataplanes.flatMap((one) => [...selectedDataplanes(one, dataplanes)])).toEqual([]);
  });
});
