import { Agent, createServer, request, type IncomingHttpHeaders, type Server } from 'node:http';
import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { type RouteKind, type RouteSpec } from '@causeway/routing';
import { evaluate, type Decision } from '@causeway/routing/testing';
import { identityKey, type Identity, type JsonObject, type Resource } from '@causeway/resources';
import { TrafficPlane } from './traffic-plane';
import { shippedKinds, sketch } from './traffic-zone';
import { loopbackBlock } from './loopback-networks';
import { httpRequest, type Asked } from './routing-mesh';
import { ToldAnswers } from './told-answers';
import { isClosedBefore } from './kept-connection';
import { until } from './until';

/** A request as a process got it, and the answer. */
export interface Routed {
  readonly status: number;
  /** The process that answered; empty where a proxy did. */
  readonly name: string;
  /** Path and query as the process got them. */
  readonly url: string;
  /** Headers as the process got them. */
  readonly headers: IncomingHttpHeaders;
  /** Headers of the answer. */
  readonly answer: IncomingHttpHeaders;
}

/** The ports of every service: those of the conformance tests, where nobody needs a right to listen. */
export const PORTS = { http: 10_080, 'http-alt': 18_080, tcp: 19_090, grpc: 17_070 } as const;
const PROTOCOLS: Readonly<Record<string, string>> = { tcp: 'tcp', grpc: 'grpc' };

/**
 * A zone whose services are processes that say what they got, and real Envoys of clients that obey its routes: no TLS, so that all
 * that happens is a client's proxy's doing. `stop` leaves nothing open.
 */
