import { X509Certificate } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import { stringify } from 'yaml';
import { Unauthenticated, type ServerCertificates } from '@causeway/access';
import { DomainError, isJsonArray, isJsonObject, type JsonObject } from '@causeway/resources';
import { CallerLog, errorText, type Clock, type Logger } from '@causeway/runtime';
import { readBootstrapRequest, type BootstrapRequest } from './bootstrap-request';
import { envoyBootstrap, ZONE_PROXY_CONNECTIONS } from '@causeway/xds-translation';

/** Dependencies of the endpoint. */
export interface BootstrapEndpointOptions {
  /**
   * Returns the spec of the Dataplane, ZoneIngress or ZoneEgress whose proxy may be started. Rejects with
   * Unauthenticated, Forbidden, NotFound, Invalid, Unavailable.
   */
  readonly authorise: (request: BootstrapRequest) => Promise<JsonObject>;
  readonly certificates: () => ServerCertificates | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

const MAX_BYTES = 512 * 1024;
/** Envoy's admin port if the Dataplane names none, as in Kuma. */
const ADMIN_PORT = 9_901;
const TEXT = 'this port serves proxies: ADS by gRPC, and POST /bootstrap\n';

/** Refusal with an HTTP status. */
class BootstrapRefusal extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** Answers `POST /bootstrap` as Kuma's control plane does, so that `kuma-dp` can start against a zone. */
export class BootstrapEndpoint {
  private readonly log: CallerLog;

  constructor(private readonly options: BootstrapEndpointOptions) {
    this.log = new CallerLog(options.logger, options.clock);
  }

  /** Handles any HTTP/1 request. */
  readonly handle = (request: IncomingMessage, response: ServerResponse): void => {
    request.on('error', () => undefined);
    // A closed socket has no address.
    const { remoteAddress: address = '', localPort: port = 0 } = request.socket;
    response.setHeader('connection', 'close');
    this.answer(request, port).then(
      (body) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
      (error: unknown) => this.refuse(response, address, error),
    );
  };

  private async answer(request: IncomingMessage, port: number): Promise<JsonObject> {
    const [path] = (request.url ?? '').split('?');
    if (path !== '/bootstrap') throw new BootstrapRefusal(404, TEXT);
    if (request.method !== 'POST') throw new BootstrapRefusal(405, TEXT);
    const asked = readBootstrapRequest(parsed(await readBody(request)));
    if (asked.token === '') throw new BootstrapRefusal(422, 'dataplaneToken: must be a token\n');
    const spec = await this.options.authorise(asked);
    const host = getHost(request);
    const certificates = this.options.certificates();
    if (certificates) checkHost(certificates.current().certificate, host);
    const authority = asked.authority ?? certificates?.authority();
    const networking = readNetworking(spec);
    const capture = toCapture(networking, asked.features);
    const bootstrap = envoyBootstrap({
      node: {
        id: asked.proxyType === 'dataplane' ? `${asked.mesh}.${asked.name}` : `.${asked.name}`,
        cluster: findServiceName(networking) ?? asked.proxyType,
        metadata: nodeMetadata(asked, networking, capture),
      },
      controlPlanes: [{ host, port }],
      ...(certificates && authority !== undefined && { authority }),
      token: { text: asked.token },
      protocol: asked.features.includes('feature-delta-grpc') ? 'delta' : 'sotw',
      admin: { address: '127.0.0.1', port: adminPort(networking) },
      ...(asked.proxyType !== 'dataplane' && { connections: ZONE_PROXY_CONNECTIONS }),
    });
    const { address } = networking;
    return {
      bootstrap: Buffer.from(stringify(bootstrap)).toString('base64'),
      kumaSidecarConfiguration: {
        metrics: { aggregate: [] },
        networking: {
          isUsingTransparentProxy: capture['causeway.io/capture'] === 'redirect',
          ...(typeof address === 'string' && { address }),
        },
      },
    };
  }

