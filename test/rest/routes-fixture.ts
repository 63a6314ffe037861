import type { Identity, JsonObject } from '@causeway/resources';
import { restFixture, type FixtureOptions, type ParsedJson, type RestFixture } from './rest-fixture';

const PORTS = [
  { port: 80, name: 'http', targetPort: 8080 },
  { port: 8080, name: 'http-alt', targetPort: 8080 },
  { port: 443, name: 'https', targetPort: 8443 },
  { port: 9090, name: 'tcp', targetPort: 9090 },
  { port: 7070, name: 'grpc', targetPort: 7070 },
];

/** A question; by default namespace `mesh` sends `GET /` to `echo:80`. */
export interface Asked {
  readonly from?: string;
  readonly service?: string;
  /** The part of the URL after the host, with the port: `:8080/path`. */
  readonly url?: string;
  readonly host?: string;
  readonly scheme?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The fixture of the conformance tests over REST: echo, echo-v1 and echo-v2 with a Dataplane of each version. */
export class EchoMesh {
  private constructor(readonly rest: RestFixture) {}

  static async start(options: FixtureOptions = {}): Promise<EchoMesh> {
    const rest = await restFixture(options);
    const id = (kind: string, name: string, zone = 'east'): Identity => ({
      kind,
      mesh: 'default',
      zone,
      namespace: 'mesh',
      name,
    });
    const service = (name: string, tags: JsonObject, ip: string) => ({
      id: id('MeshService', name),
      spec: { selector: { dataplaneTags: tags }, ports: PORTS },
      status: { vip: { ip } },
    });
    const dataplane = (version: string, address: string) => ({
      id: id('Dataplane', version),
      spec: {
        networking: {
          address,
          inbound: [8080, 8443, 9090, 7070].map((port) => ({ port, tags: { app: 'echo', version } })),
        },
      },
    });
    await rest.seed(
      service('echo', { app: 'echo' }, '241.0.0.1'),
      service('echo-v1', { app: 'echo', version: 'v1' }, '241.0.0.2'),
      service('echo-v2', { app: 'echo', version: 'v2' }, '241.0.0.3'),
      service('empty', { app: 'none' }, '241.0.0.4'),
      dataplane('v1', '10.0.0.1'),
      dataplane('v2', '10.0.0.2'),
    );
    return new EchoMesh(rest);
  }

  /** Puts a route over REST, as users do. */
  async route(type: string, name: string, spec: object, namespace = 'mesh'): Promise<void> {
    const url = `/meshes/default/${type.toLowerCase()}s/${name}?namespace=${namespace}`;
    const payload = { type, mesh: 'default', namespace, name, spec };
    const answer = await this.rest.server.inject({ method: 'PUT', url, payload });
    if (answer.statusCode >= 300) throw new Error(answer.body);
  }

  /** The status and the body of a question as it is. */
  async post(body: object, query = ''): Promise<[number, ParsedJson]> {
    const url = `/meshes/default/_explain${query}`;
    const answer = await this.rest.server.inject({ method: 'POST', url, payload: body });
    return [answer.statusCode, answer.json()];
  }

  async explain({ from = 'mesh', service = 'echo', url = '/', host, scheme, method, headers = {} }: Asked) {
    const named = Object.entries(headers).map(([name, value]) => ({ name, value }));
    const [status, body] = await this.post({
      from: { namespace: from },
      to: `${scheme ?? 'http'}://${host ?? 'echo'}${url}`,
      ...(service === '' ? {} : { service: { namespace: 'mesh', name: service } }),
      ...(method === undefined ? {} : { method }),
      headers: named,
    });
    if (status !== 200) throw new Error(JSON.stringify(body));
    return body;
  }

  /** The answer in words: `echo-v1`, `echo-v1 0.7, echo-v2 0.3`, `404`, `302 http://…`, `implicit echo`. */
  async answer(asked: Asked): Promise<string> {
    return wordsOf(await this.explain(asked));
  }

  close(): Promise<void> {
    return this.rest.close();
  }
}

function wordsOf(body: ParsedJson): string {
  const statusOf = (said: ParsedJson): string =>
    said.grpcStatus === undefined ? String(said.status) : `grpc ${said.grpcStatus}`;
  if (body.outcome === 'direct') return `direct ${body.dataplane.name}`;
  if (body.outcome === 'refused') return statusOf(body);
  if (body.outcome === 'redirected') return `${body.status} ${body.location}`;
  const shares = body.shares.map((share: ParsedJson) => {
    const names = share.destination?.services.map((service: ParsedJson) => service.name).join('+') ?? statusOf(share);
    const changed = share.responseHeaders?.[0]?.set?.[0]?.value;
    const part = share.weight === share.total ? '' : ` ${share.weight / share.total}`;
    return `${names}${part}${changed === undefined ? '' : ` ${changed}`}`;
  });
  return `${body.outcome === 'implicit' ? 'implicit ' : ''}${shares.join(', ')}`;
}
