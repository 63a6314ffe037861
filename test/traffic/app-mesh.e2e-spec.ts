import { createServer, get, Agent, type OutgoingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { findCondition, type JsonObject } from '@causeway/resources';
import { runAsAdmin } from '../ctl/run-causeway';
import { ENVOY } from '../support/envoy-process';
import { drawnFairly } from '../support/fair-draw';
import { until } from '../support/until';
import type { At } from './calls';
import { TrafficMesh } from './traffic-mesh';

/** So many show two weights that are swapped in each draw: 30 and 20 percent are 6 standard deviations apart. */
const DRAWS = 800;
/** So many show another share of two answers. */
const DRAWS_OF_TWO = 400;
const AT_ONCE = 20;
const PORT = 8080;
const FOLDER = 'examples/app-mesh-colors';

/** The router of the example with other weights, as an operator shifts traffic. */
const SHIFTED = `apiVersion: appmesh.k8s.aws/v1beta2
kind: VirtualRouter
metadata: {name: color, namespace: colors}
spec:
  listeners:
  - portMapping: {port: ${PORT}, protocol: http}
  routes:
  - name: mixed
    httpRoute:
      match: {prefix: /}
      action:
        weightedTargets:
        - {virtualNodeRef: {name: blue}, weight: 1}
        - {virtualNodeRef: {name: red}, weight: 4}
`;

/** White under a name of its own, and the front of the example with that beside its backend. */
const WHITE = `apiVersion: appmesh.k8s.aws/v1beta2
kind: VirtualService
metadata: {name: white, namespace: colors}
spec: {provider: {virtualNode: {virtualNodeRef: {name: white}}}}
---
apiVersion: appmesh.k8s.aws/v1beta2
kind: VirtualNode
metadata: {name: front, namespace: colors}
spec:
  podSelector: {matchLabels: {app: front}}
  listeners:
  - portMapping: {port: ${PORT}, protocol: http}
  backends:
  - virtualService: {virtualServiceRef: {name: color}}
  - virtualService: {virtualServiceRef: {name: white}}
`;

(ENVOY === undefined ? describe.skip : describe)(
  'the colour application of App Mesh, imported, over two zones,',
  () => {
    const servers: Server[] = [];
    const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
    const fronts = new Map<string, At>();
    let traffic: TrafficMesh;

    /**
     * Starts an instance of a version: an HTTP process that answers with the colour, its Dataplane with the labels of its Deployment, and its Envoy.
     */
    async function instance(zone: string, color: string): Promise<void> {
      const server = createServer((_, answer) => answer.end(color));
      server.keepAliveTimeout = 60_000;
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      servers.push(server);
      const tags = { 'kuma.io/service': 'color', 'kuma.io/protocol': 'http' };
      const inbound = [{ port: PORT, servicePort: (server.address() as AddressInfo).port, tags }];
      const name = `${color}-1`;
      const status = await traffic.zone(zone).put(`/meshes/default/dataplanes/${name}?namespace=colors`, {
        type: 'Dataplane',
        mesh: 'default',
        name,
        namespace: 'colors',
        labels: { app: 'color', version: color },
        spec: { networking: { address: traffic.machine(), inbound } },
      });
      expect(status).toBe(201);
      await traffic.proxy(zone, `${name}.colors`);
    }

    /** The front of a zone: an HTTP process that asks for the colour at its virtual IP, by its own Envoy, whatever it is asked. */
    async function front(zone: string): Promise<At> {
      const { address } = await traffic.vipOf(zone, 'meshservices/vs-color?namespace=colors');
      const server = createServer(({ headers: { 'x-color': color } }, answer) => {
        void ask({ address, port: PORT }, color === undefined ? {} : { 'x-color': color }).then((text) =>
          answer.end(text),
        );
      });
      server.keepAliveTimeout = 60_000;
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      servers.push(server);
      const { port } = server.address() as AddressInfo;
      const tags = { 'kuma.io/service': 'front', 'kuma.io/protocol': 'http' };
      const status = await traffic.zone(zone).put('/meshes/default/dataplanes/front-1?namespace=colors', {
        type: 'Dataplane',
        mesh: 'default',
        name: 'front-1',
        namespace: 'colors',
        labels: { app: 'front' },
        spec: { networking: { address: traffic.machine(), inbound: [{ port: PORT, servicePort: port, tags }] } },
      });
      expect(status).toBe(201);
      await traffic.proxy(zone, 'front-1.colors', { 'causeway.io/capture': 'bind' });
      return { address: '127.0.0.1', port };
    }

    const ask = ({ address, port }: At, headers: OutgoingHttpHeaders = {}): Promise<string> =>
      new Promise((resolve) => {
        const sent = get({ host: address, port, path: '/', agent, headers, timeout: 20_000 }, (answer) => {
          let text = '';
          answer.on('data', (part: Buffer) => (text += part.toString()));
          answer.on('end', () => resolve(answer.statusCode === 200 ? text : String(answer.statusCode)));
        });
        sent.on('error', () => resolve('')).on('timeout', () => sent.destroy());
      });

    async function draw(at: At, headers: OutgoingHttpHeaders = {}, count = DRAWS): Promise<readonly string[]> {
      const answers: string[] = [];
      while (answers.length < count)
        answers.push(...(await Promise.all(Array.from({ length: AT_ONCE }, () => ask(at, headers)))));
      return answers;
    }

    /** Waits until a zone's clients have met each of these colours, and no other answer in so many requests as would show one. */
    const settled = (zone: string, at: At, colors: readonly string[]): Promise<unknown> =>
      until(`${zone} answers with ${colors.join(', ')} alone`, async () => {
        const seen = new Set(await draw(at, {}, 5 * AT_ONCE));
        return seen.size === colors.length && colors.every((color) => seen.has(color));
      });

    const imported = async (args: readonly string[], stdin = ''): Promise<void> => {
      const given = ['import', 'app-mesh', '--set-suffixes', ...args];
      const ran = await runAsAdmin(traffic.mesh.global.restUrl, given, stdin);
      expect([ran.code, ran.err]).toEqual([0, '']);
    };

    beforeAll(async () => {
      traffic = await TrafficMesh.start();
      await imported(['-f', FOLDER, '--set', 'MESH_NAME=default']);
      await Promise.all([
        instance('east', 'white'),
        instance('west', 'blue'),
        instance('east', 'red'),
        instance('west', 'red'),
      ]);
      for (const zone of traffic.zones) {
        fronts.set(zone, await front(zone));
      }
      for (const [zone, at] of fronts) await settled(zone, at, ['white', 'blue', 'red']);
    });
    afterAll(async () => {
      agent.destroy();
      await traffic?.stop();
      for (const server of servers) server.close();
    });

    it('the weights of the router (T003-20) are obeyed in both zones, wherever a colour runs', async () => {
      for (const [zone, at] of fronts)
        expect([zone, await drawnFairly(() => draw(at), { white: 5, blue: 3, red: 2 })]).toEqual([zone, []]);
    });

    it('the front of each zone is told the address by the awsName of the service', async () => {
      for (const zone of traffic.zones) {
        const { address } = await traffic.vipOf(zone, 'meshservices/vs-color?namespace=colors');
        const found = await runAsAdmin(traffic.zone(zone).restUrl, ['dig', 'color.colors.svc.cluster.local']);
        expect([zone, found.code, found.out]).toEqual([zone, 0, expect.stringContaining(address)]);
      }
    });

    it('requests with the header go to blue alone', async () => {
      for (const [zone, at] of fronts)
        expect([zone, [...new Set(await draw(at, { 'x-color': 'blue' }, 200))]]).toEqual([zone, ['blue']]);
    });

    it('the front reaches the backends of its node (T003-35) and no colour by itself, until its node names that', async () => {
      const { address } = await traffic.vipOf('east', 'meshservices/vn-white?namespace=colors');
      expect(await ask({ address, port: PORT })).toBe('');
      const { address: direct } = await traffic.vipOf('east', 'meshservices/vs-color?namespace=colors');
      expect(await ask({ address: direct, port: PORT }, { 'x-color': 'blue' })).toBe('blue');
      const plain = await traffic.vipOf('east', 'meshservices/color?namespace=colors');
      await until('it reaches a service outside App Mesh', async () =>
        ['white', 'red'].includes(await ask({ address: plain.address, port: PORT })),
      );
      await imported(['-f', '-'], WHITE);
      const { address: white } = await traffic.vipOf('east', 'meshservices/vs-white?namespace=colors');
      await until('the front reaches white', async () => (await ask({ address: white, port: PORT })) === 'white');
      expect(await ask({ address, port: PORT })).toBe('');
    });

    it('a target that does not exist gets its share of the requests answered with 500 (T003-13)', async () => {
      const missing = SHIFTED.replace('{name: blue}, weight: 1', '{name: nobody}, weight: 4');
      await imported(['-f', '-'], missing);
      for (const [zone, at] of fronts) await settled(zone, at, ['500', 'red']);
      for (const [zone, at] of fronts)
        expect([zone, await drawnFairly(() => draw(at, {}, DRAWS_OF_TWO), { '500': 4, red: 4 })]).toEqual([zone, []]);
      await until('the router says which node is missing', async () => {
        const router = await traffic.mesh.global.get('/meshes/default/virtualrouters/color?namespace=colors');
        const said = findCondition(router?.['status'] as JsonObject | undefined, 'ResolvedRefs');
        return said?.['status'] === 'False' && JSON.stringify(said['message']).includes('nobody');
      });
    });

    it('other weights that are imported are obeyed in both zones', async () => {
      await imported(['-f', '-'], SHIFTED);
      for (const [zone, at] of fronts) await settled(zone, at, ['blue', 'red']);
      for (const [zone, at] of fronts)
        expect([zone, await drawnFairly(() => draw(at, {}, DRAWS_OF_TWO), { blue: 1, red: 4 })]).toEqual([zone, []]);
    });

    it('without its provider the service answers 503 (T003-15), and as before once it has one again', async () => {
      const service = '/meshes/default/virtualservices/color?namespace=colors';
      await imported(['-f', '-'], SHIFTED);
      const stored = await traffic.mesh.global.get(service);
      const provided = stored?.['spec'];
      expect(provided).toHaveProperty('provider');
      const { provider: _, ...without } = Object(provided) as Record<string, unknown>;
      expect(await traffic.mesh.global.put(service, { ...stored, spec: without })).toBe(200);
      for (const [zone, at] of fronts) await settled(zone, at, ['503']);
      expect(await traffic.mesh.global.put(service, { ...stored, spec: provided })).toBe(200);
      for (const [zone, at] of fronts) await settled(zone, at, ['blue', 'red']);
    });
  },
);
