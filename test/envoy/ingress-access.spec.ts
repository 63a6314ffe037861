import type { JsonObject, Resource } from '@causeway/resources';
import { loopbackBlock } from '../support/loopback-networks';
import { ask, echo, httpService, say, type ServiceProcess } from '../support/mesh-processes';
import { PROXY_KINDS, putAll, TrafficPlane } from '../support/traffic-plane';
import { shippedKinds, sketch } from '../support/traffic-zone';
import { until } from '../support/until';

const host = loopbackBlock();
const SERVED = { zone: 'west', namespace: 'shop' };
const [TCP, HTTP] = [6379, 8080];
/** Callers: their zone, and the service and namespace of their instances. */
const CALLERS = { client: { zone: 'east', namespace: 'shop' }, dev: { zone: 'north', namespace: 'dev' } } as const;
type Caller = keyof typeof CALLERS;
const from = (...callers: readonly JsonObject[]): JsonObject => ({ allow: { some: { from: [...callers] } } });

/** Callers of two zones, each behind its proxy, a server of zone west behind its own, and between them the ingress of west. */
describe.each(PROXY_KINDS)('AccessPolicy on calls from other zones, through the ingress, by %s,', (kind) => {
  const block = kind === 'envoy' ? 10 : 40;
  const at = (n: number): string => host(block + n);
  const INGRESS = { address: at(0), port: 10001 };
  const redisOf: Readonly<Record<Caller, string>> = { client: at(1), dev: at(2) };
  const webOf: Readonly<Record<Caller, string>> = { client: at(3), dev: at(4) };
  const names = ['client', 'dev'] as const;
  const planes = new Map<string, TrafficPlane>();
  const processes: ServiceProcess[] = [];
  let order = 0;

  const plane = (zone: string): TrafficPlane => {
    const found = planes.get(zone);
    if (!found) throw new Error(`no zone ${zone}`);
    return found;
  };
  const settled = (): Promise<boolean> => until('the server has all', () => plane('west').isSettled('server'));
  const policy = (target: string, spec: JsonObject): Resource => {
    order += 1;
    const given = { zone: '', namespace: 'shop', creationOrder: order };
    const targetRefs = [{ kind: 'MeshService', name: target }];
    return { ...sketch('AccessPolicy', target, { targetRefs, ...spec }, given), generation: order };
  };
  const service = (name: string, port: number, appProtocol: string, vip: string): Resource => {
    const identities = [{ type: 'SpiffeID', value: plane('west').spiffeId('server') }];
    const spec = { selector: { dataplaneTags: { app: name } }, ports: [{ port, appProtocol }], identities };
    return sketch('MeshService', name, spec, { ...SERVED, status: { vip: { ip: vip } } });
  };
  /** Returns the answer of web; after a change of rules closed a kept connection, the first request may fail. */
  const judged = (name: (typeof names)[number], path: string, method: string) =>
    until(`an answer for ${name}`, async () => {
      const answer = await ask(webOf[name], HTTP, path, { 'method:': method });
      return answer.status === 503 ? undefined : answer;
    });
  /** Returns the callers that redis answers, and the answer of web to each. */
  const outcome = async (path = '/', method = 'GET') => {
    const answers = await Promise.all(names.map((name) => say(redisOf[name], TCP)));
    const web = await Promise.all(names.map((name) => judged(name, path, method)));
    return { redis: names.filter((_, i) => answers[i] === 'redis:hello'), web: web.map(({ status }) => status) };
  };

  beforeAll(async () => {
    for (const zone of ['west', 'east', 'north']) planes.set(zone, await TrafficPlane.start(zone));
    const all = [...planes.values()];
    const [redis, web] = [await echo('redis'), await httpService('web')];
    processes.push(redis, web);
    const parametersRef = { group: 'causeway.io', kind: 'MeshParameters', name: 'p' };
    putAll(
      all,
      ...shippedKinds(),
      sketch('Mesh', 'default', { parametersRef }),
      sketch('MeshParameters', 'p', { defaultAccess: 'Deny' }),
      ...['shop', 'dev'].map((namespace) => sketch('Namespace', namespace, {})),
      ...all.map((each) => each.trust('')),
      sketch('MeshZoneAddress', 'in', { ...INGRESS }, { zone: 'west' }),
      ...names.map((name) => {
        const identities = [{ type: 'SpiffeID', value: plane(CALLERS[name].zone).spiffeId(name) }];
        const selector = { dataplaneTags: { app: name } };
        return sketch('MeshService', name, { selector, ports: [{ port: 80 }], identities }, CALLERS[name]);
      }),
    );
    // An address of their own for the proxies of each zone: all are on this machine.
    for (const name of names)
      plane(CALLERS[name].zone).state.put(
        service('redis', TCP, 'tcp', redisOf[name]),
        service('web', HTTP, 'http', webOf[name]),
      );
    const inbound = [
      { port: TCP, servicePort: redis.port, tags: { app: 'redis' } },
      { port: HTTP, servicePort: web.port, tags: { app: 'web' }, protocol: 'http' },
    ];
    const server = sketch('Dataplane', 'server', { networking: { address: at(5), inbound } }, SERVED);
    plane('west').state.put(service('redis', TCP, 'tcp', at(6)), service('web', HTTP, 'http', at(7)), server);
    const view = { mesh: 'default', listed: new Set<string>() };
    await plane('west').proxy(kind, 'ingress', { ...view, ingress: INGRESS });
    await plane('west').proxy(kind, 'server', { ...view, dataplane: server.id }, 'server');
    for (const name of names) {
      const client = { mesh: 'default', listed: 'all', capture: { type: 'bind' } } as const;
      await plane(CALLERS[name].zone).proxy(kind, name, client, name);
      await until(`${name} has all`, () => plane(CALLERS[name].zone).isSettled(name));
    }
    await settled();
    await until('the ingress has all', () => plane('west').isSettled('ingress'));
  });
  afterAll(async () => {
    await Promise.all([...planes.values()].map((each) => each.stop()));
    await Promise.all(processes.map((one) => one.stop()));
  });
  afterEach(() => expect([...planes.values()].flatMap((each) => each.problems())).toEqual([]));

  const isEnvoy = kind === 'envoy';
  /** The answer of web to a refused caller: the builtin proxy sees no requests, and closes the connection. */
  const REFUSED = isEnvoy ? 403 : 0;

  it.each<[string, () => JsonObject, readonly Caller[]]>([
    ['nobody, where no policy says who may', () => ({ allow: {} }), []],
    ['one by its id', () => from({ spiffeId: { type: 'Exact', value: plane('east').spiffeId('client') } }), ['client']],
    ['those of a namespace', () => from({ namespace: 'dev' }), ['dev']],
    ['the instances of a service', () => from({ service: { namespace: 'shop', name: 'client' } }), ['client']],
    ['those of a zone', () => from({ zone: 'north' }), ['dev']],
    [
      'all but those of a zone',
      () => ({ allow: { all: {} }, deny: { one: { from: [{ zone: 'north' }] } } }),
      ['client'],
    ],
    ['anybody with an identity', () => ({ allow: { all: {} } }), ['client', 'dev']],
  ])('may call: %s', async (_, specOf, allowed) => {
    const made = [policy('redis', specOf()), policy('web', specOf())];
    putAll([...planes.values()], ...made);
    await settled();
    const web = names.map((name) => (allowed.includes(name) ? 200 : REFUSED));
    // The connections between the proxies that were open before end within a second.
    await until('the outcome', async () => JSON.stringify(await outcome()) === JSON.stringify({ redis: allowed, web }));
    for (const each of planes.values()) for (const one of made) each.state.delete(one);
    await settled();
  });

  it('requests by method and path', async () => {
    const to = [{ methods: ['GET'], paths: [{ type: 'PathPrefix', value: '/api' }] }];
    putAll([...planes.values()], policy('web', { allow: { reads: { from: [{ zone: 'east' }], to } } }));
    await settled();
    const found = [];
    for (const [path, method] of [
      ['/api/x', 'GET'],
      ['/apis', 'GET'],
      ['/api/x', 'POST'],
    ] as const)
      found.push((await outcome(path, method)).web);
    expect(found).toEqual([
      [isEnvoy ? 200 : 0, REFUSED],
      [REFUSED, REFUSED],
      [REFUSED, REFUSED],
    ]);
  });
});
