import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { freePort } from '../../scripts/lib/ports.mjs';
import { ServerCredentials } from '@grpc/grpc-js';
import { SubjectAlternativeNameExtension, X509CertificateGenerator } from '@peculiar/x509';
import {
  Cluster,
  Cluster_DiscoveryType,
  ClusterLoadAssignment,
  DestinationIPInput,
  FilterChain,
  Listener,
  StringValue,
  TcpProxy,
  UpstreamTlsContext,
} from '@causeway/proto-gen';
import { packExtension, packFilter, RESOURCE_TYPES } from '@causeway/xds-server';
import { ENVOY, EnvoyProcess } from '../support/envoy-process';
import { until } from '../support/until';
import { XdsPlane } from '../support/xds-plane';

const ADS = { configSourceSpecifier: { $case: 'ads' as const, value: {} }, resourceApiVersion: 2 };
const { cluster, endpoints, listener, secret } = RESOURCE_TYPES;

const at = (port: number): object => ({
  address: {
    $case: 'socketAddress',
    value: { address: '127.0.0.1', portSpecifier: { $case: 'portValue', value: port } },
  },
});
const anywhere = (port: number): object => ({
  address: {
    $case: 'socketAddress',
    value: { address: '0.0.0.0', portSpecifier: { $case: 'portValue', value: port } },
  },
});
const edsCluster = (name: string): object => ({
  name,
  clusterDiscoveryType: { $case: 'type', value: Cluster_DiscoveryType.EDS },
  edsClusterConfig: { edsConfig: ADS },
});
const assignment = (clusterName: string, ...ports: readonly number[]): object => ({
  clusterName,
  endpoints: [
    { lbEndpoints: ports.map((port) => ({ hostIdentifier: { $case: 'endpoint', value: { address: at(port) } } })) },
  ],
});
const tcpListener = (name: string, port: number, proxy: object): object => ({
  name,
  address: at(port),
  filterChains: [{ name, filters: [packFilter('tcp', TcpProxy, { statPrefix: name, ...proxy })] }],
});
const toCluster = (value: string): object => ({ clusterSpecifier: { $case: 'cluster', value } });

describe('a real Envoy (test/envoy/install.sh)', () => {
  it('is never left out in CI', () => {
    const missing = process.env['CI'] !== undefined && ENVOY === undefined;
    expect(missing ? 'set CAUSEWAY_ENVOY to what test/envoy/install.sh prints' : 'run').toBe('run');
  });
});