export class RoutedPlane {
  private readonly host = loopbackBlock();
  /** The services in the order in which they came: what addresses are made of. */
  private readonly services: string[] = [];
  private readonly clients: string[] = [];
  private readonly processes: Server[] = [];
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 8 });
  /** Answers of processes to requests. */
  readonly answers = new ToldAnswers();
  /** The path of each request that a process got, in their order. */
  readonly received: string[] = [];
  private readonly routes = new Map<string, Resource>();
  private order = 0;

  private constructor(readonly plane: TrafficPlane) {}

  static async start(): Promise<RoutedPlane> {
    const routed = new RoutedPlane(await TrafficPlane.start('west'));
    const parametersRef = { group: 'causeway.io', kind: 'MeshParameters', name: 'p' };
    routed.plane.state.put(
      sketch('MeshParameters', 'p', { mtls: 'Off' }),
      sketch('Mesh', 'default', { controllerName: 'causeway.io/control-plane', parametersRef }),
      ...['mesh', 'consumer'].map((namespace) => sketch('Namespace', namespace, {})),
      ...shippedKinds(),
    );
    return routed;
  }

  /** The services of the conformance tests and one without endpoints, and clients in the namespaces `mesh` and `consumer`. */
  async mesh(): Promise<void> {
    for (const name of ['echo', 'echo-v1', 'echo-v2']) await this.service(name);
    await this.service('empty', { ready: false });
    for (const namespace of ['mesh', 'consumer']) await this.client(namespace);
  }

  /** A service of namespace `mesh` with one process behind all its ports; without one where `ready` is false. */
  async service(name: string, { ready = true, namespace = 'mesh' } = {}): Promise<Resource> {
    this.services.push(name);
    const ports = Object.entries(PORTS).map(([port, number]) => {
      return { port: number, name: port, targetPort: 'main', appProtocol: PROTOCOLS[port] ?? 'http' };
    });
    const spec = { selector: { dataplaneTags: { app: name } }, ports };
    const made = sketch('MeshService', name, spec, { namespace, status: { vip: { ip: this.addressOf(name) } } });
    const inbound = ready ? [{ port: await this.process(name), name: 'main', tags: { app: name } }] : [];
    const networking: JsonObject = { address: '127.0.0.1', inbound };
    this.plane.state.put(made, sketch('Dataplane', name, { networking }, { namespace }));
    return made;
  }

  private async process(name: string): Promise<number> {
    const server = createServer((asked, response) => {
      const { headers, url } = asked;
      this.received.push(url ?? '');
      this.answers.take(asked, response, () =>
        response.setHeader('x-original', 'kept').end(JSON.stringify({ name, url, headers })),
      );
    });
    server.keepAliveTimeout = 60_000;
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    this.processes.push(server);
    return (server.address() as AddressInfo).port;
  }

  /**
   * Starts the Envoy of a client in a namespace. The first is bound at the addresses of all services; the others have these as
   * explicit outbounds at addresses of their own.
   */
  async client(namespace: string, isBound = this.clients.length === 0): Promise<void> {
    this.clients.push(namespace);
    const outbound = this.services.flatMap((name) =>
      Object.values(PORTS).map((port) => ({
        address: this.addressOf(name, namespace),
        port,
        backendRef: { kind: 'MeshService', name, port },
      })),
    );
    const networking: JsonObject = { address: this.host(2), inbound: [], ...(!isBound && { outbound }) };
    const own = sketch('Dataplane', 'client', { networking }, { namespace });
    this.plane.state.put(own);
    const view = { mesh: 'default', listed: new Set<string>(), dataplane: own.id };
    await this.plane.envoy(namespace, isBound ? { ...view, listed: 'all', capture: { type: 'bind' } } : view);
    await this.obeyed();
  }

  /** Returns the address at which a client reaches a service. */
  addressOf(service: string, client = this.clients[0] ?? ''): string {
    return this.host(10 + 20 * Math.max(0, this.clients.indexOf(client)) + this.services.indexOf(service));
  }

  /** Puts a route, younger than all before. */
  async route(kind: RouteKind, name: string, spec: RouteSpec, namespace = 'mesh'): Promise<Resource> {
    this.order += 1;
    const made = sketch(kind, name, spec as JsonObject, { namespace, creationOrder: this.order });
    this.routes.set(identityKey(made.id), made);
    this.plane.state.put(made);
    await this.obeyed();
    return made;
  }

  /** Puts a policy of one of the kinds that are shipped, younger than all before. */
  async policy(kind: string, name: string, spec: JsonObject, namespace = 'mesh'): Promise<Resource> {
    this.order += 1;
    const made = sketch(kind, name, spec, { namespace, creationOrder: this.order });
    this.routes.set(identityKey(made.id), made);
    this.plane.state.put(made);
    await this.obeyed();
    return made;
  }

  /** Deletes a route or a policy. */
  async remove(made: Resource): Promise<void> {
    this.routes.delete(identityKey(made.id));
    this.plane.state.delete(made);
    await this.obeyed();
  }

  /** Deletes all routes and policies. */
  async clear(): Promise<void> {
    if (this.routes.size > 0) this.plane.state.delete(...this.routes.values());
    this.routes.clear();
    await this.obeyed();
  }

  /** Resolves when every client has acked everything. */
  async obeyed(): Promise<void> {
    await until('what clients were told', () =>
      [...this.plane.views.keys()].every((node) => this.plane.isSettled(node)),
    );
  }

  /** Returns the decision of the table of routes for a request. */
  decide(
    { from = 'mesh', to = 'echo', port = PORTS.http, ...asked }: Asked,
    isReady: (service: Identity) => boolean = () => true,
  ): Decision {
    const table = this.plane.routes.table;
    const frontend = table.frontend({
      kind: 'MeshService',
      mesh: 'default',
      zone: 'west',
      namespace: 'mesh',
      name: to,
    });
    if (!frontend) throw new Error(`there is no service ${to}`);
    return evaluate(table, { client: { namespace: from }, frontend, port, request: httpRequest(asked) }, isReady);
  }

  /** Sends one request from a client of a namespace, over a kept connection unless the header `connection` is `close`. */
  ask(wanted: Asked): Promise<Routed> {
    const { from = 'mesh', to = 'echo', port = PORTS.http, method = 'GET', url = '/', ...asked } = wanted;
    const { host = 'echo', headers = {} } = asked;
    const at = this.addressOf(to, from);
    const agent = headers['connection'] === 'close' ? false : this.agent;
    return new Promise((resolve, reject) => {
      const options = { host: at, port, method, path: url, headers: { ...headers, host }, agent };
      const sent = request(options, (answer) => {
        let text = '';
        answer.on('data', (part: Buffer) => (text += part.toString()));
        answer.on('end', () => resolve({ ...bodyOf(text), status: answer.statusCode ?? 0, answer: answer.headers }));
      });
      const fail = (error: Error): void => {
        if (isClosedBefore(sent, error)) this.ask(wanted).then(resolve, reject);
        else reject(error);
      };
      sent.on('error', fail).end();
    });
  }

  /** All that comes back for these bytes from a client of namespace `mesh`, until the proxy closes or `isEnough`. */
  async sayBytes(bytes: string, isEnough: (answer: string) => boolean, to = 'echo'): Promise<string> {
    const socket = connect({ host: this.addressOf(to, 'mesh'), port: PORTS.http });
    let answer = '';
    socket.on('data', (part: Buffer) => (answer += part.toString()));
    socket.on('error', () => undefined);
    socket.write(bytes);
    const closed = once(socket, 'close');
    await until('an answer', () => isEnough(answer) || socket.destroyed);
    socket.destroy();
    await closed;
    return answer;
  }

  async stop(): Promise<void> {
    this.agent.destroy();
    await this.plane.stop();
    for (const server of this.processes) {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    }
  }
}

/** Parses the request that a process reports in its answer; an answer of a proxy has none. */
function bodyOf(text: string): Pick<Routed, 'name' | 'url' | 'headers'> {
  const none = { name: '', url: '', headers: {} };
  if (!text.startsWith('{')) return none;
  return { ...none, ...(JSON.parse(text) as object) };
}
