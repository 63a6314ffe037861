import type { DataplaneTokens, ZoneProxyTokens } from '@causeway/access';
import { WorkloadCertificateServiceClient } from '@causeway/proto-gen';
import { systemClock, type Clock } from '@causeway/runtime';
import { RESOURCE_TYPES } from '@causeway/xds-server';
import { credentials, Metadata, status, type ServiceError } from '@grpc/grpc-js';
import { Client } from 'pg';
import { DATAPLANE_TOKENS, ZONE_PROXY_TOKENS } from '../../apps/zone/src/identity/workload-identity.module';
import type { ParsedJson } from '../rest/rest-fixture';
import { deltaClient, type DeltaClient } from '../support/ads-client';
import { createCsr, csrKey } from '../support/csr';
import { Link } from '../support/link';
import { createMigratedDatabase } from '../support/migrated-database';
import type { TestDatabase } from '../support/postgres';
import { until } from '../support/until';
import { ZoneProgram } from '../support/zone-program';
import { adminFetch } from '../support/admin-credential';

const { listener } = RESOURCE_TYPES;
const MINUTE = 60_000;

/** The time of a replica, which a test may move on. */
class MovedClock implements Clock {
  ahead = 0;
  readonly now = (): number => systemClock.now() + this.ahead;
  readonly elapsed = systemClock.elapsed;
  readonly after = systemClock.after;
  readonly sleep = systemClock.sleep;
}

/** A proxy that is not Envoy, acks everything, and records its resources. */
class AckingProxy {
  readonly held = new Set<string>();
  private answered = 0;
  private readonly acking: NodeJS.Timeout;

  constructor(
    readonly client: DeltaClient,
    metadata: object = {},
  ) {
    client.send({ node: { id: client.node, metadata }, typeUrl: listener });
    this.acking = setInterval(() => this.ack(), 10);
  }

  async close(): Promise<void> {
    clearInterval(this.acking);
    await this.client.close();
  }

  private ack(): void {
    for (const response of this.client.responses.slice(this.answered)) {
      this.answered += 1;
      for (const { name } of response.resources) this.held.add(name);
      for (const name of response.removedResources) this.held.delete(name);
      this.client.ack(response);
    }
  }
}

