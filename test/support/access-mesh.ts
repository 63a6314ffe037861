import { Agent, request } from 'node:https';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import {
  evaluateCall,
  shippedDefinition,
  shippedDefinitionName,
  shippedPolicies,
  type AccessRequest,
} from '@causeway/policies';
import type { JsonObject, Resource } from '@causeway/resources';
import { evaluateInstances } from '@causeway/xds-translation';
import type { BuiltinProxy } from './builtin-proxy';
import type { EnvoyProcess } from './envoy-process';
import { echo, httpService, tlsClient, type ServiceProcess } from './mesh-processes';
import { TestAuthority, type TestCertificate } from './test-authority';
import { TrafficPlane, type ProxyKind } from './traffic-plane';
import { sketch } from './traffic-zone';
import { until } from './until';

export const TCP_PORT = 6379;
const HTTP_PORT = 8080;
const OTHER_DOMAIN = 'default.west.mesh.local';

/** A connection that has had an answer; `closed` resolves when the other side ends it. */
export interface OpenConnection {
  /** Empty where the connection ended before. */
  readonly answer: string;
  readonly closed: Promise<void>;
  end(): void;
}

/**
 * A server in zone east, namespace `shop`, behind a proxy: `redis` takes bytes, `web` requests. Its callers are TLS clients with certificates
 * of the zone's authority: of Dataplanes of `shop` and `dev`, of one that nobody knows, and of a service in zone west.
 */
export class AccessMesh {
  private readonly certificates = new Map<string, TestCertificate>();
  private readonly agents = new Map<string, Agent>();
  private readonly processes: ServiceProcess[] = [];
  private order = 0;
  proxy: EnvoyProcess | BuiltinProxy | undefined;

  private constructor(
    private readonly kind: ProxyKind,
    readonly plane: TrafficPlane,
    /** Address on which the server listens. */
    readonly host: string,
  ) {}

  static async start(kind: ProxyKind, host: string): Promise<AccessMesh> {
    const mesh = new AccessMesh(kind, await TrafficPlane.start('east'), host);
    const west = await TestAuthority.create('west');
    const { plane } = mesh;
    const [redis, web] = [await echo('redis'), await httpService('web')];
    mesh.processes.push(redis, web);
    for (const name of ['client', 'other', 'dev', 'stranger', 'server'])
      mesh.certificates.set(name, await plane.authority.issue({ uri: plane.spiffeId(name) }));
    mesh.certificates.set('west', await west.issue({ uri: `spiffe://${OTHER_DOMAIN}/workload/client` }));
    const caBundles = [{ type: 'Pem', pem: { value: west.certificate } }];
    const identity = { selector: { dataplane: { matchLabels: {} } }, provider: { type: 'Bundled', bundled: {} } };
    plane.state.put(
      mesh.meshOf(),
      mesh.settings({ defaultAccess: 'Deny' }),
      plane.trust(),
      sketch('MeshTrust', 'west', { trustDomain: OTHER_DOMAIN, caBundles }, { zone: '' }),
      sketch('MeshIdentity', 'identity', identity, { zone: '' }),
      ...['shop', 'dev'].map((namespace) => sketch('Namespace', namespace, {})),
      ...shippedPolicies.map((each) =>
        sketch('MetaresourceDefinition', shippedDefinitionName(each), shippedDefinition(each)),
      ),
      mesh.service('redis', TCP_PORT, 'tcp'),
      mesh.service('web', HTTP_PORT, 'http'),
      ...[
        ['client', 'shop'],
        ['other', 'shop'],
        ['dev', 'dev'],
      ].map(([name = '', namespace = '']) => mesh.dataplaneOf(name, namespace)),
    );
    const inbound = [
      { port: TCP_PORT, servicePort: redis.port, tags: { app: 'redis' } },
      { port: HTTP_PORT, servicePort: web.port, protocol: 'http', tags: { app: 'web' } },
    ];
    const dataplane = sketch(
      'Dataplane',
      'server',
      { networking: { address: host, inbound } },
      { zone: 'east', namespace: 'shop' },
    );
    plane.state.put(dataplane);
    const view = { mesh: 'default', listed: new Set<string>(), dataplane: dataplane.id };
    mesh.proxy = await plane.proxy(kind, 'server', view, 'server');
    await mesh.settled();
    return mesh;
  }

  meshOf(): Resource {
    return sketch('Mesh', 'default', { parametersRef: { group: 'causeway.io', kind: 'MeshParameters', name: 'p' } });
  }

