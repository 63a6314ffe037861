import { ANA, Bakery } from './policies-fixture';
import type { ParsedJson } from './rest-fixture';

const levels = (item: ParsedJson): readonly string[] =>
  item.path.map(({ level, name, section }: ParsedJson) => [level, name, section].filter(Boolean).join(' '));
const RETRIES = 'retrypolicies/retries';
const ns = (query = ''): string => `?namespace=baker${query}`;

describe('what policies affect', () => {
  let bakery: Bakery;
  beforeEach(async () => {
    bakery = await Bakery.open();
    await bakery.policy('RetryPolicy', 'retries', { attempts: 4, on: ['5xx'] });
  });
  afterEach(() => bakery.close());

  it('T004-41 an owner without rights on the policy sees it, its fields and whose they are, not the policy itself', async () => {
    expect((await bakery.get(`${RETRIES}${ns()}`, ANA))[0]).toBe(403);
    expect((await bakery.get(`${RETRIES}/_scopes${ns()}`, ANA))[0]).toBe(403);
    expect((await bakery.get(`${RETRIES}/_impact${ns('&op=delete')}`, ANA))[0]).toBe(403);
    const [status, said] = await bakery.get(`meshservices/baker/_policies${ns()}`, ANA);
    const policy = {
      group: 'policies.causeway.io',
      kind: 'RetryPolicy',
      mesh: 'default',
      zone: 'east',
      namespace: 'baker',
      name: 'retries',
    };
    expect([status, said.total, said.next]).toEqual([200, 3, null]);
    for (const item of said.items) {
      expect(item).toMatchObject({ kind: 'RetryPolicy', effective: { attempts: 4, on: ['5xx'] } });
      expect(item.fields).toEqual([
        { field: '/attempts', policy, strategy: 'AtomicDefaults' },
        { field: '/on', policy, strategy: 'AtomicDefaults' },
      ]);
      expect(item.policies).toMatchObject([{ policy, state: 'Enforced', superseded: [] }]);
    }
    expect(JSON.stringify(said)).not.toContain('targetRefs');
  });

  it('T004-41 another namespace is not hers to ask about', async () => {
    expect((await bakery.get('meshservices/baker/_policies?namespace=other', ANA))[0]).toBe(403);
    expect((await bakery.get('topology', ANA))[0]).toBe(403);
  });

  it('T004-40, T004-43 is said for each rule and port, of services, routes, namespaces and meshes', async () => {
    await bakery.policy(
      'RetryPolicy',
      'cakes',
      { attempts: 2 },
      { on: { kind: 'HTTPRoute', name: 'baker', sectionName: 'cakes' } },
    );
    const [, service] = await bakery.get(`meshservices/baker/_policies${ns('&kind=RetryPolicy')}`);
    expect(service.items.map((item: ParsedJson) => [levels(item).slice(2).join(' > '), item.effective])).toEqual([
      ['Service baker > ServicePort baker 80 > Route baker > Rule baker cakes', { attempts: 2 }],
      ['Service baker > ServicePort baker 80 > Route baker > Rule baker rest', { attempts: 4, on: ['5xx'] }],
      ['Service baker > ServicePort baker 81 > Route > Rule', { attempts: 4, on: ['5xx'] }],
    ]);
    const [, route] = await bakery.get(`httproutes/baker/_policies${ns()}`, ANA);
    expect(route.items.map(levels).map((path: readonly string[]) => path.at(-1))).toEqual([
      'Rule baker cakes',
      'Rule baker rest',
    ]);
    const [, namespace] = await bakery.get('/namespaces/baker/_policies', ANA);
    const [, mesh] = await bakery.get('/meshes/default/_policies');
    expect([namespace.total, mesh.total]).toEqual([5, 5]);
    expect((await bakery.get(`meshservices/baker/_policies${ns('&kind=TimeoutPolicy')}`))[1].total).toBe(0);
    expect((await bakery.get(`meshservices/baker/_policies${ns('&kind=NoPolicy')}`))[0]).toBe(400);
    expect((await bakery.get(`meshservices/none/_policies${ns()}`))[0]).toBe(404);
  });

  it('T004-40 an external service has the policies of what goes out to it', async () => {
    await bakery.rest.seed({
      id: { kind: 'MeshExternalService', mesh: 'default', zone: '', namespace: '', name: 'mill' },
      spec: {
        match: { type: 'HostnameGenerator', port: 443, protocol: 'tcp' },
        endpoints: [{ address: 'mill.example.com', port: 443 }],
      },
    });
    const on = { kind: 'MeshExternalService', name: 'mill' };
    await bakery.policy('CircuitBreakerPolicy', 'limits', { limits: { requests: 7 } }, { namespace: 'default', on });
    const [status, said] = await bakery.get('meshexternalservices/mill/_policies?zone=');
    expect([status, said.total]).toEqual([200, 1]);
    expect(said.items[0]).toMatchObject({ effective: { limits: { requests: 7 } }, policies: [{ state: 'Enforced' }] });
    expect(levels(said.items[0]).slice(-1)).toEqual(['BackendPort mill 443']);
  });

  it('T004-43 an explanation of a request has the policies of its rule and of each backend, field by field', async () => {
    await bakery.policy(
      'RetryPolicy',
      'cakes',
      { attempts: 2, strategy: 'patch' },
      { on: { kind: 'HTTPRoute', name: 'baker', sectionName: 'cakes' } },
    );
    await bakery.policy(
      'CircuitBreakerPolicy',
      'limits',
      { limits: { requests: 7 } },
      { on: { kind: 'MeshService', name: 'oven' } },
    );
    const ask = async (url: string): Promise<ParsedJson> =>
      (
        await bakery.post('_explain', {
          from: { namespace: 'baker' },
          to: url,
          service: { namespace: 'baker', name: 'baker' },
        })
      )[1];
    const retries = (policy: string, effective: object) => ({
      kind: 'RetryPolicy',
      effective,
      fields: Object.keys(effective).map((name) => ({ field: `/${name}`, policy, strategy: 'AtomicDefaults' })),
    });
    const breaker = {
      kind: 'CircuitBreakerPolicy',
      effective: { limits: { requests: 7 } },
      backend: { service: { kind: 'MeshService', zone: 'east', namespace: 'baker', name: 'oven' }, port: 80 },
      fields: [{ field: '/limits/requests', policy: 'baker/limits', strategy: 'AtomicDefaults' }],
    };
    const cakes = { ...retries('baker/cakes', { attempts: 2 }) };
    const patched = { ...cakes, fields: cakes.fields.map((field) => ({ ...field, strategy: 'PatchDefaults' })) };
    expect((await ask('http://baker/cakes')).policies).toEqual([breaker, patched]);
    expect((await ask('http://baker/')).policies).toEqual([retries('baker/retries', { attempts: 4, on: ['5xx'] })]);
    expect((await ask('http://baker:81/')).policies).toEqual([retries('baker/retries', { attempts: 4, on: ['5xx'] })]);
  });

  it('T004-59 the effective spec is given as text too, where that is asked for', async () => {
    const [, said] = await bakery.get(`httproutes/baker/_policies${ns('&representation=string')}`, ANA);
    for (const item of said.items) expect(JSON.parse(item.representation)).toEqual(item.effective);
    const [, plain] = await bakery.get(`httproutes/baker/_policies${ns()}`, ANA);
    expect(plain.items[0]).not.toHaveProperty('representation');
    expect((await bakery.get(`httproutes/baker/_policies${ns('&representation=yaml')}`))[0]).toBe(400);
  });

  it('T004-14, T004-42 a policy says what it names, how many paths it counts on, and what survives there', async () => {
    await bakery.policy('RetryPolicy', 'whole', { attempts: 2 }, { on: { kind: 'HTTPRoute', name: 'baker' } });
    const [, said] = await bakery.get(`${RETRIES}/_scopes${ns()}`);
    expect(said).toMatchObject({
      count: 5,
      total: 5,
      policy: { kind: 'RetryPolicy', name: 'retries' },
      declared: [{ kind: 'Namespace', foundTotal: 1, found: [{ level: 'Namespace', name: 'baker' }] }],
    });
    const beaten = said.items.filter(({ state }: ParsedJson) => state === 'Overridden');
    expect(beaten).toHaveLength(2);
    expect(beaten[0]).toMatchObject({
      enforced: [],
      superseded: ['/attempts', '/on'],
      effective: { attempts: 2 },
      others: [{ policy: { name: 'whole' }, state: 'Enforced', strategy: 'AtomicDefaults' }],
    });
    const [, second] = await bakery.get(`${RETRIES}/_scopes${ns('&size=2&offset=4')}`);
    expect([second.items.length, second.total, second.next]).toEqual([1, 5, null]);
    const [, first] = await bakery.get(`${RETRIES}/_scopes${ns('&size=2')}`);
    expect(first.next).toContain('offset=2');
    expect((await bakery.get(`meshservices/baker/_scopes${ns()}`))[0]).toBe(400);
  });

  it('T004-14 a policy that names what is not there counts nowhere, and says so', async () => {
    await bakery.policy('RetryPolicy', 'lost', { attempts: 2 }, { on: { kind: 'HTTPRoute', name: 'gone' } });
    const [, said] = await bakery.get(`retrypolicies/lost/_scopes${ns()}`);
    expect(said).toMatchObject({
      count: 0,
      items: [],
      declared: [{ name: 'gone', reason: 'TargetNotFound', found: [] }],
    });
  });

  it('T004-42 deleting a policy of a Namespace is shown with each path before and after, and deletes nothing', async () => {
    const [, said] = await bakery.get(`${RETRIES}/_impact${ns('&op=delete')}`);
    expect(said).toMatchObject({ operation: 'delete', total: 5, policy: { name: 'retries' } });
    for (const item of said.items) {
      expect(item.before.effective).toEqual({ attempts: 4, on: ['5xx'] });
      expect(item).not.toHaveProperty('after');
    }
    expect((await bakery.get(`${RETRIES}${ns()}`))[0]).toBe(200);
    expect((await bakery.get(`${RETRIES}/_impact${ns()}`))[0]).toBe(400);
  });

  it('T004-42 a candidate is judged as a write is, and its changes are shown', async () => {
    const candidate = bakery.document('RetryPolicy', 'retries', { attempts: 1 });
    const [status, said] = await bakery.post(`${RETRIES}/_impact${ns()}`, candidate);
    expect([status, said.operation, said.total]).toEqual([200, 'update', 5]);
    expect(said.items[0]).toMatchObject({
      before: { effective: { attempts: 4 } },
      after: { effective: { attempts: 1 } },
    });
    const other = bakery.document(
      'RetryPolicy',
      'other',
      { attempts: 1 },
      { on: { kind: 'MeshService', name: 'oven' } },
    );
    const [, created] = await bakery.post(`retrypolicies/other/_impact${ns()}`, other);
    expect(created).toMatchObject({ operation: 'create', total: 1 });
    expect((await bakery.get(`retrypolicies/other${ns()}`))[0]).toBe(404);
    const wrong = bakery.document('RetryPolicy', 'retries', { attempts: 99 });
    expect((await bakery.post(`${RETRIES}/_impact${ns()}`, wrong))[0]).toBe(422);
    expect((await bakery.post(`${RETRIES}/_impact${ns()}`, candidate, ANA))[0]).toBe(403);
    expect((await bakery.post(`meshservices/baker/_impact${ns()}`, candidate))[0]).toBe(404);
  });

  it('T004-11, T004-40 a virtual object has the policies that name it', async () => {
    const semantics = 'opens what stands outside';
    await bakery.rest.seed({
      id: { kind: 'MetaresourceDefinition', mesh: '', zone: '', namespace: '', name: 'doors' },
      spec: {
        group: 'policies.example.com',
        kind: 'DoorPolicy',
        plural: 'doorpolicies',
        hierarchy: 'mesh',
        declaredTargets: [{ kind: 'Namespace', semantics }],
        effectiveTarget: { level: 'Rule', semantics },
        virtualTargets: [{ group: 'networking.example.com', kind: 'ExternalService', semantics }],
        schema: { type: 'object', properties: { open: { type: 'boolean' } } },
      },
    });
    const on = { group: 'networking.example.com', kind: 'ExternalService', name: 'foo.com' };
    await bakery.policy('DoorPolicy', 'front', { open: true }, { on });
    const path = '_virtual/networking.example.com/ExternalService/foo.com/_policies';
    const [status, said] = await bakery.get(`${path}${ns()}`, ANA);
    expect([status, said.total]).toEqual([200, 1]);
    expect(said.items[0]).toMatchObject({ effective: { open: true }, path: [{ level: 'Virtual', name: 'foo.com' }] });
    expect((await bakery.get(`${path}?namespace=other`, ANA))[0]).toBe(403);
  });

  it('T004-39 the graph is shown as JSON and in DOT, around a resource too', async () => {
    const [, graph] = await bakery.get('topology');
    expect(graph.truncated).toBe(false);
    const named = (level: string) =>
      graph.nodes.filter((node: ParsedJson) => node.level === level).map(({ name }: ParsedJson) => name);
    expect(named('Service').sort()).toEqual(['baker', 'oven', 'shop']);
    const space = graph.nodes.find((node: ParsedJson) => node.level === 'Namespace' && node.name === 'baker');
    expect(space.policies).toMatchObject([{ kind: 'RetryPolicy', name: 'retries' }]);
    const [, part] = await bakery.get('topology?root=httproute/baker/baker');
    const services = part.nodes
      .filter(({ level }: ParsedJson) => level === 'Service')
      .map(({ name }: ParsedJson) => name);
    expect(services).toEqual(['baker']);
    const [status, dot] = await bakery.get('topology?format=dot');
    expect([status, dot]).toEqual([200, expect.stringMatching(/^digraph "default" \{[^]*n0 -> n1;/)]);
    expect(dot).toContain('RetryPolicy baker/retries');
    expect((await bakery.get('topology?root=httproute'))[0]).toBe(400);
    expect((await bakery.get('topology?root=httproute/baker/none'))[0]).toBe(404);
    expect((await bakery.get('topology?format=png'))[0]).toBe(400);
  });
});
