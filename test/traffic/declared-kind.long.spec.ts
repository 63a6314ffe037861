import type { ProcessPlane } from '../support/process-plane';
import { until } from '../support/until';
import { AgentMesh } from './agent-mesh';
import type { At } from './calls';
import { ReadLoad } from './read-load';
import { RequestLoad } from './request-load';
import { adminFetch } from '../support/admin-credential';

const DEFINITION = '/metaresourcedefinitions/paintpolicies.policies.example.com';
const LIST = '/meshes/default/paintpolicies';

/** Parameters of a round: the version of the kind, the specs of its policies, and the process that is killed meanwhile. */
interface Round {
  readonly differs: object;
  readonly intent: object;
  readonly target: object;
  readonly killed?: 'east' | 'global';
}

const ONE_KIND = {
  group: 'policies.example.com',
  kind: 'PaintPolicy',
  plural: 'paintpolicies',
  hierarchy: 'mesh',
  declaredTargets: [{ kind: 'Namespace', semantics: 'paints the requests to services of the namespace' }],
  effectiveTarget: { level: 'Rule', semantics: 'paints the requests that match the rule' },
};
const text = { type: 'object', properties: { colour: { type: 'string', enum: ['red', 'blue'] } } };
const NAMESPACE = { kind: 'Namespace', name: 'default' };
const BACKEND = {
  hierarchy: ['Mesh', 'Namespace', 'Backend', 'BackendPort'],
  effectiveTarget: { level: 'BackendPort', semantics: 'paints what the port answers' },
};

const ROUNDS: readonly (readonly [string, Round])[] = [
  ['of requests, with a text', { differs: { schema: text }, intent: { colour: 'red' }, target: NAMESPACE }],
  [
    'of services, with a number, while the control plane of a zone is killed',
    {
      differs: { ...BACKEND, schema: { type: 'object', properties: { shade: { type: 'integer', maximum: 9 } } } },
      intent: { shade: 7 },
      target: NAMESPACE,
      killed: 'east',
    },
  ],
  [
    'of the whole mesh, with maps, while the global is killed',
    {
      differs: {
        declaredTargets: [{ kind: 'Mesh', semantics: 'paints all requests' }],
        mergeStrategies: ['AtomicDefaults', 'PatchDefaults'],
        schema: {
          type: 'object',
          properties: { layers: { type: 'object', additionalProperties: { type: 'string' } } },
        },
      },
      intent: { layers: { first: 'white' } },
      target: { kind: 'Mesh', name: 'default' },
      killed: 'global',
    },
  ],
  ['that is the first one again', { differs: { schema: text }, intent: { colour: 'blue' }, target: NAMESPACE }],
];

