import type { ExplainRequest, ExplainResponse, ResolveRequest, ResolveResponse } from '@causeway/proto-gen';
import type { Queries, ResolvedEndpoint } from '@causeway/queries';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '@causeway/resources';
import type { CallContext } from '../calls/handler-factory';
import { identityMessage, refused, readRevision } from '../wire/messages';

/** Maximum length of a hostname that is looked up, in characters; DNS has 253. */
const MAX_HOSTNAME_LENGTH = 300;

/** Resolve and Explain. */
export class NamingServiceHandlers {
  constructor(private readonly queries: Pick<Queries, 'defaultMesh' | 'hostnames' | 'resolution'>) {}

  async resolve(request: ResolveRequest, { rights, signal }: CallContext): Promise<ResolveResponse> {
    const question = questionOf(request, this.queries.defaultMesh);
    const found = await this.queries.resolution.resolve(question, rights, readRevision(request.minRevision), signal);
    return {
      hostname: found.hostname,
      zone: found.zone,
      service: identityMessage(found.service),
      virtualIps: [...found.virtualIps],
      ports: found.ports.map((port) => ({ ...port })),
      endpoints: found.endpoints.map(endpointMessage),
    };
  }

  async explain(request: ExplainRequest, { rights, signal }: CallContext): Promise<ExplainResponse> {
    const question = questionOf(request, this.queries.defaultMesh);
    const explained = await this.queries.hostnames.explain(question, rights, readRevision(request.minRevision), signal);
    const { hostname, zone, claims, hints, note } = explained;
    return {
      hostname: textOf(hostname),
      mesh: question.mesh,
      zone: textOf(zone),
      claims: listOf(claims).filter(isJsonObject).map(claimMessage),
      hints: listOf(hints).map(textOf),
      note: textOf(note),
    };
  }
}

function questionOf(
  { hostname, mesh, zone }: ResolveRequest | ExplainRequest,
  defaultMesh: string,
): {
  readonly hostname: string;
  readonly mesh: string;
  readonly zone?: string;
} {
  if (hostname === '' || hostname.length > MAX_HOSTNAME_LENGTH)
    throw refused('hostname', `must be a host name of 1 to ${MAX_HOSTNAME_LENGTH} characters`);
  return { hostname, mesh: mesh || defaultMesh, ...(zone === '' ? {} : { zone }) };
}

function endpointMessage({
  servicePort = 0,
  dataplane,
  ...endpoint
}: ResolvedEndpoint): ResolveResponse['endpoints'][number] {
  return { ...endpoint, servicePort, dataplane: dataplane && identityMessage(dataplane) };
}

function claimMessage({
  service,
  generator,
  status,
  rule,
  reason,
  change,
}: JsonObject): ExplainResponse['claims'][number] {
  const { kind, mesh, zone, namespace, name } = isJsonObject(service) ? service : {};
  return {
    service: {
      kind: textOf(kind),
      mesh: textOf(mesh),
      zone: textOf(zone),
      namespace: textOf(namespace),
      name: textOf(name),
    },
    generator: isJsonObject(generator) ? textOf(generator['name']) : '',
    generatorZone: isJsonObject(generator) && typeof generator['zone'] === 'string' ? generator['zone'] : undefined,
    available: status === 'Available',
    rule: textOf(rule),
    reason: textOf(reason),
    change: textOf(change),
  };
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return isJsonArray(value) ? value : [];
}
