import { once } from 'node:events';
import { Agent, createServer, request, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { shippedDefinition, shippedDefinitionName, shippedPolicies } from '@causeway/policies';
import { identityKey, type JsonObject, type Resource } from '@causeway/resources';
import type { EnvoyProcess } from './envoy-process';
import { isClosedBefore } from './kept-connection';
import { loopbackBlock } from './loopback-networks';
import { TrafficPlane } from './traffic-plane';
import { sketch } from './traffic-zone';
import { until } from './until';

/** An answer to a client. */
export interface Answer {
  readonly status: number;
  /** The instance; empty where a proxy answered. */
  readonly by: string;
  readonly headers: IncomingHttpHeaders;
}

/** An instance whose answers a test sets. */
export interface Instance {
  readonly name: string;
  /** Status of its answers; 0 holds requests until `release`. */
  status: number;
  /** Returns how many requests it holds. */
  readonly held: () => number;
  release(): void;
}

export const SHOP = 'shop';
const WEB_PORT = 10_080;
/** The name of the service's only port among destinations. */
export const WEB = `kri_msvc_default_west_${SHOP}_web_${WEB_PORT}`;

/**
 * A zone with one HTTP service `web` of namespace `shop`, whose instances behave as a test sets, and a real Envoy that calls it without TLS. `stop`
 * leaves nothing open.
 */
export class BackendPlane {
  readonly host = loopbackBlock();
  client!: EnvoyProcess;
  private readonly servers: Server[] = [];
  private readonly dataplanes = new Map<string, Resource>();
  private readonly policies = new Map<string, Resource>();
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 64 });
  private order = 0;

  private constructor(readonly plane: TrafficPlane) {}

  static async start(): Promise<BackendPlane> {
    const made = new BackendPlane(await TrafficPlane.start('west'));
    const parametersRef = { group: 'causeway.io', kind: 'MeshParameters', name: 'p' };
    made.plane.state.put(
      sketch('MeshParameters', 'p', { mtls: 'Off' }),
      sketch('Mesh', 'default', { controllerName: 'causeway.io/control-plane', parametersRef }),
      sketch('Namespace', SHOP, {}),
      ...shippedPolicies.map((each) =>
        sketch('MetaresourceDefinition', shippedDefinitionName(each), shippedDefinition(each)),
      ),
      made.service(),
    );
    const view = { mesh: 'default', listed: 'all', capture: { type: 'bind' } } as const;
    made.client = await made.plane.envoy('client', view);
    return made;
  }

  private service(): Resource {
    const ports = [{ port: WEB_PORT, targetPort: 'main', appProtocol: 'http' }];
    const spec = { selector: { dataplaneTags: { app: 'web' } }, ports };
    return sketch('MeshService', 'web', spec, { namespace: SHOP, status: { vip: { ip: this.host(10) } } });
  }

  /** Starts an instance of `web` that callers reach without a proxy before it. */
  async instance(name: string): Promise<Instance> {
    const { instance, port } = await this.process(name);
    const networking = { address: '127.0.0.1', inbound: [{ port, name: 'main', tags: { app: 'web' } }] };
    this.putDataplane(name, networking);
    await this.obeyed();
    return instance;
  }

  /** Starts a process and nothing that leads to it. */
  async process(name: string): Promise<{ readonly instance: Instance; readonly port: number }> {
    const held = new Set<ServerResponse>();
    const instance: Instance = {
      name,
      status: 200,
      held: () => held.size,
      release: () => {
        for (const each of held) each.end(name);
        held.clear();
      },
    };
    const server = createServer((_, response) => {
      if (instance.status > 0) return void response.writeHead(instance.status, { 'x-by': name }).end();
      held.add(response.setHeader('x-by', name).once('close', () => held.delete(response)));
    });
    server.keepAliveTimeout = 60_000;
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    this.servers.push(server);
    return { instance, port: (server.address() as AddressInfo).port };
  }

  putDataplane(name: string, networking: JsonObject): Resource {
    const made = sketch('Dataplane', name, { networking }, { namespace: SHOP });
    this.dataplanes.set(name, made);
    this.plane.state.put(made);
    return made;
  }

  /** Takes away all instances. */
  async removeInstances(): Promise<void> {
    if (this.dataplanes.size > 0) this.plane.state.delete(...this.dataplanes.values());
    this.dataplanes.clear();
    await this.obeyed();
  }

  /** Puts a policy of namespace `shop`, for `web` unless another target is given. */
  async policy(
    kind: string,
    spec: JsonObject,
    target: JsonObject = { kind: 'MeshService', name: 'web' },
  ): Promise<Resource> {
    this.order += 1;
    const targetRefs = [target];
    const policy = sketch(kind, 'policy', { targetRefs, ...spec }, { creationOrder: this.order });
    const made = { ...policy, id: { ...policy.id, namespace: SHOP }, generation: this.order };
    this.policies.set(identityKey(made.id), made);
    this.plane.state.put(made);
    await this.obeyed();
    return made;
  }

  /** Puts an HTTPRoute of namespace `shop`. */
  route(name: string, spec: JsonObject): Resource {
    const made = sketch('HTTPRoute', name, spec, { namespace: SHOP });
    this.plane.state.put(made);
    return made;
  }

  async remove(made: Resource): Promise<void> {
    this.plane.state.delete(made);
    await this.obeyed();
  }

  async removePolicies(): Promise<void> {
    if (this.policies.size > 0) this.plane.state.delete(...this.policies.values());
    this.policies.clear();
    await this.obeyed();
  }

  /** Resolves when every proxy has acked everything. */
  async obeyed(): Promise<void> {
    await until('what proxies were told', () =>
      [...this.plane.views.keys()].every((node) => this.plane.isSettled(node)),
    );
  }

  /** One request to `web` by its address, over a connection that is kept. */
  ask(headers: Readonly<Record<string, string>> = {}, at = this.host(10), port = WEB_PORT): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const sent = request({ host: at, port, headers, agent: this.agent }, (answer) => {
        answer.resume().on('end', () => {
          const by = String(answer.headers['x-by'] ?? '');
          resolve({ status: answer.statusCode ?? 0, by, headers: answer.headers });
        });
      });
      const fail = (error: Error): void => {
        if (isClosedBefore(sent, error)) this.ask(headers, at, port).then(resolve, reject);
        else reject(error);
      };
      sent.on('error', fail).end();
    });
  }

  async stop(): Promise<void> {
    this.agent.destroy();
    await this.plane.stop();
    for (const server of this.servers) {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    }
  }
}