  settings(spec: JsonObject): Resource {
    return sketch('MeshParameters', 'p', spec);
  }

  service(name: string, port: number, appProtocol: string): Resource {
    const selector = { dataplaneTags: { app: name } };
    return sketch(
      'MeshService',
      name,
      { selector, ports: [{ port, appProtocol }] },
      { zone: 'east', namespace: 'shop' },
    );
  }

  /** A Dataplane of a caller: it serves nothing. */
  dataplaneOf(name: string, namespace: string): Resource {
    return sketch('Dataplane', name, { networking: { address: '127.0.0.9' } }, { zone: 'east', namespace });
  }

  /** An AccessPolicy of `shop` for a service, or for the namespace. */
  policy(target: string, spec: JsonObject, name = `of-${target}`): Resource {
    this.order += 1;
    const ref = target === 'shop' ? { kind: 'Namespace', name: 'shop' } : { kind: 'MeshService', name: target };
    return sketch(
      'AccessPolicy',
      name,
      { targetRefs: [ref], ...spec },
      { zone: '', namespace: 'shop', creationOrder: this.order },
    );
  }

  /** Puts resources, and waits until the proxy has applied them. */
  async put(...resources: readonly Resource[]): Promise<void> {
    this.plane.state.put(...resources);
    await this.settled();
  }

  async delete(...resources: readonly Resource[]): Promise<void> {
    this.plane.state.delete(...resources);
    await this.settled();
  }

  async settled(): Promise<void> {
    await until('the proxy has all', () => this.plane.isSettled('server'));
  }

  /** Sends hello to redis; `as` names a caller, `none` shows no certificate. */
  say(as: string): Promise<OpenConnection> {
    return new Promise((resolve) => {
      const socket: TLSSocket = connectTls({ ...this.tlsAs(as), host: this.host, port: TCP_PORT });
      const closed = new Promise<void>((done) => socket.on('close', () => done()));
      const end = (): void => void socket.destroy();
      socket.on('secureConnect', () => socket.write('hello'));
      socket.on('data', (part) => resolve({ answer: part.toString(), closed, end }));
      socket.on('error', () => undefined).on('close', () => resolve({ answer: '', closed, end }));
    });
  }

  /** Returns the answer of redis to one request. */
  async answer(as: string): Promise<string> {
    const open = await this.say(as);
    open.end();
    return open.answer;
  }

  /** Whether an explanation allows a caller, for `web` with this request. */
  isSaidToGetIn(as: string, name: 'redis' | 'web', asked: AccessRequest = { method: 'GET', path: '/' }): boolean {
    const { model } = this.plane.source;
    const service = { kind: 'MeshService', mesh: 'default', zone: 'east', namespace: 'shop', name };
    const instances = evaluateInstances(model, { service, port: name === 'redis' ? TCP_PORT : HTTP_PORT });
    const [west, own] = [`spiffe://${OTHER_DOMAIN}/workload/client`, this.plane.spiffeId(as)];
    const id = as === 'none' ? undefined : as === 'west' ? west : own;
    if (instances === 'pending' || instances.length !== 1) throw new Error(`${name} has no instance to be judged`);
    const isBuiltin = this.kind !== 'envoy';
    return instances.every(
      ({ isHttp, ...each }) => evaluateCall({ ...each, seesRequests: isHttp && !isBuiltin }, id, asked).isAllowed,
    );
  }

  /** The status of a request to web; undefined where the connection ends before. With `isKept` its connection is for the next one too. */
  ask(as: string, { path = '/', method = 'GET', isKept = false } = {}): Promise<number | undefined> {
    const agent = isKept ? (this.agents.get(as) ?? new Agent({ keepAlive: true, maxSockets: 4 })) : false;
    if (agent) this.agents.set(as, agent);
    return new Promise((resolve) => {
      const asked = request(
        { ...this.tlsAs(as, ['http/1.1']), agent, host: this.host, port: HTTP_PORT, path, method },
        (response) => response.resume().on('end', () => resolve(response.statusCode)),
      );
      asked.on('error', () => resolve(undefined)).end();
    });
  }

  async stop(): Promise<void> {
    for (const agent of this.agents.values()) agent.destroy();
    await this.plane.stop();
    await Promise.all(this.processes.map((each) => each.stop()));
  }

  private tlsAs(as: string, ALPNProtocols: string[] = ['kuma']) {
    const certificate = this.certificates.get(as);
    return tlsClient({ ALPNProtocols, ...(certificate && { cert: certificate.chain, key: certificate.key }) });
  }
}