/** docs/reference/proxies.md, A replica that is cut off: the leader of a zone loses its way to Postgres, and another replica goes on. */
describe.each<['refused' | 'lost without a word']>([['refused'], ['lost without a word']])(
  'a replica that is cut off from its store, its connections %s',
  (how) => {
    let database: TestDatabase;
    let direct: Client;
    const link = new Link();
    const clock = new MovedClock();
    let cutOff: ZoneProgram;
    let other: ZoneProgram;
    let listeners: readonly string[] = [];
    const proxies: AckingProxy[] = [];

    beforeAll(async () => {
      database = await createMigratedDatabase();
      direct = new Client({ connectionString: database.url });
      await direct.connect();
      await link.listen();
      const url = new URL(database.url);
      link.lead(Number(url.port));
      url.port = String(link.port);
      const settings = {
        CAUSEWAY_LEADER_LEASE: '1s',
        CAUSEWAY_VIP_RANGE_MESHSERVICE: '241.0.0.0/31',
        CAUSEWAY_VIP_COOLDOWN: '2s',
        CAUSEWAY_DNS_TTL: '1s',
      };
      cutOff = await ZoneProgram.start({ DATABASE_URL: url.href, ...settings });
      await cutOff.untilLeading();
      other = await ZoneProgram.start({ DATABASE_URL: database.url, ...settings }, clock);
      for (const name of ['in-1', 'in-2'])
        await other.put(`/zoneingresses/${name}`, {
          type: 'ZoneIngress',
          name,
          networking: { address: '127.0.0.1', port: 10000 + Number(name.at(-1)) },
        });
      for (const name of ['web-1', 'web-2'])
        await other.put(`/meshes/default/dataplanes/${name}`, {
          type: 'Dataplane',
          mesh: 'default',
          name,
          networking: { address: '127.0.0.1', inbound: [{ port: 18080, servicePort: 8080, tags: {} }] },
        });
      for (const name of ['a', 'b']) await service(name);
      for (const name of ['a', 'b']) await until('an address', () => vip(name));
    });
    afterAll(async () => {
      link.heal();
      await Promise.all(proxies.map((proxy) => proxy.close()));
      await Promise.all([cutOff.stop(), other.stop()]);
      await direct.end();
      await link.close();
      await database.drop();
    });

    const get = async (path: string): Promise<ParsedJson> => (await adminFetch(other.restUrl + path)).json();
    const service = (name: string): Promise<void> =>
      other.put(`/meshes/default/meshservices/${name}`, {
        type: 'MeshService',
        mesh: 'default',
        name,
        spec: { selector: { dataplaneTags: { app: name } }, ports: [{ port: 6379, appProtocol: 'tcp' }] },
      });
    const vip = async (name: string): Promise<string | undefined> =>
      (await get(`/meshes/default/meshservices/${name}`)).status?.vip?.ip;
    const connectDataplane = async (name: string, replica: ZoneProgram): Promise<AckingProxy> => {
      const { tokens } = other.app.get<DataplaneTokens>(DATAPLANE_TOKENS, { strict: false });
      const { token } = await until('a key', () => tokens.issue({ mesh: 'default', name }).catch(() => undefined));
      const client = deltaClient(replica.xds.address.port, `default.${name}`, token);
      const proxy = new AckingProxy(client, { 'causeway.io/capture': 'bind' });
      proxies.push(proxy);
      return proxy;
    };
    const connectIngress = async (name: string, replica: ZoneProgram): Promise<AckingProxy> => {
      const { tokens } = other.app.get<ZoneProxyTokens>(ZONE_PROXY_TOKENS, { strict: false });
      const { token } = await until('a key', () =>
        tokens?.issue({ zone: 'east', scope: ['ingress'] }).catch(() => undefined),
      );
      const client = deltaClient(replica.xds.address.port, name, token);
      const proxy = new AckingProxy(client, { 'dataplane.proxyType': 'ingress' });
      proxies.push(proxy);
      return proxy;
    };
    const isConnected = async (name: string): Promise<boolean> =>
      (await get('/_proxies?connected=true')).items.some((item: ParsedJson) => item.name === name);
    /** As if so much more time had passed since the replica that is cut off reported last. */
    const silentFor = (ms: number) =>
      direct.query(
        `UPDATE proxy_replicas SET seen_at = seen_at - $1
           WHERE instance = (SELECT instance FROM proxy_sessions WHERE proxy = 'default/web-1')`,
        [ms],
      );
    const condition = async (path: string, type: string): Promise<ParsedJson> =>
      ((await get(path)).status?.conditions ?? []).find((each: ParsedJson) => each.type === type);

    it('goes on to serve its proxies, and takes new ones', async () => {
      expect(await Promise.all(['a', 'b'].map(vip))).toEqual(['241.0.0.0', '241.0.0.1']);
      const web = await connectDataplane('web-1', cutOff);
      await connectIngress('in-1', cutOff);
      await connectIngress('in-2', other);
      await until('what it listens at', () => web.held.size >= 3);
      listeners = [...web.held];
      for (const name of ['web-1', 'in-1', 'in-2']) await until('it is known', () => isConnected(name));
      if (how === 'refused') link.cut();
      else link.silence();
      await other.untilLeading();
      const late = await connectDataplane('web-2', cutOff);
      await until('it is served', () => late.held.size === listeners.length);
      expect(web.client.ended).toBeUndefined();
      expect([...web.held]).toEqual(listeners);
    });

    it('signs no certificate, and registers and writes nothing', async () => {
      // A connection that is lost without a word is given up after half a minute: in that time nothing is answered.
      if (how === 'lost without a word') return;
      const { tokens } = other.app.get<DataplaneTokens>(DATAPLANE_TOKENS, { strict: false });
      const { token } = await tokens.issue({ mesh: 'default', name: 'web-1' });
      const client = new WorkloadCertificateServiceClient(
        `127.0.0.1:${cutOff.xds.address.port}`,
        credentials.createInsecure(),
      );
      const metadata = new Metadata();
      metadata.set('authorization', `Bearer ${token}`);
      const request = { mesh: 'default', dataplane: 'web-1', csr: await createCsr(await csrKey()) };
      const refused = await new Promise<ServiceError | null>((done) => client.sign(request, metadata, done));
      client.close();
      expect(refused).toMatchObject({ code: status.UNAVAILABLE, details: expect.stringContaining('database is away') });
      const { token: ofKuma } = await tokens.issue({ mesh: 'default', name: 'kuma-1' });
      const document = { type: 'Dataplane', mesh: 'default', name: 'kuma-1', networking: { address: '127.0.0.1' } };
      const kuma = deltaClient(cutOff.xds.address.port, 'default.kuma-1', ofKuma);
      kuma.send({
        node: { id: 'default.kuma-1', metadata: { 'dataplane.resource': JSON.stringify(document) } },
        typeUrl: listener,
      });
      expect(await kuma.end()).toMatchObject({ code: status.UNAVAILABLE });
      await kuma.close();
      await expect(cutOff.delete('/meshes/default/meshservices/a')).rejects.toThrow(/503/);
    });

    it('is counted as gone, and what it told as in use: no address goes to another service (I11)', async () => {
      await silentFor(2 * MINUTE);
      await until('its proxies are not connected', async () => !(await isConnected('web-1')));
      expect(await isConnected('in-2')).toBe(true);
      await other.delete('/meshes/default/meshservices/a');
      await service('c');
      const path = '/meshes/default/meshservices/c';
      const waits = async () => (await condition(path, 'VIPAllocated'))?.message;
      const named = /freed addresses may still be used by .*control plane test-/;
      await until('it waits for the replica', async () => named.test(await waits()));
      expect([await vip('c'), await vip('b')]).toEqual([undefined, '241.0.0.1']);
    });

    it('has its ingress withdrawn after some minutes, for there is another one', async () => {
      expect(await condition('/zoneingresses/in-1', 'Withdrawn')).toBeUndefined();
      clock.ahead += 2 * MINUTE;
      const withdrawn = () => condition('/zoneingresses/in-1', 'Withdrawn');
      expect(await until('it is withdrawn', withdrawn)).toMatchObject({ status: 'True', reason: 'ProxyGone' });
      expect(await condition('/zoneingresses/in-2', 'Withdrawn')).toBeUndefined();
      const [web] = proxies;
      expect([web?.client.ended, [...(web?.held ?? [])]]).toEqual([undefined, listeners]);
    });

    it('reports and tells its proxies at once when it reaches the store again', async () => {
      link.heal();
      await until('its ingress is used again', async () => !(await condition('/zoneingresses/in-1', 'Withdrawn')));
      await until('its proxies are connected', () => isConnected('web-1'));
      // No proxy uses the address of the deleted service any more.
      expect(await until('an address', () => vip('c'))).toBe('241.0.0.0');
      const [web] = proxies;
      await until('the new listeners', () => web && [...web.held].join() !== listeners.join());
      expect(web?.client.ended).toBeUndefined();
    });
  },
);
