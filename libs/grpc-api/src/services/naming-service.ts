import type { ExplainRequest, ExplainResponse, ResolveRequest, ResolveResponse } from '@causeway/proto-gen';
import type { HostnameClaim, ResolvedHostname } from '@causeway/api';
import type { Queries } from '@causeway/queries';
import type { CallContext } from '../calls/handler-factory';
import { identityMessage, refused, readRevision } from '../wire/messages';

/** Maximum length of a hostname that is looked up, in characters; DNS has 253. */
const MAX_HOSTNAME_LENGTH = 300;

/** Handlers of Resolve and Explain. */
export class NamingServiceHandlers {
  constructor(private readonly queries: Pick<Queries, 'defaultMesh' | 'hostnames' | 'resolution'>) {}

  async resolve(request: ResolveRequest, { rights, signal }: CallContext): Promise<ResolveResponse> {
    const question = readQuestion(request, this.queries.defaultMesh);
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
    const question = readQuestion(request, this.queries.defaultMesh);
    const explained = await this.queries.hostnames.explain(question, rights, readRevision(request.minRevision), signal);
    const { hostname, mesh, zone, claims, hints, note = '' } = explained;
    return { hostname, mesh, zone, claims: claims.map(claimMessage), hints: [...hints], note };
  }
}

function readQuestion(
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
}: ResolvedHostname['endpoints'][number]): ResolveResponse['endpoints'][number] {
  return { ...endpoint, servicePort, dataplane: dataplane && identityMessage(dataplane) };
}

function claimMessage(claim: HostnameClaim): ExplainResponse['claims'][number] {
  const { service, generator, status, rule = '', reason = '', change = '' } = claim;
  return {
    service: identityMessage(service),
    generator: generator.name,
    generatorZone: generator.zone,
    available: status === 'Available',
    rule,
    reason,
    change,
  };
}
