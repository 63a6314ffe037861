import { createServer, get, Agent, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { runAsAdmin } from '../ctl/run-causeway';
import { ENVOY } from '../support/envoy-process';
import { drawnFairly } from '../support/fair-draw';
import { until } from '../support/until';
import type { At } from './calls';
import { TrafficMesh } from './traffic-mesh';

const DRAWS = 1_000;
const AT_ONCE = 20;
const PORT = 6379;

/** The example of GEP-1426: its document with a kind, `rules` as a list, and the group of the parent. */
const ROUTE = `apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: foo-route
  namespace: store
spec:
  parentRefs:
  - group: ""
    kind: Service
    name: foo
  rules:
  - backendRefs:
    - kind: Service
      name: foo
      port: ${PORT}
      weight: 90
    - kind: Service
      name: foo-v2
      port: ${PORT}
      weight: 10
`;

(ENVOY === undefined ? describe.skip : describe)('a route of the global, over two zones with real Envoys,', () => {
  const servers: Server[] = [];
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  let traffic: TrafficMesh;
  const vips = new Map<string, At>();

  /** An instance of a service of namespace `store`: an HTTP process that says the service's name, its Dataplane and its Envoy. */
  async function instance(zone: string, service: string): Promise<void> {
    const server = createServer((_, answer) => answer.end(service));
    server.keepAliveTimeout = 60_000;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    servers.push(server);
    const tags = { 'kuma.io/service': service, 'kuma.io/protocol': 'http' };
    const inbound = [{ port: PORT, servicePort: (server.address() as AddressInfo).port, tags }];
    const networking = { address: traffic.machine(), inbound };
    const name = `${service}-1`;
    const body = { type: 'Dataplane', mesh: 'default', name, namespace: 'store', spec: { networking } };
    expect(await traffic.zone(zone).put(`/meshes/default/dataplanes/${name}?namespace=store`, body)).toBe(201);
    await traffic.proxy(zone, `${name}.store`);
  }

  const ask = ({ address, port }: At): Promise<string> =>
    new Promise((resolve) => {
      const sent = get({ host: address, port, path: '/', agent, timeout: 20_000 }, (answer) => {
        let text = '';
        answer.on('data', (part: Buffer) => (text += part.toString()));
        answer.on('end', () => resolve(answer.statusCode === 200 ? text : String(answer.statusCode)));
      });
      sent.on('error', () => resolve('')).on('timeout', () => sent.destroy());
    });

  async function draw(at: At): Promise<readonly string[]> {
    const answers: string[] = [];
    while (answers.length < DRAWS) answers.push(...(await Promise.all(Array.from({ length: AT_ONCE }, () => ask(at)))));
    return answers;
  }

  beforeAll(async () => {
    traffic = await TrafficMesh.start();
    await Promise.all([instance('east', 'foo'), instance('west', 'foo-v2')]);
    for (const zone of ['east', 'west']) {
      await traffic.client(zone);
      const path = zone === 'east' ? 'meshservices/foo?namespace=store' : 'meshservices/foo?namespace=store&zone=east';
      vips.set(zone, await traffic.vipOf(zone, path));
    }
  });
  afterAll(async () => {
    agent.destroy();
    await traffic?.stop();
    for (const server of servers) server.close();
  });

  it('the 90/10 of the seed (T002-08): what is applied is obeyed in both zones, exactly', async () => {
    for (const [zone, at] of vips) await until(`foo answers in ${zone}`, async () => (await ask(at)) === 'foo');
    const ran = await runAsAdmin(traffic.mesh.global.restUrl, ['apply', '-f', '-'], ROUTE);
    expect([ran.code, ran.err]).toEqual([0, '']);
    for (const [zone, at] of vips) await until(`foo-v2 answers in ${zone}`, async () => (await ask(at)) === 'foo-v2');
    for (const [zone, at] of vips)
      expect([zone, await drawnFairly(() => draw(at), { foo: 90, 'foo-v2': 10 })]).toEqual([zone, []]);
  });
});