(ENVOY === undefined ? describe.skip : describe)('Envoy, told by our server,', () => {
  let plane: XdsPlane;
  let envoy: EnvoyProcess | undefined;
  const backends: Server[] = [];

  beforeEach(() => (plane = new XdsPlane()));
  afterEach(async () => {
    await envoy?.stop();
    envoy = undefined;
    await plane.stop();
    await Promise.all(backends.splice(0).map((server) => new Promise((closed) => server.close(closed))));
  });

  /** Starts a process that answers each connection with its name; resolves with its port. */
  async function backend(text: string): Promise<number> {
    const server = createServer((socket) => socket.on('error', () => undefined).end(text));
    backends.push(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  }

  /** Returns the answer at this port; empty if the connection is closed or refused. */
  function said(port: number, host = '127.0.0.1'): Promise<string> {
    return new Promise((resolve) => {
      let text = '';
      const socket = connect(port, host);
      socket.on('data', (part) => (text += part.toString()));
      socket.on('error', () => undefined);
      socket.on('close', () => resolve(text));
    });
  }

  const start = async (options: { ca?: string } = {}): Promise<EnvoyProcess> =>
    (envoy = await EnvoyProcess.start(ENVOY ?? '', { id: 'web-1', xdsPort: plane.port, ...options }));

  const typeOf = (type: string) => plane.server.proxies()[0]?.types.find((one) => one.type === type);

  it('over TLS, takes a listener and a cluster, carries traffic, and follows its endpoints', async () => {
    const [one, two, port] = [await backend('one'), await backend('two'), await freePort()];
    const { credentials, ca } = await loopbackTls();
    plane.source.put(Cluster, edsCluster('redis'));
    plane.source.put(ClusterLoadAssignment, assignment('redis', one));
    plane.source.put(Listener, tcpListener('vip', port, toCluster('redis')));
    await plane.start(0, credentials);
    await start({ ca });
    await until('traffic', async () => (await said(port)) === 'one');
    plane.source.put(ClusterLoadAssignment, assignment('redis', two));
    await until('the other endpoint', async () => (await said(port)) === 'two');
    // A changed cluster warms until its endpoints come again: they do, and the old ones serve meanwhile.
    plane.source.put(Cluster, { ...edsCluster('redis'), connectTimeout: { seconds: 3 } });
    await until('the new cluster', () => typeOf(cluster)?.ackedRevision === plane.source.revision);
    expect(await envoy?.stat('cluster_manager.warming_clusters')).toBe(0);
    expect(await said(port)).toBe('two');
    expect(plane.server.proxies()).toMatchObject([{ id: 'web-1', form: 'delta' }]);
  });

  it('refuses a bad cluster alone, which is shown; all others apply, and it is tried again when it changes', async () => {
    await plane.start();
    const port = await freePort();
    plane.source.put(Cluster, edsCluster('good'));
    plane.source.put(ClusterLoadAssignment, assignment('good', await backend('good')));
    plane.source.put(Listener, tcpListener('vip', port, toCluster('good')));
    // Its form is right; that endpoints by discovery need a source of them is not in the rules of the protos.
    plane.source.put(Cluster, { ...edsCluster('bad'), edsClusterConfig: undefined });
    await start();
    const rejection = await until('the rejection', () => typeOf(cluster)?.lastRejection);
    expect(rejection).toMatchObject({ names: ['bad'], text: expect.stringContaining('bad') });
    await until('traffic', async () => (await said(port)) === 'good');
    plane.source.put(Cluster, edsCluster('bad'));
    plane.source.put(ClusterLoadAssignment, assignment('bad'));
    await until('no rejection', () => typeOf(cluster)?.lastRejection === undefined);
    expect(await envoy?.stat('cluster_manager.active_clusters')).toBe(3);
  });

  it('asks for a cluster on demand, and loses no connection while the answer takes time', async () => {
    await plane.start();
    const [port, other] = [await freePort(), await freePort()];
    const onDemand = (name: string): object => ({ ...toCluster(name), onDemand: { odcdsConfig: ADS } });
    plane.source.list('web-1', cluster, []);
    plane.source.announce(cluster, 'vip:1');
    plane.source.put(
      Listener,
      tcpListener('one', port, onDemand('vip:1')),
      tcpListener('none', other, onDemand('vip:2')),
    );
    // An unknown VIP has a cluster without endpoints: the connection ends at once.
    plane.source.put(Cluster, {
      name: 'vip:2',
      clusterDiscoveryType: { $case: 'type', value: Cluster_DiscoveryType.STATIC },
    });
    await start();
    await until('listeners', () => typeOf(listener)?.ackedRevision === plane.source.revision);
    expect(typeOf(cluster)).toMatchObject({ held: 0 });
    const answer = said(port);
    await until('the question', () => plane.source.asked.includes(`web-1 ${cluster} vip:1`));
    plane.source.put(ClusterLoadAssignment, assignment('vip:1', await backend('found')));
    plane.source.put(Cluster, edsCluster('vip:1'));
    expect(await answer).toBe('found');
    expect(await said(other)).toBe('');
    expect(typeOf(cluster)).toMatchObject({ subscribed: 2, held: 2 });
  });

  it('takes filter chains one by one: a change of one leaves the listener and the other chains alone', async () => {
    await plane.start();
    const port = await freePort();
    for (const name of ['a', 'b', 'c']) {
      plane.source.put(Cluster, edsCluster(name));
      plane.source.put(ClusterLoadAssignment, assignment(name, await backend(name)));
    }
    const chain = (name: string, to: string): object => ({
      name,
      filters: [packFilter('tcp', TcpProxy, { statPrefix: name, ...toCluster(to) })],
    });
    const onMatch = (name: string): object => ({
      onMatch: { $case: 'action', value: packExtension(name, StringValue, { value: name }) },
    });
    plane.source.put(Listener, {
      name: 'vips',
      address: anywhere(port),
      fcdsConfig: { configSource: ADS },
      filterChainMatcher: {
        matcherType: {
          $case: 'matcherTree',
          value: {
            input: packExtension('ip', DestinationIPInput, {}),
            treeType: {
              $case: 'exactMatchMap',
              value: { map: { '127.0.0.2': onMatch('fc:2'), '127.0.0.3': onMatch('fc:3') } },
            },
          },
        },
      },
    });
    plane.source.put(FilterChain, chain('fc:2', 'a'), chain('fc:3', 'b'));
    await start();
    await until('traffic', async () => (await said(port, '127.0.0.2')) === 'a');
    expect(await said(port, '127.0.0.3')).toBe('b');
    const before = plane.server.counters.resources;
    plane.source.put(FilterChain, chain('fc:2', 'c'));
    await until('the other cluster', async () => (await said(port, '127.0.0.2')) === 'c');
    expect(await said(port, '127.0.0.3')).toBe('b');
    expect(plane.server.counters.resources).toBe(before + 1);
    expect(await said(port, '127.0.0.4')).toBe('');
  });

  it('starts although a cluster whose endpoints it waits for becomes one of another kind', async () => {
    await plane.start();
    const port = await freePort();
    // As that of a service whose last workload goes while an Envoy, which waits for its certificate, has no listener yet.
    const identity = { name: 'identity', sdsConfig: ADS };
    const tls = packFilter('tls', UpstreamTlsContext, {
      commonTlsContext: { tlsCertificateSdsSecretConfigs: [identity] },
    });
    plane.source.announce(secret, 'identity');
    plane.source.put(Cluster, { ...edsCluster('gone'), transportSocket: tls });
    plane.source.put(ClusterLoadAssignment, assignment('gone', port), assignment('good', await backend('good')));
    plane.source.put(Listener, tcpListener('vip', port, toCluster('good')));
    await start();
    await until('the wait for a certificate', () => typeOf(secret)?.subscribed === 1);
    expect(typeOf(listener)).toBeUndefined();
    plane.source.put(Cluster, edsCluster('good'), {
      name: 'gone',
      clusterDiscoveryType: { $case: 'type', value: Cluster_DiscoveryType.STATIC },
    });
    await until('traffic', async () => (await said(port)) === 'good');
    expect(await envoy?.stat('cluster_manager.active_clusters')).toBe(3);
  });

  it('is sent nothing again that it holds, when a control plane comes back', async () => {
    await plane.start();
    const [port, one] = [await freePort(), await backend('one')];
    plane.source.put(Cluster, edsCluster('redis'), edsCluster('mysql'));
    plane.source.put(ClusterLoadAssignment, assignment('redis', one), assignment('mysql', one));
    plane.source.put(Listener, tcpListener('vip', port, toCluster('redis')));
    await start();
    await until('traffic', async () => (await said(port)) === 'one');
    await until('all acks', () =>
      [cluster, endpoints, listener].every((type) => typeOf(type)?.ackedRevision === plane.source.revision),
    );
    const { port: xdsPort, source } = plane;
    await plane.stop();
    expect(await said(port)).toBe('one');
    plane = new XdsPlane({}, undefined, source);
    await plane.start(xdsPort);
    await until('the proxy', () => plane.server.counters.unchanged >= 5);
    expect(plane.server.counters).toMatchObject({ unchanged: 5, resources: 0 });
    plane.source.put(ClusterLoadAssignment, assignment('redis', await backend('two')));
    await until('news', async () => (await said(port)) === 'two');
    expect(plane.server.counters.resources).toBe(1);
  });
});

/** A certificate for loopback that is its own authority. */
async function loopbackTls(): Promise<{ credentials: ServerCredentials; ca: string }> {
  const signingAlgorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await webcrypto.subtle.generateKey(signingAlgorithm, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.createSelfSigned(
    {
      name: 'CN=localhost',
      notBefore: new Date(Date.now() - 60_000),
      notAfter: new Date(Date.now() + 3_600_000),
      keys,
      signingAlgorithm,
      extensions: [new SubjectAlternativeNameExtension([{ type: 'ip', value: '127.0.0.1' }])],
    },
    webcrypto,
  );
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  const key = `-----BEGIN PRIVATE KEY-----\n${der}\n-----END PRIVATE KEY-----\n`;
  const ca = certificate.toString('pem');
  const pair = { cert_chain: Buffer.from(ca), private_key: Buffer.from(key) };
  return { credentials: ServerCredentials.createSsl(null, [pair]), ca };
}
