import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DataplaneTokens } from '@causeway/access';
import type { AgentStatus } from '@causeway/agent/testing';
import { formatJoinBundle } from '@causeway/identity';
import { freePort } from '../../scripts/lib/ports.mjs';
import { DATAPLANE_TOKENS } from '../../apps/zone/src/identity/workload-identity.module';
import type { ParsedJson } from '../rest/rest-fixture';
import { AgentProcess } from '../support/agent-process';
import { createTestDatabase, type TestDatabase } from '../support/postgres';
import { until } from '../support/until';
import { ZoneProgram } from '../support/zone-program';
import { adminFetch } from '../support/admin-credential';

type Proxy = AgentStatus['proxies'][number];

/** Dataplanes of one name in two namespaces, on one machine, at a zone with Postgres. */
describe('an agent with Dataplanes in a namespace', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cwa-'));
  const ports = { xds: 0, service: 0, inbound: 0, other: 0, outbound: 0 };
  let database: TestDatabase;
  let zone: ZoneProgram;
  let service: Server;
  let agent: AgentProcess;

  const token = async (namespace: string | undefined, name: string): Promise<string> => {
    const { tokens } = zone.app.get<DataplaneTokens>(DATAPLANE_TOKENS, { strict: false });
    const issued = await tokens.issue({
      mesh: 'default',
      name,
      services: ['web'],
      validFor: '1h',
      ...(namespace !== undefined && { namespace }),
    });
    return issued.token;
  };
  const dataplane = (name: string, namespace: string | undefined, port: number, more: object = {}): object => ({
    name,
    ...(namespace !== undefined && { namespace }),
    address: '127.0.0.1',
    services: [{ name: 'web', port, servicePort: ports.service, protocol: 'http', health: { tcp: {} } }],
    ...more,
  });
  const config = (...dataplanes: object[]): object => ({
    bundle: join(folder, 'bundle'),
    plane: 'builtin',
    drainTime: '1s',
    dataplanes,
  });
  const proxies = async (): Promise<readonly Proxy[]> => (await agent.status())?.proxies ?? [];
  const proxyIn = async (namespace: string, name = 'web-1'): Promise<Proxy | undefined> =>
    (await proxies()).find((one) => one.namespace === namespace && one.name === name);
  const get = async (path: string): Promise<ParsedJson> => {
    const answer = await adminFetch(zone.restUrl + path);
    return answer.ok ? answer.json() : undefined;
  };
  const ask = (): Promise<string> =>
    fetch(`http://127.0.0.1:${ports.outbound}/`, { headers: { connection: 'close' } })
      .then((answer) => answer.text())
      .catch(() => '');

  beforeAll(async () => {
    database = await createTestDatabase();
    service = createServer((_, answer) => answer.end('web answers'));
    for (const name of ['xds', 'service', 'inbound', 'other', 'outbound'] as const) ports[name] = await freePort();
    await new Promise<void>((resolve) => service.listen(ports.service, '127.0.0.1', resolve));
    const xds = { CAUSEWAY_XDS_TLS: 'on', CAUSEWAY_XDS_PORT: String(ports.xds) };
    zone = await ZoneProgram.start({ DATABASE_URL: database.url, ...xds });
    await zone.untilLeading();
    await zone.app.get<DataplaneTokens>(DATAPLANE_TOKENS, { strict: false }).tokens.ensureKey();
    // A Dataplane whose name equals the node id of the agent's proxy: it is not the agent's Dataplane.
    await zone.put('/meshes/default/dataplanes/web-1.shop', {
      type: 'Dataplane',
      mesh: 'default',
      name: 'web-1.shop',
      networking: { address: '127.0.0.9', inbound: [{ port: 1, tags: { 'kuma.io/service': 'other' } }] },
    });
    const bundle = formatJoinBundle({
      controlPlanes: [`127.0.0.1:${ports.xds}`],
      zone: 'east',
      mesh: 'default',
      token: await token('shop', 'web-1'),
      authority: zone.authority ?? '',
    });
    writeFileSync(join(folder, 'bundle'), bundle, { mode: 0o600 });
    writeFileSync(join(folder, 'token'), await token(undefined, 'web-1'), { mode: 0o600 });
    const backend = { name: 'web', port: ports.inbound };
    agent = new AgentProcess(
      join(folder, 'a'),
      config(
        dataplane('web-1', 'shop', ports.inbound, { outbounds: [{ port: ports.outbound, backend }] }),
        dataplane('web-1', undefined, ports.other, { tokenFile: join(folder, 'token') }),
      ),
    );
    await agent.start();
  });
  afterAll(async () => {
    await agent?.end();
    await zone?.stop();
    await database?.drop();
    service?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('registers each in its own, with a lease, a certificate and what its proxy needs', async () => {
    for (const namespace of ['shop', 'default']) {
      const proxy = await until(`the proxy in ${namespace} serves`, async () => {
        const one = await proxyIn(namespace);
        return one?.lease?.type === 'held' && one.certificate && one.plane.type === 'serving' ? one : undefined;
      });
      expect(proxy.certificate?.id).toMatch(/\/workload\/web-1$/);
      expect(proxy.controlPlane.type).toBe('connected');
    }
    const shop = await get('/meshes/default/dataplanes/web-1?namespace=shop');
    expect(shop).toMatchObject({
      labels: { 'k8s.kuma.io/namespace': 'shop', 'causeway.io/leased-by': expect.any(String) },
      spec: { networking: { inbound: [{ port: ports.inbound }] }, grantedServices: ['web'] },
    });
    expect((await get('/meshes/default/dataplanes/web-1')).spec.networking.inbound[0].port).toBe(ports.other);
    const { items } = await get('/_leases');
    expect(items.map(({ namespace, name }: ParsedJson) => `${namespace}/${name}`).sort()).toEqual([
      'default/web-1',
      'shop/web-1',
    ]);
    const { items: enrolled } = await get('/_workloads');
    expect(enrolled).toContainEqual(expect.objectContaining({ namespace: 'shop', name: 'web-1', by: 'token' }));
    const { items: audit } = await get('/_audit?kind=Dataplane&name=web-1');
    expect(audit).toContainEqual(expect.objectContaining({ user: 'dataplane-token:default/web-1.shop' }));
  });

  it('carries the traffic of the namespace', async () => {
    await until('the service', async () => (await ask()) === 'web answers');
  });

  it('shows the namespace to whoever looks', async () => {
    const { text } = await agent.command('status');
    expect(text).toMatch(/^Dataplane default\/web-1\.shop$/m);
    expect(text).toMatch(/^Dataplane default\/web-1$/m);
    agent.write(config(dataplane('web-1', 'Shop.1', ports.inbound)));
    await until('the problem is told', async () =>
      (await agent.status())?.configuration.problems.some((one) => /dataplanes\[0\]\.namespace: must be /.test(one)),
    );
  });

  it('is refused a namespace that its token does not grant, with what is missing', async () => {
    writeFileSync(join(folder, 'own'), await token(undefined, 'web-2'), { mode: 0o600 });
    agent.write(config(dataplane('web-2', 'shop', ports.inbound, { tokenFile: join(folder, 'own') })));
    const refused = await until('it is refused', async () => {
      const lease = (await proxyIn('shop', 'web-2'))?.lease;
      return lease?.type === 'refused' ? lease.reason : undefined;
    });
    expect(refused).toContain(
      'claim "Namespace" is "default", the Dataplane has "shop": issue one with --namespace shop',
    );
    expect(await get('/meshes/default/dataplanes/web-2?namespace=shop')).toBeUndefined();
    // Services that the file no longer names are withdrawn, in both namespaces.
    await until('they are gone', async () => (await get('/_leases')).items.length === 0);
    expect(await get('/meshes/default/dataplanes/web-1?namespace=shop')).toBeUndefined();
    expect(await get('/meshes/default/dataplanes/web-1')).toBeUndefined();
  });
});