  private refuse(response: ServerResponse, address: string, error: unknown): void {
    const status = toStatusCode(error);
    if (status >= 500) this.options.logger.error('a bootstrap has failed', { address, error: errorText(error) });
    else
      this.log.warn(`bootstrap ${address}`, 'a bootstrap was refused', { address, status, reason: errorText(error) });
    const text = status === 500 ? 'internal error\n' : `${errorText(error).trimEnd()}\n`;
    response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(text);
  }
}

function toStatusCode(error: unknown): number {
  if (error instanceof BootstrapRefusal) return error.status;
  if (error instanceof Unauthenticated) return 401;
  switch (error instanceof DomainError ? error.type : undefined) {
    case 'Forbidden':
      return 403;
    case 'NotFound':
      return 404;
    case 'Invalid':
      return 400;
    case 'Conflict':
    case 'Unavailable':
      return 503;
    default:
      return 500;
  }
}

function readBody(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let bytes = 0;
    request.on('data', (part: Buffer) => {
      bytes += part.length;
      if (bytes <= MAX_BYTES) parts.push(part);
      else reject(new BootstrapRefusal(413, `the body must have at most ${MAX_BYTES} bytes`));
    });
    request.on('end', () => resolve(Buffer.concat(parts)));
    request.on('close', () => reject(new BootstrapRefusal(400, 'the body must be whole')));
  });
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (error) {
    throw new BootstrapRefusal(400, `the body must be JSON: ${errorText(error)}`);
  }
}

/** Returns the host at which the starter reached this port, which the proxy will dial too. */
function getHost(request: IncomingMessage): string {
  const [, bracketed, plain] =
    /^(?:\[([0-9a-f:.]{2,45})\]|([A-Za-z0-9.-]{1,253}))(?::\d+)?$/i.exec(request.headers.host ?? '') ?? [];
  const host = bracketed ?? plain;
  if (host === undefined) throw new BootstrapRefusal(400, 'the header Host must name the host of this control plane');
  return host;
}

/** Checks that the certificate is valid for the host that the proxy dials. */
function checkHost(certificate: string, host: string): void {
  const shown = new X509Certificate(certificate);
  const isNamed = isIP(host) === 0 ? shown.checkHost(host) : shown.checkIP(host);
  if (isNamed === undefined)
    throw new BootstrapRefusal(
      400,
      `the certificate of this control plane does not name "${host}": see CAUSEWAY_REST_TLS_NAMES`,
    );
}

function readNetworking(dataplane: JsonObject | undefined): JsonObject {
  const networking = dataplane?.['networking'];
  return isJsonObject(networking) ? networking : {};
}

/** kuma-dp announces its capture by a feature, or in its Dataplane. */
function toCapture(networking: JsonObject, features: readonly string[]): JsonObject {
  const { transparentProxying } = networking;
  const port = isJsonObject(transparentProxying) ? transparentProxying['redirectPortOutbound'] : undefined;
  if (typeof port === 'number' && port > 0)
    return { 'causeway.io/capture': 'redirect', 'causeway.io/redirect-port': port };
  return features.includes('feature-bind-outbounds') ? { 'causeway.io/capture': 'bind' } : {};
}

function nodeMetadata(
  { proxyType, version, features, document, dynamicMetadata, systemCaPath }: BootstrapRequest,
  networking: JsonObject,
  capture: JsonObject,
): JsonObject {
  return {
    version: isJsonObject(version['kumaDp']) ? version : { ...version, kumaDp: {} },
    features: [...features],
    'dataplane.proxyType': proxyType,
    'dataplane.admin.port': String(adminPort(networking)),
    ...(document !== undefined && { 'dataplane.resource': document }),
    ...(systemCaPath !== undefined && { systemCaPath }),
    ...(Object.keys(dynamicMetadata).length > 0 && { dynamicMetadata }),
    ...capture,
  };
}

function adminPort({ admin }: JsonObject): number {
  const port = isJsonObject(admin) ? admin['port'] : undefined;
  return typeof port === 'number' ? port : ADMIN_PORT;
}

function findServiceName({ inbound }: JsonObject): string | undefined {
  const [first] = isJsonArray(inbound) ? inbound : [];
  const tags = isJsonObject(first) ? first['tags'] : undefined;
  const service = isJsonObject(tags) ? tags['kuma.io/service'] : undefined;
  return typeof service === 'string' ? service : undefined;
}
