import { createPublicKey } from 'node:crypto';
import { connect as connectHttp2 } from 'node:http2';
import { createServer, type Server } from 'node:http';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import {
  createWorkloadKey,
  MeshAuthorities,
  meshAuthoritySecrets,
  SealingKeys,
  WorkloadCertificates,
} from '@causeway/identity';
import { Dataplane } from '@causeway/kinds';
import type { JsonObject, Resource } from '@causeway/resources';
import { systemClock } from '@causeway/runtime';
import { ENVOY } from '../support/envoy-process';
import { loopbackBlock } from '../support/loopback-networks';
import { echo, say } from '../support/mesh-processes';
import { kumaAuthority } from '../support/kuma-authority';
import { LOOPBACK_HOSTS, TrafficPlane } from '../support/traffic-plane';
import { sketch } from '../support/traffic-zone';
import { until } from '../support/until';

const host = loopbackBlock();
const SERVER = host(102);
const PORT = 8080;
const MTLS: JsonObject = { mtls: { enabledBackend: 'ca-1', backends: [{ name: 'ca-1', type: 'builtin' }] } };

interface Pair {
  readonly chain: string;
  readonly key: string;
}

/** Under a Kuma global: its authority arrives in Secrets, and Kuma's proxies are played by TLS clients with certificates of it. */
(ENVOY === undefined ? describe.skip : describe)('an inbound with a certificate of Mesh.mtls', () => {
  let plane: TrafficPlane;
  let app: Server;
  let ca: string;
  let issue: (service: string) => Promise<Pair>;
  let authorities: MeshAuthorities;

  beforeAll(async () => {
    plane = await TrafficPlane.start('east', LOOPBACK_HOSTS);
    app = createServer((request, response) => response.end(`app ${request.httpVersion} ${request.url ?? ''}`));
    await new Promise<void>((done) => app.listen(0, '127.0.0.1', done));
    const address = app.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    const { port } = address;
    const { certificate, privateKey } = await kumaAuthority('default', Date.now());
    ca = certificate;
    const secrets = meshAuthoritySecrets('default', 'ca-1');
    const secret = (name: string, text: string): Resource =>
      sketch('Secret', name, { data: Buffer.from(text).toString('base64') }, { zone: '' });
    const mesh = sketch('Mesh', 'default', MTLS);
    plane.state.put(
      { ...mesh, id: { ...mesh.id, mesh: '', zone: '', namespace: '' } },
      secret(secrets.certificate.name, certificate),
      secret(secrets.key.name, privateKey),
    );
    const keys = SealingKeys.parse(`k:${Buffer.alloc(32, 'k').toString('base64')}`);
    if (!keys.ok) throw new Error(keys.reason);
    authorities = new MeshAuthorities(plane.state.index, keys.keys);
    issue = async (service) => {
      const tags = { 'kuma.io/service': service };
      const dataplane = sketch('Dataplane', service, { networking: { address: SERVER, inbound: [{ port: 1, tags }] } });
      const made = await createWorkloadKey();
      const publicKey = createPublicKey(made.privateKey).export({ format: 'der', type: 'spki' });
      const signer = authorities.findSigner('default');
      if (!Dataplane.is(dataplane) || !signer) throw new Error('nobody signs');
      const now = Date.now();
      const { chain } = await signer.sign(dataplane, { publicKey, now, notAfter: now + 3_600_000 });
      return { chain, key: made.privateKey };
    };
    const inbound = [{ port: PORT, servicePort: port, tags: { 'kuma.io/service': 'web', 'kuma.io/protocol': 'http' } }];
    const { id } = plane.dataplane('web-1', { address: SERVER, inbound });
    const { chain, key } = await issue('web');
    await plane.envoy('web-1', {
      mesh: 'default',
      listed: new Set(),
      dataplane: id,
      identity: () => ({ chain, key: { pem: key } }),
    });
    await until('the inbound', async () => (await dial(await issue('probe'))) !== undefined);
  });
  afterAll(async () => {
    await plane.stop();
    await new Promise((done) => app.close(done));
  });
  afterEach(() => expect(plane.problems()).toEqual([]));

  /** As Kuma's proxies do: the protocol name of the mesh only, and the server's chain checked by the authority of the mesh. */
  function dial({ chain, key }: Pair): Promise<TLSSocket | undefined> {
    return new Promise((resolve) => {
      const socket = connectTls({
        host: SERVER,
        port: PORT,
        ca,
        cert: chain,
        key,
        ALPNProtocols: ['kuma'],
        checkServerIdentity: () => undefined,
      });
      socket.once('secureConnect', () => resolve(socket)).once('error', () => resolve(undefined));
    });
  }

  /** Returns the answer to a request by HTTP/2, which Kuma's proxies speak to every service; undefined if there is none. */
  async function get(pair: Pair, path: string): Promise<string | undefined> {
    const socket = await dial(pair);
    if (!socket) return undefined;
    return new Promise((resolve) => {
      const session = connectHttp2('http://web', { createConnection: () => socket });
      session.on('error', () => resolve(undefined)).on('close', () => resolve(undefined));
      const stream = session.request({ ':path': path });
      let text = '';
      stream.on('data', (part: Buffer) => (text += part.toString())).on('error', () => resolve(undefined));
      stream.on('end', () => {
        resolve(text === '' ? undefined : text);
        session.close();
      });
    });
  }

  it('has an inbound that is believed by the authority of the mesh, names its services and tags, and serves HTTP/2 to a caller of it', async () => {
    const caller = await issue('client');
    const socket = await dial(caller);
    expect(socket?.authorized).toBe(true);
    expect(socket?.getPeerCertificate().subjectaltname?.split(', ')).toEqual([
      'URI:spiffe://default/web',
      'URI:kuma://kuma.io/service/web',
    ]);
    socket?.destroy();
    expect(await get(caller, '/a')).toBe('app 1.1 /a');
  });

  it('has a way out through the egress of the zone, whose identity is of the authority of the mesh', async () => {
    const [at, vip] = [{ address: host(103), port: 10002 }, host(7)];
    const api = await echo('api');
    const endpoints = [{ address: '127.0.0.1', port: api.port }];
    plane.state.put(
      sketch('ZoneEgress', 'out', { networking: at }, { zone: 'east' }),
      sketch(
        'MeshExternalService',
        'api',
        { match: { port: 443, protocol: 'tcp' }, endpoints },
        { zone: '', status: { vip: { ip: vip } } },
      ),
    );
    const made = await createWorkloadKey();
    const { uri, chain } = await new WorkloadCertificates({
      index: plane.state.index,
      meshAuthorities: authorities,
      clock: systemClock,
      signer: { sign: () => Promise.reject(new Error('the authority of the zone is not asked')) },
    }).issueToEgress({ mesh: 'default', zone: 'east', csr: made.csr });
    expect(uri).toBe('spiffe://default/zone-egress');
    const identity = () => ({ chain, key: { pem: made.privateKey } });
    const caller = await issue('client');
    const [egress] = await Promise.all([
      plane.envoy('out', { mesh: '', listed: new Set(), egress: { at, identity } }),
      plane.envoy('client', {
        mesh: 'default',
        listed: 'all',
        capture: { type: 'bind' },
        identity: () => ({ chain: caller.chain, key: { pem: caller.key } }),
      }),
    ]);
    await until('the way out', async () => (await say(vip, 443)) === 'api:hello');
    expect(await egress?.stat('tcp.egress.downstream_cx_total')).toBeGreaterThan(0);
    await api.stop();
  });

  it('refuses a certificate of another authority, with the same names', async () => {
    const strangers = await kumaAuthority('default', Date.now());
    expect(await get({ chain: strangers.certificate, key: strangers.privateKey }, '/b')).toBeUndefined();
    expect(await get(await issue('client'), '/c')).toBe('app 1.1 /c');
  });
});
