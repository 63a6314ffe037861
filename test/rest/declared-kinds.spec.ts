import type { JsonObject } from '@causeway/resources';
import { plainTokens } from '../support/rest-access';
import { EventReader } from './event-reader';
import { restFixture, type FixtureOptions, type ParsedJson, type RestFixture } from './rest-fixture';

const SPEC = {
  group: 'policies.example.com',
  kind: 'PaintPolicy',
  plural: 'paintpolicies',
  shortName: 'paint',
  hierarchy: ['Mesh', 'Namespace', 'Service', 'ServicePort', 'Route', 'Rule'],
  declaredTargets: [
    { kind: 'Namespace', semantics: 'paints the requests to services of the namespace' },
    { kind: 'HTTPRoute', group: 'gateway.networking.k8s.io', semantics: 'paints what a rule of the route matches' },
  ],
  effectiveTarget: { level: 'Rule', semantics: 'paints the requests that match the rule' },
  mergeStrategies: ['AtomicDefaults', 'AtomicOverrides', 'PatchDefaults'],
  schema: {
    type: 'object',
    properties: {
      colour: { type: 'string', enum: ['red', 'blue'] },
      shade: { type: 'integer', minimum: 0, maximum: 9 },
    },
  },
};
const DEFINITION = '/metaresourcedefinitions/paintpolicies.policies.example.com';
const PAINT = '/meshes/default/paintpolicies/p1';
const definitionOf = (spec: JsonObject): object => ({
  type: 'MetaresourceDefinition',
  name: 'paintpolicies.policies.example.com',
  spec,
});
const targetRefs = [{ kind: 'Namespace', name: 'default' }];
const red = { targetRefs, colour: 'red' };