describe('a kind that is declared, used, explained and deleted under load', () => {
  let mesh: AgentMesh;
  let vip: At;
  let requests: RequestLoad;
  const reads = new ReadLoad();
  const planes = (): readonly ProcessPlane[] => [
    mesh.traffic.mesh.global,
    mesh.traffic.zone('east'),
    mesh.traffic.zone('west'),
  ];

  beforeAll(async () => {
    mesh = await AgentMesh.start();
    await Promise.all([mesh.client('west'), mesh.instance('east', 'web', 'web-1')]);
    vip = await mesh.traffic.vip('west', 'web', 'east');
    const first = new RequestLoad(vip, { rate: 20, fresh: 20, mostOpen: 20 });
    await until('an answer', () => first.outcome.times.length > 0);
    await first.stop();
    requests = new RequestLoad(vip, { rate: 40, fresh: 10, mostOpen: 40 });
    for (const plane of planes()) reads.join(plane);
  });
  afterAll(async () => {
    await Promise.all([requests?.stop(), reads.stop()]);
    await mesh?.stop();
  });

  /** Waits until the load has been served since now, by the proxies and by each control plane that is read; nothing failed. */
  async function isServed(): Promise<void> {
    const [answers, read] = [requests.outcome.requests + 20, reads.fewest + 5];
    await until('requests are served', () => requests.outcome.times.length >= answers);
    await until('reads are served', () => reads.fewest >= read);
    expect([requests.outcome.failures, reads.failures]).toEqual([[], []]);
  }

  /** Undefined where the control plane has no such path. */
  const listed = async (plane: ProcessPlane): Promise<string | undefined> => {
    const items = (await plane.get(LIST))?.['items'] as readonly { readonly name: string }[] | undefined;
    return items
      ?.map(({ name }) => name)
      .sort()
      .join(' and ');
  };
  const areListed = (plane: ProcessPlane, names: string | undefined): Promise<unknown> =>
    until(`${plane.name} lists: ${names}`, async () => (await listed(plane)) === names);

  async function remove(plane: ProcessPlane, path: string): Promise<readonly [number, string]> {
    const answer = await adminFetch(plane.restUrl + path, { method: 'DELETE' });
    return [answer.status, await answer.text()];
  }

  /** Kills a control plane, and starts it again when the others were seen to go on without it. */
  async function kill(name: 'east' | 'global'): Promise<void> {
    await reads.leave(name);
    if (name === 'east') await mesh.traffic.crash(name);
    else await mesh.traffic.mesh.global.kill();
    await isServed();
    reads.join(await (name === 'east' ? mesh.traffic.recover(name) : mesh.traffic.mesh.startGlobal()));
  }

  /** Expects west's explanation of the policy `of-all`, which counts for the service of east as west sees it. */
  async function expectExplained(intent: object): Promise<void> {
    const west = mesh.traffic.zone('west');
    const isOurs = { kind: 'PaintPolicy', effective: intent };
    const policies = await until('it takes effect', async () => {
      const found = await west.get('/meshes/default/meshservices/web/_policies?zone=east&kind=PaintPolicy');
      return Number(found?.['total']) > 0 && found;
    });
    expect(policies['items']).toContainEqual(expect.objectContaining(isOurs));
    expect(Number((await west.get(`${LIST}/of-all/_scopes?zone=`))?.['total'])).toBeGreaterThan(0);
    const question = { to: `http://${vip.address}:${vip.port}/` };
    const explained: unknown = JSON.parse(await west.text('/meshes/default/_explain', question));
    expect(explained).toMatchObject({ policies: [isOurs] });
  }

  it.each(ROUNDS)('%s: no request fails', async (_, { differs, intent, target, killed }) => {
    const document = (type: string, name: string, spec: object): object => ({ type, name, spec });
    const policy = (name: string): object => document('PaintPolicy', name, { targetRefs: [target], ...intent });
    const [global, east, west] = planes();
    if (!global || !east || !west) throw new Error('not started');
    await isServed();
    const definition = document('MetaresourceDefinition', 'paintpolicies.policies.example.com', {
      ...ONE_KIND,
      ...differs,
    });
    expect(await global.put(DEFINITION, definition)).toBe(201);
    for (const plane of planes()) await areListed(plane, '');

    expect(await global.put(`${LIST}/of-all`, policy('of-all'))).toBe(201);
    for (const plane of planes()) await areListed(plane, 'of-all');
    expect(await east.put(`${LIST}/own`, policy('own'))).toBe(201);
    await areListed(global, 'of-all and own');
    await expectExplained(intent);
    await isServed();

    if (killed) await kill(killed);
    for (const plane of planes()) await areListed(plane, plane.name === 'west' ? 'of-all' : 'of-all and own');
    await expectExplained(intent);
    const [status, refusal] = await remove(mesh.traffic.mesh.global, DEFINITION);
    expect([status, refusal]).toEqual([409, expect.stringContaining('2 resources of kind PaintPolicy exist')]);
    await isServed();

    expect((await remove(mesh.traffic.mesh.global, `${LIST}/of-all`))[0]).toBe(200);
    expect((await remove(mesh.traffic.zone('east'), `${LIST}/own`))[0]).toBe(200);
    for (const plane of planes()) await areListed(plane, '');
    expect((await remove(mesh.traffic.mesh.global, DEFINITION))[0]).toBe(200);
    for (const plane of planes()) await areListed(plane, undefined);
    await isServed();
  });
});
