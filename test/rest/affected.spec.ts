import { globalIdentity, type Identity, type JsonObject } from '@causeway/resources';
import { EventReader } from './event-reader';
import { restFixture, type ParsedJson, type RestFixture, type SeedResource } from './rest-fixture';

const id = (kind: string, name: string): Identity => ({ kind, mesh: 'default', zone: 'east', namespace: 'ns', name });
const semantics = 'colours what is sent';
const schema = {
  type: 'object',
  properties: {
    color: { type: 'string', maxLength: 20 },
    colors: {
      type: 'object',
      properties: { dark: { type: 'string', maxLength: 20 }, light: { type: 'string', maxLength: 20 } },
    },
  },
};
/** Stored with its group behind it: control planes bring a ColorPolicy of their own. */
const COLOR_KIND = 'ColorPolicy.example.com';

const kindOf = (kind: string, plural: string, more: JsonObject): SeedResource => ({
  id: globalIdentity('MetaresourceDefinition', `${plural}.example.com`),
  spec: { group: 'example.com', kind, plural, effectiveTarget: { level: 'Backend', semantics }, schema, ...more },
});
const COLOR = kindOf('ColorPolicy', 'colorpolicies', {
  hierarchy: ['Gateway', 'Route', 'Backend'],
  declaredTargets: [
    { kind: 'Gateway', semantics },
    { kind: 'HTTPRoute', semantics },
  ],
  mergeStrategies: ['AtomicDefaults', 'AtomicOverrides', 'PatchDefaults', 'PatchOverrides'],
});
const DIRECT = kindOf('ColorPolicy', 'colorpolicies', {
  hierarchy: ['Backend'],
  declaredTargets: [{ kind: 'MeshService', facet: 'backend', semantics }],
  mergeStrategies: ['None'],
});
const PAINT = kindOf('PaintPolicy', 'paintpolicies', {
  hierarchy: 'mesh',
  effectiveTarget: { level: 'Rule', semantics },
  declaredTargets: ['Namespace', 'MeshService', 'HTTPRoute'].map((kind) => ({ kind, semantics })),
});

type Policies = Readonly<Record<string, readonly [kind: string, name: string, spec: JsonObject]>>;
const EX1: Policies = {
  p1: ['MeshService', 'b1', { color: 'red' }],
  p2: ['MeshService', 'b1', { color: 'blue' }],
};
const EX2: Policies = {
  p1: ['Gateway', 'g1', { color: 'red' }],
  p2: ['HTTPRoute', 'r1', { color: 'blue' }],
  p3: ['Gateway', 'g2', { overrides: { color: 'yellow' } }],
  p4: ['HTTPRoute', 'r4', { color: 'green' }],
};
const EX3: Policies = {
  p1: ['Gateway', 'g1', { colors: { dark: 'brown', light: 'red' }, strategy: 'atomic' }],
  p2: ['HTTPRoute', 'r1', { colors: { light: 'blue' } }],
  p3: ['Gateway', 'g2', { overrides: { colors: { light: 'yellow' }, strategy: 'patch' } }],
  p4: ['HTTPRoute', 'r4', { colors: { dark: 'olive', light: 'green' } }],
};
const TARGETS: readonly (readonly [string, string])[] = [
  ...(['g1', 'g2'] as const).map((name) => ['gateways', name] as const),
  ...['r1', 'r2', 'r3', 'r4'].map((name) => ['httproutes', name] as const),
  ...['b1', 'b2'].map((name) => ['meshservices', name] as const),
];