describe('kinds that are declared while the control plane runs', () => {
  let rest: RestFixture;
  const open = async (options: FixtureOptions = {}): Promise<void> => {
    rest = await restFixture({ cp: { role: 'global' }, ...options });
  };
  afterEach(() => rest.close());

  const call = async (method: 'GET' | 'PUT' | 'PATCH' | 'DELETE', url: string, payload?: object, token?: string) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const answer = await rest.server.inject({ method, url, headers, ...(payload && { payload }) });
    const body: ParsedJson = answer.body === '' ? undefined : JSON.parse(answer.body);
    return { status: answer.statusCode, body };
  };
  const define = (spec: JsonObject = SPEC) => call('PUT', DEFINITION, definitionOf(spec));
  const put = (spec: JsonObject, name = 'p1') =>
    call('PUT', `/meshes/default/paintpolicies/${name}`, { type: 'PaintPolicy', name, spec });
  const faults = ({ status, body }: { readonly status: number; readonly body: ParsedJson }): unknown[] => [
    status,
    ...(body?.invalid_parameters ?? []).map((one: ParsedJson) => one.field),
  ];

  it('have their paths, lists, documents, OpenAPI and nouns from the moment of the definition, until it goes', async () => {
    await open();
    expect((await call('GET', PAINT)).status).toBe(404);
    const before: ParsedJson = (await call('GET', '/openapi.json')).body;
    expect(Object.keys(before.paths)).not.toContain('/meshes/{mesh}/paintpolicies');
    expect(faults(await define())).toEqual([201]);
    expect((await call('GET', '/meshes/default/paintpolicies')).body).toMatchObject({ total: 0 });
    expect((await put(red)).status).toBe(201);
    expect((await call('GET', PAINT)).body).toMatchObject({
      type: 'PaintPolicy',
      mesh: 'default',
      name: 'p1',
      spec: red,
    });
    expect((await call('GET', '/paintpolicies')).body).toMatchObject({ total: 1, items: [{ name: 'p1' }] });
    expect((await call('GET', `${PAINT}?format=k8s`)).body).toMatchObject({
      apiVersion: 'policies.example.com/v1alpha1',
      kind: 'PaintPolicy',
      metadata: { name: 'p1', namespace: 'default' },
    });
    expect((await call('PATCH', PAINT, { spec: { colour: 'blue' } })).status).toBe(200);
    const document: ParsedJson = (await call('GET', '/openapi.json')).body;
    expect(Object.keys(document.paths)).toContain('/meshes/{mesh}/paintpolicies/{name}');
    const kinds: ParsedJson = (await call('GET', '/_resources')).body;
    expect(kinds.resources.find(({ name }: ParsedJson) => name === 'PaintPolicy')).toMatchObject({
      path: 'paintpolicies',
    });
    expect((await call('GET', '/meshes/default/paintpolicys')).body.detail).toContain('did you mean "paintpolicies"?');
    expect((await call('DELETE', PAINT)).status).toBe(200);
    expect((await call('DELETE', DEFINITION)).status).toBe(200);
    expect((await call('GET', PAINT)).status).toBe(404);
    const after: ParsedJson = (await call('GET', '/openapi.json')).body;
    expect(after).toEqual(before);
  });

  it.each<[string, JsonObject, object]>([
    ['T004-30', { mergeStrategies: undefined }, { class: 'Inherited', mergeStrategies: ['AtomicDefaults'] }],
    [
      'T004-29 and T004-34',
      {
        mergeStrategies: undefined,
        hierarchy: ['Backend'],
        declaredTargets: [{ kind: 'MeshService', facet: 'backend', semantics: 'paints it' }],
        effectiveTarget: { level: 'Backend', semantics: 'is painted' },
      },
      { class: 'Direct', mergeStrategies: ['None'] },
    ],
  ])(
    '%s show the class and the strategies that hold without a choice, and T004-12 their words',
    async (_, change, want) => {
      await open();
      const spec: JsonObject = JSON.parse(JSON.stringify({ ...SPEC, ...change }));
      expect(faults(await define(spec))).toEqual([201]);
      expect((await call('GET', DEFINITION)).body).toMatchObject({ spec, status: want });
    },
  );

  it('are watched, and applied in batches', async () => {
    await open();
    await define();
    const url = `http://127.0.0.1:${await rest.server.listen('127.0.0.1', 0)}/meshes/default/paintpolicies?watch=true`;
    const reader = await EventReader.open(url);
    expect((await reader.take(1)).map(({ event }) => event)).toEqual(['bookmark']);
    const documents = ['a', 'b'].map((name) => ({ type: 'PaintPolicy', mesh: 'default', name, spec: red }));
    const answer = await rest.server.inject({ method: 'POST', url: '/_apply', payload: documents });
    expect(answer.body).toContain('"created":2');
    expect((await reader.take(3)).map(({ event, data }) => [event, data.name])).toEqual([
      ['put', 'a'],
      ['put', 'b'],
      ['bookmark', undefined],
    ]);
    await reader.close();
  });

  it('are deleted only without resources: 409 with their count', async () => {
    await open();
    await define();
    await put(red);
    await put(red, 'p2');
    const refused = await call('DELETE', DEFINITION);
    expect([refused.status, refused.body.detail]).toEqual([
      409,
      expect.stringContaining(
        '2 resources of kind PaintPolicy exist, please delete them to proceed: 2 in mesh default',
      ),
    ]);
    expect((await call('GET', DEFINITION)).status).toBe(200);
  });

  it('do not lose their definition to a resource that is made at the same moment', async () => {
    await open();
    for (let i = 0; i < 10; i++) {
      await define();
      const [made, gone] = await Promise.all([put(red), call('DELETE', DEFINITION)]);
      const left = [...rest.index.ofKind('PaintPolicy')].length;
      // One of the two is refused, whichever came first.
      expect([made.status, gone.status]).toEqual(left === 1 ? [201, 409] : [expect.any(Number), 200]);
      if (left === 1) expect((await call('DELETE', PAINT)).status).toBe(200);
      else expect([404, 409, 422]).toContain(made.status);
    }
  });

  it('keep what no longer fits a changed definition, and say how many', async () => {
    await open();
    await define();
    await put(red);
    const narrow = { ...SPEC, schema: { type: 'object', properties: { colour: { type: 'string', enum: ['blue'] } } } };
    const changed = await define(narrow);
    expect([changed.status, changed.body.warnings]).toEqual([
      200,
      ['1 stored PaintPolicy resources do not fit this definition: they stay, and take effect no more until they fit'],
    ]);
    expect((await call('GET', PAINT)).body.spec).toMatchObject({ colour: 'red' });
    expect(faults(await put(red))).toEqual([422, 'spec.colour']);
  });

  it('are in the built-in roles by the writer of their definition, and end at the namespace of a binding', async () => {
    const access = { verifiers: [plainTokens] };
    await open({ access });
    await define();
    await rest.seed({
      id: { kind: 'RoleBinding', mesh: '', zone: '', namespace: '', name: 'b' },
      spec: { role: 'service-owner', subjects: [{ kind: 'User', name: 'anna' }], namespaces: ['shop'] },
    });
    const as = async (namespace: string): Promise<number> => {
      const body = {
        type: 'PaintPolicy',
        name: 'p1',
        namespace,
        spec: { targetRefs: [{ kind: 'Namespace', name: namespace }], colour: 'red' },
      };
      return (await call('PUT', `${PAINT}?namespace=${namespace}`, body, 'anna:')).status;
    };
    expect([await as('shop'), await as('bank')]).toEqual([201, 403]);
    await define({ ...SPEC, writer: 'operator' });
    expect(await as('shop')).toBe(403);
    expect((await call('PUT', DEFINITION, definitionOf(SPEC), 'anna:')).status).toBe(403);
  });

  it.each<[string, JsonObject, unknown[]]>([
    ['T004-01 without targets', { colour: 'red' }, [422, 'spec.targetRefs']],
    ['T004-01 without a spec proper', { targetRefs }, [422, 'spec']],
    ['T004-04 without a target', { targetRefs: [], colour: 'red' }, [422, 'spec.targetRefs']],
    ['T004-04 with 17', { targetRefs: Array(17).fill(targetRefs[0]), colour: 'red' }, [422, 'spec.targetRefs']],
    [
      'T004-31 with defaults and overrides',
      { targetRefs, defaults: { colour: 'red' }, overrides: { colour: 'red' } },
      [422, expect.stringMatching(/^spec/)],
    ],
    [
      'T004-04 twice',
      { targetRefs: [targetRefs[0] ?? {}, targetRefs[0] ?? {}], colour: 'red' },
      [422, 'spec.targetRefs[1]'],
    ],
    [
      'T004-07 by name and selector',
      { targetRefs: [{ kind: 'HTTPRoute', name: 'a', selector: {} }], colour: 'red' },
      [422, expect.stringMatching(/^spec.targetRefs\[0\]/)],
    ],
    [
      'T004-08 of another namespace',
      { targetRefs: [{ kind: 'HTTPRoute', name: 'a', namespace: 'b' }], colour: 'red' },
      [422, 'spec.targetRefs[0].namespace'],
    ],
    [
      'T004-31 with a strategy that its kind lacks',
      { targetRefs, overrides: { colour: 'red', strategy: 'patch' } },
      [422, expect.stringMatching(/^spec.overrides/)],
    ],
    [
      'with a value that its schema refuses',
      { targetRefs, colour: 'green', shade: 10 },
      [422, 'spec.colour', 'spec.shade'],
    ],
  ])('refuse a policy %s', async (_, spec, want) => {
    await open();
    await define();
    expect(faults(await put(spec))).toEqual(want);
  });

  it('T004-04 store targetRef as targetRefs; T004-05 a kind that only one can be is filled in', async () => {
    await open();
    await define({ ...SPEC, declaredTargets: SPEC.declaredTargets.slice(0, 1) });
    await put({ targetRef: { name: 'default' }, colour: 'red' });
    expect((await call('GET', PAINT)).body.spec).toMatchObject({
      targetRefs: [{ kind: 'Namespace', name: 'default' }],
    });
  });

  it.each<[string, JsonObject, unknown[]]>([
    [
      'T004-03 that defines targetRefs',
      { schema: { type: 'object', properties: { targetRefs: { type: 'string' } } } },
      [422, 'spec.schema.properties.targetRefs'],
    ],
    [
      'T004-12 without words for a target',
      { declaredTargets: [{ kind: 'Namespace' }] },
      [422, 'spec.declaredTargets[0].semantics'],
    ],
    ['T004-15 with a loop', { hierarchy: ['Mesh', 'Namespace', 'Mesh'] }, [422, 'spec.hierarchy[2]']],
    [
      'T004-15 of levels that are none',
      { hierarchy: ['A', 'B', 'A'] },
      [422, 'spec.hierarchy[0]', 'spec.hierarchy[1]', 'spec.hierarchy[2]'],
    ],
    ['T004-28 with an unknown strategy', { mergeStrategies: ['Latest'] }, [422, 'spec.mergeStrategies[0]']],
    [
      'T004-31 of several strategies without AtomicDefaults',
      { mergeStrategies: ['PatchDefaults', 'PatchOverrides'] },
      [422, 'spec.mergeStrategies'],
    ],
    ['T004-34 that asks for Direct with two kinds', { class: 'Direct' }, [422, 'spec.class']],
    ['with a name of ours', { kind: 'HTTPRoute' }, [422, 'spec.kind']],
    ['with a name of Kuma', { kind: 'MeshTimeout' }, [422, 'spec.kind']],
    ['of our group', { group: 'policies.causeway.io' }, [422, 'spec.group']],
    [
      'with a schema that is none',
      { schema: { type: 'object', properties: { a: { type: 'string', pattern: '(' } } } },
      [422, 'spec.schema.properties.a.pattern'],
    ],
  ])('refuse a definition %s', async (_, change, want) => {
    await open();
    expect(faults(await define({ ...SPEC, ...change }))).toEqual(want);
  });

  it.each(['hierarchy', 'declaredTargets', 'effectiveTarget', 'schema'])(
    'T004-12 refuse a definition without %s',
    async (field) => {
      await open();
      const spec = Object.fromEntries(Object.entries(SPEC).filter(([name]) => name !== field));
      expect(faults(await define(spec))).toEqual([422, `spec.${field}`]);
    },
  );
});
