import type { JsonObject } from '@causeway/resources';
import { plainTokens } from '../support/rest-access';
import { restFixture, type FixtureOptions, type ParsedJson, type RestFixture } from './rest-fixture';
import { seedShipped } from './shipped-definitions';

const SECOND = 'ColorPolicy.policies.controller.io';
const NOUN = 'colorpolicies.policies.controller.io';
const PATH = `/meshes/default/${NOUN}`;

const definition = (group: string, kind: string, more: JsonObject = {}): JsonObject => ({
  group,
  kind,
  plural: `${kind.toLowerCase().replace(/y$/, 'ies')}`,
  hierarchy: ['Mesh', 'Namespace', 'Service', 'ServicePort', 'Route', 'Rule'],
  declaredTargets: [{ kind: 'Namespace', semantics: 'all of it' }],
  effectiveTarget: { level: 'Rule', semantics: 'what matches' },
  schema: { type: 'object', properties: { color: { type: 'string' }, colour: { type: 'string' } } },
  ...more,
});
const targetRefs = [{ kind: 'Namespace', name: 'default' }];

describe('kinds by group', () => {
  let rest: RestFixture;
  const open = async (options: FixtureOptions = {}): Promise<void> => {
    rest = await restFixture({ cp: { role: 'global' }, ...options });
    await seedShipped(rest);
  };
  afterEach(() => rest.close());

  const call = async (method: 'GET' | 'PUT' | 'DELETE', url: string, payload?: object, token?: string) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const answer = await rest.server.inject({ method, url, headers, ...(payload && { payload }) });
    const body: ParsedJson = answer.body === '' ? undefined : JSON.parse(answer.body);
    return { status: answer.statusCode, body };
  };
  const define = (name: string, spec: JsonObject, token?: string) =>
    call('PUT', `/metaresourcedefinitions/${name}`, { type: 'MetaresourceDefinition', name, spec }, token);
  const defineSecond = () => define(NOUN, definition('policies.controller.io', 'ColorPolicy'));
  const second = (name = 'c', namespace = 'default'): object => ({
    apiVersion: 'policies.controller.io/v1',
    kind: 'ColorPolicy',
    metadata: { name, namespace },
    spec: { targetRefs: [{ kind: 'Namespace', name: namespace }], color: 'blue' },
  });
  const shipped = (name = 'c'): object => ({
    type: 'ColorPolicy',
    mesh: 'default',
    name,
    spec: { targetRefs: [{ kind: 'MeshService', name: 'a' }], color: 'red' },
  });
  const apply = async (...documents: readonly object[]): Promise<ParsedJson[]> => {
    const { body } = await rest.server.inject({ method: 'POST', url: '/_apply', payload: [...documents] });
    return body
      .split('\n')
      .filter((line) => line !== '')
      .map((line): ParsedJson => JSON.parse(line));
  };

  it.each<[string, string, string, string]>([
    ['kuadrant.io/v1', 'RateLimitPolicy', '/meshes/default/ratelimitpolicies/a', 'policies.causeway.io (v1alpha1)'],
    [
      'policy.linkerd.io/v1beta3',
      'HTTPRoute',
      '/meshes/default/httproutes/a',
      'gateway.networking.k8s.io (v1, v1beta1, v1alpha3, v1alpha2)',
    ],
    ['wrong.example.com/v1', 'MeshService', '/meshes/default/meshservices/a', 'kuma.io (v1alpha1)'],
    ['rbac.authorization.k8s.io/v1', 'Role', '/roles/a', 'kuma.io (v1alpha1)'],
  ])('refuse %s %s, and name the group that is meant', async (apiVersion, kind, url, meant) => {
    await open();
    const document = { apiVersion, kind, metadata: { name: 'a' }, spec: {} };
    const [refused] = await apply(document);
    const put = await call('PUT', url, document);
    for (const violations of [refused.invalid_parameters, put.body.invalid_parameters])
      expect(violations).toMatchObject([
        {
          field: 'apiVersion',
          reason: expect.stringContaining(`must be of ${meant}, as ${kind} is here; got "${apiVersion}"`),
          rule: 'not-one-of',
        },
      ]);
    expect(put.status).toBe(422);
  });

  it('stand side by side, each at its path, and a bare name means the shipped kind', async () => {
    await open();
    await defineSecond();
    expect((await apply(second(), shipped())).map(({ outcome, type }) => [outcome, type])).toEqual([
      ['created', SECOND],
      ['created', 'ColorPolicy'],
      [undefined, undefined],
    ]);
    expect((await call('GET', '/meshes/default/colorpolicies/c')).body).toMatchObject({
      type: 'ColorPolicy',
      kri: 'kri_colp_default___c_',
      spec: { color: 'red' },
    });
    expect((await call('GET', `${PATH}/c`)).body).toMatchObject({
      type: SECOND,
      kri: 'kri_colorpolicy.policies.controller.io_default___c_',
      spec: { color: 'blue' },
    });
    expect((await call('GET', '/colorpolicies')).body).toMatchObject({ total: 1, items: [{ type: 'ColorPolicy' }] });
    expect((await call('GET', `/${NOUN}`)).body).toMatchObject({ total: 1, items: [{ type: SECOND }] });
    const universal = { type: SECOND, name: 'd', spec: { targetRefs, color: 'blue' } };
    expect((await call('PUT', `${PATH}/d`, universal)).status).toBe(201);
    // A document of one is not written over the other.
    expect((await call('PUT', '/meshes/default/colorpolicies/c', second())).body.invalid_parameters[0]).toEqual(
      expect.objectContaining({ field: 'kind', reason: expect.stringContaining(`got "${SECOND}"`) }),
    );
    expect((await call('PUT', `${PATH}/c`, { ...shipped() })).status).toBe(422);
    const document: ParsedJson = (await call('GET', '/openapi.json')).body;
    expect(Object.keys(document.paths)).toEqual(
      expect.arrayContaining([`/meshes/{mesh}/${NOUN}/{name}`, '/meshes/{mesh}/colorpolicies/{name}']),
    );
    const kinds: ParsedJson = (await call('GET', '/_resources')).body;
    expect(kinds.resources.find(({ name }: ParsedJson) => name === SECOND)).toMatchObject({ path: NOUN });
    expect((await call('DELETE', `/metaresourcedefinitions/${NOUN}`)).body.detail).toContain(
      `2 resources of kind ${SECOND} exist`,
    );
  });

  it('a definition stands for the documents behind it in a batch', async () => {
    await open();
    const made = {
      type: 'MetaresourceDefinition',
      name: NOUN,
      spec: definition('policies.controller.io', 'ColorPolicy'),
    };
    expect((await apply(made, second())).map(({ outcome }) => outcome)).toEqual(['created', 'created', undefined]);
    expect((await call('GET', `${PATH}/c`)).status).toBe(200);
  });

  it('two definitions of different groups declare both; the second is called by its group, and stays so', async () => {
    await open();
    const named = (group: string, more?: JsonObject) => define(`p.${group}`, definition(group, 'PaintPolicy', more));
    expect((await named('a.io')).body.warnings ?? []).toEqual([]);
    expect((await named('b.io')).body.warnings).toEqual([expect.stringContaining('paintpolicies.b.io')]);
    expect((await call('GET', '/metaresourcedefinitions/p.b.io')).body.spec.qualified).toBe(true);
    const paint = (group: string): object => ({
      apiVersion: `${group}/v1beta1`,
      kind: 'PaintPolicy',
      metadata: { name: 'p' },
      spec: { targetRefs, colour: group },
    });
    await apply(paint('a.io'), paint('b.io'));
    expect((await call('GET', '/meshes/default/paintpolicies/p')).body.spec.colour).toBe('a.io');
    expect((await call('GET', '/meshes/default/paintpolicies.b.io/p')).body.spec.colour).toBe('b.io');
    for (const url of ['/meshes/default/paintpolicies/p', '/metaresourcedefinitions/p.a.io'])
      expect([(await call('DELETE', url)).status, (await call('GET', url)).status]).toEqual([200, 404]);
    expect((await call('GET', '/meshes/default/paintpolicies.b.io/p')).body.spec.colour).toBe('b.io');
    expect((await named('b.io', { description: 'without the field' })).status).toBe(200);
    expect((await call('GET', '/meshes/default/paintpolicies.b.io/p')).status).toBe(200);
    expect((await named('b.io', { qualified: false })).body.invalid_parameters).toEqual([
      expect.objectContaining({ field: 'spec.qualified' }),
    ]);
    expect((await named('c.io')).body.warnings ?? []).toEqual([]);
    expect((await named('c.io', { qualified: true })).body.invalid_parameters).toEqual([
      expect.objectContaining({ field: 'spec.qualified' }),
    ]);
  });

  it('a name and group that no peer could be sent is refused', async () => {
    await open();
    const group = `${'a'.repeat(60)}.${'b'.repeat(40)}.io`;
    expect((await define('long', definition(group, 'ColorPolicy'))).body.invalid_parameters).toEqual([
      expect.objectContaining({ field: 'spec.group', rule: 'too-long' }),
    ]);
  });

  it('are granted apart: a bare name in a Role means the shipped kind', async () => {
    const access = { bindAddress: '127.0.0.1', localhostIsAdmin: true, verifiers: [plainTokens] };
    await open({ access });
    await defineSecond();
    const role = (name: string, kinds: readonly string[]) => ({
      id: { kind: 'Role', mesh: '', zone: '', namespace: '', name },
      spec: { rules: [{ verbs: ['*'], kinds: [...kinds] }] },
    });
    const binding = (name: string, roleName: string, kinds?: string[]) => ({
      id: { kind: 'RoleBinding', mesh: '', zone: '', namespace: '', name },
      spec: { role: roleName, subjects: [{ kind: 'User', name }], ...(kinds && { kinds }) },
    });
    await rest.seed(
      role('bare', ['ColorPolicy']),
      role('noun', [NOUN]),
      role('name', [SECOND]),
      binding('old', 'bare'),
      binding('noun', 'noun'),
      binding('name', 'name'),
      binding('owner', 'service-owner'),
      binding('narrow', 'service-owner', [NOUN]),
    );
    const may = async (user: string): Promise<number[]> => {
      const one = await call('PUT', `${PATH}/${user}`, second(user), `${user}:`);
      const other = await call('PUT', `/meshes/default/colorpolicies/${user}`, shipped(user), `${user}:`);
      return [one.status, other.status];
    };
    expect(await may('old')).toEqual([403, 201]);
    expect(await may('noun')).toEqual([201, 403]);
    expect(await may('name')).toEqual([201, 403]);
    expect(await may('owner')).toEqual([201, 201]);
    expect(await may('narrow')).toEqual([201, 403]);
    const review = await call('GET', `/_access?user=noun&verb=create&kind=${NOUN}`);
    expect(review.body).toMatchObject({ allowed: true });
  });
});