describe('what policies affect, over REST', () => {
  let rest: RestFixture;
  const readers: EventReader[] = [];

  beforeEach(async () => {
    rest = await restFixture({ cp: { role: 'zone', zone: 'east', federated: false } });
  });
  afterEach(async () => {
    await Promise.all(readers.splice(0).map((reader) => reader.close()));
    await rest.close();
  });

  const graph = async (kind: typeof COLOR, r2 = 'b1'): Promise<void> => {
    const listeners = [{ name: 'web', port: 80, protocol: 'HTTP' }];
    const route = (name: string, gateway: string, backend: string) => ({
      id: id('HTTPRoute', name),
      spec: { parentRefs: [{ name: gateway }], rules: [{ backendRefs: [{ name: backend, port: 80 }] }] },
    });
    const ports = [80, 81].map((port) => ({ port, name: `p${port}` }));
    await rest.seed(
      kind,
      { id: globalIdentity('Namespace', 'ns'), labels: { 'kuma.io/origin': 'zone' } },
      ...['b1', 'b2'].map((name) => ({ id: id('MeshService', name), spec: { ports } })),
      ...['g1', 'g2'].map((name) => ({ id: id('Gateway', name), spec: { gatewayClassName: 'c', listeners } })),
      route('r1', 'g1', 'b1'),
      route('r2', 'g1', r2),
      route('r3', 'g2', 'b1'),
      route('r4', 'g2', 'b2'),
    );
  };
  const put = async (policies: Policies): Promise<void> => {
    for (const [name, [kind, target, spec]] of Object.entries(policies))
      await policy(COLOR_KIND, name, { kind, name: target }, spec);
  };
  const policy = async (...[kind, name, target, spec]: [string, string, JsonObject, JsonObject]): Promise<void> =>
    rest.seed({ id: id(kind, name), spec: { targetRefs: [target], ...spec } });
  const remove = async (...names: readonly string[]): Promise<void> => {
    const changes = names.map((name) => ({
      type: 'delete' as const,
      id: id(COLOR_KIND, name),
      expect: 'any' as const,
    }));
    await rest.index.reached((await rest.store.write({ changes, onRefusal: 'abort' })).revision);
  };
  const get = async (path: string): Promise<ParsedJson> => {
    const url = path.startsWith('/') ? path : `/meshes/default/${path}`;
    return (await rest.server.inject({ url })).json();
  };
  const affected = (conditions: ParsedJson): ParsedJson[] =>
    (conditions ?? []).filter(({ type }: ParsedJson) => /Affected$/.test(type));
  const reason = async (plural: string, name: string): Promise<string> =>
    affected((await get(`${plural}/${name}?namespace=ns`)).status?.conditions)
      .map((one) => one.reason)
      .join(' ');
  const reasons = async (): Promise<ParsedJson> => {
    const found = await Promise.all(TARGETS.map(async ([plural, name]) => [name, await reason(plural, name)] as const));
    return Object.fromEntries(found.filter(([, text]) => text !== ''));
  };
  const revisions = (): readonly (number | undefined)[] =>
    ['b1', 'b2'].map((name) => rest.index.get(id('MeshService', name))?.revision);

  it.each<[string, typeof COLOR, Policies, ParsedJson]>([
    ['T004-36: 1', DIRECT, EX1, { b1: 'ns/p1' }],
    ['T004-37: 2', COLOR, EX2, { g1: 'ns/p1', g2: 'ns/p3', r1: 'ns/p2', b1: 'ns/p1,ns/p2,ns/p3', b2: 'ns/p3' }],
    [
      'T004-38: 3',
      COLOR,
      EX3,
      { g1: 'ns/p1', g2: 'ns/p3', r1: 'ns/p2', r4: 'ns/p4', b1: 'ns/p1,ns/p2,ns/p3', b2: 'ns/p3,ns/p4' },
    ] as [string, typeof COLOR, Policies, ParsedJson],
  ])('T004-51, T004-54, %s: declared and effective targets of the example, nothing in between', async (...row) => {
    const [, kind, policies, wanted] = row;
    await graph(kind, kind === DIRECT ? 'b2' : 'b1');
    await put(policies);
    expect(await reasons()).toEqual(wanted);
  });

  it('T004-52, T004-53, T004-54: the condition names kind and policies, and the generation of the target', async () => {
    await graph(COLOR);
    await put(EX2);
    const before = await get('meshservices/b1?namespace=ns');
    const [condition] = affected(before.status.conditions);
    const oldest = rest.index.get(id(COLOR_KIND, 'p1'))?.createdAt ?? 0;
    expect(condition).toEqual({
      type: 'example.com/ColorPolicyAffected',
      status: 'True',
      reason: 'ns/p1,ns/p2,ns/p3',
      message: 'Object affected by ColorPolicy.example.com [ns/p1 ns/p2 ns/p3]',
      observedGeneration: before.generation,
      lastTransitionTime: new Date(oldest).toISOString(),
    });
    await rest.seed({ id: id('MeshService', 'b1'), spec: { ports: [{ port: 80, name: 'other' }] } });
    const after = await get('meshservices/b1?namespace=ns');
    expect(after.generation).toBeGreaterThan(before.generation);
    expect(affected(after.status.conditions)[0].observedGeneration).toBe(after.generation);
  });

  it('T004-54: more than eight policies are counted', async () => {
    await graph(COLOR);
    for (let i = 0; i < 12; i += 1) {
      const colors = { [i % 2 === 0 ? 'dark' : 'light']: 'red' };
      await rest.seed({
        id: id('HTTPRoute', `s${i}`),
        spec: { parentRefs: [{ name: 'g1' }], rules: [{ backendRefs: [{ name: 'b2', port: 80 }] }] },
      });
      await policy(COLOR_KIND, `q${10 + i}`, { kind: 'HTTPRoute', name: `s${i}` }, { colors });
    }
    expect(await reason('meshservices', 'b2')).toBe('ns/q10,ns/q11,ns/q12,ns/q13,ns/q14,ns/q15,ns/q16,ns/q17,+4');
  });

  it('T004-57, T004-61: is gone with the last policy, and another one takes effect where one went', async () => {
    await graph(COLOR);
    await put(EX2);
    await remove('p3');
    expect([await reason('meshservices', 'b2'), await reason('httproutes', 'r4')]).toEqual(['ns/p4', 'ns/p4']);
    await remove('p1', 'p2', 'p4');
    expect(await reasons()).toEqual({});
    expect((await get('meshservices/b1?namespace=ns')).status?.conditions ?? []).toEqual([]);
  });

  it('T004-58: conditions of others stay, and there is one for each kind', async () => {
    await graph(COLOR);
    await rest.seed(PAINT);
    const foreign = { type: 'example.com/ColorPolicyAffected', status: 'True', reason: 'x', message: 'y' };
    await rest.seed({
      id: id('Gateway', 'g1'),
      status: { conditions: [foreign] },
      spec: { gatewayClassName: 'c', listeners: [{ name: 'web', port: 80, protocol: 'HTTP' }] },
    });
    await put(EX2);
    const { conditions } = (await get('gateways/g1?namespace=ns')).status;
    expect(conditions).toHaveLength(2);
    expect(conditions[0]).toEqual(foreign);
    expect(await reason('meshservices', 'b1')).toBe('ns/p1,ns/p2,ns/p3');
  });

  it('T004-55: a policy on a section stands in the status of that section', async () => {
    await graph(PAINT);
    const spec = { color: 'red' };
    await rest.seed({
      id: id('HTTPRoute', 'own'),
      spec: {
        parentRefs: [{ kind: 'Service', name: 'b1', port: 80 }],
        rules: [{ name: 'all', backendRefs: [{ name: 'b2', port: 80 }] }],
      },
    });
    await policy('PaintPolicy', 'p', { kind: 'MeshService', name: 'b1', sectionName: 'p80' }, spec);
    const service = await get('meshservices/b1?namespace=ns');
    expect(Object.keys(service.status.ports)).toEqual(['p80']);
    expect(affected(service.status.ports.p80.conditions)[0].reason).toBe('ns/p');
    expect(affected(service.status.conditions)).toEqual([]);
    const { status } = await get('httproutes/own?namespace=ns');
    expect(affected(status.rules.all.conditions).map(({ type }) => type)).toEqual(['causeway.io/PaintPolicyAffected']);
  });

  it('T004-56: a Namespace has an annotation, in both forms, which may be written back', async () => {
    await graph(PAINT);
    await policy('PaintPolicy', 'p', { kind: 'Namespace', name: 'ns' }, { color: 'red' });
    const annotations = { 'causeway.io/PaintPolicyAffected': 'true' };
    const document = await get('/namespaces/ns');
    expect(document.annotations).toEqual(annotations);
    expect((await get('/namespaces/ns?format=k8s')).metadata.annotations).toEqual(annotations);
    const back = await rest.server.inject({ method: 'PUT', url: '/namespaces/ns', payload: document });
    expect(`${back.statusCode} ${back.body}`).toMatch(/^20/);
    await rest.store.write({
      changes: [{ type: 'delete', id: id('PaintPolicy', 'p'), expect: 'any' }],
      onRefusal: 'abort',
    });
    await rest.index.reached((await rest.store.head()).revision);
    expect((await get('/namespaces/ns')).annotations).toBeUndefined();
  });

  it('T004-60: is in lists and events as it is now, and nothing is written for it', async () => {
    await graph(COLOR);
    const before = revisions();
    const url = `http://127.0.0.1:${await rest.server.listen('127.0.0.1', 0)}/meshes/default/meshservices`;
    const listed = async (): Promise<string[]> =>
      (await get('meshservices')).items.map(({ status }: ParsedJson) => affected(status?.conditions)[0]?.reason ?? '-');
    const seen = async (): Promise<string> => {
      const reader = await EventReader.open(`${url}?watch=true`);
      readers.push(reader);
      return (
        JSON.stringify((await reader.take(3)).map(({ data }) => data))
          .match(/"reason":"[^"]*"/g)
          ?.join(' ') ?? '-'
      );
    };
    expect([await listed(), await seen()]).toEqual([['-', '-'], '-']);
    await put(EX2);
    expect(await listed()).toEqual(['ns/p1,ns/p2,ns/p3', 'ns/p3']);
    expect(await seen()).toBe('"reason":"ns/p1,ns/p2,ns/p3" "reason":"ns/p3"');
    await policy(COLOR_KIND, 'p1', { kind: 'Gateway', name: 'g1' }, { color: 'pink' });
    await remove('p3');
    expect([await listed(), await seen()]).toEqual([
      ['ns/p1,ns/p2', 'ns/p4'],
      '"reason":"ns/p1,ns/p2" "reason":"ns/p4"',
    ]);
    expect(revisions()).toEqual(before);
  });
});
