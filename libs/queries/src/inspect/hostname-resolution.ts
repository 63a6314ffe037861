import type { HostnameClaim, ResolvedHostname } from '@causeway/api';
import { toAccessTarget, type CallerRights } from '@causeway/access';
import { selectedDataplanes } from '@causeway/dataplanes';
import { type ZonedHostnameRef } from '../explain/hostname-explainer';
import { Dataplane, MeshExternalService, MeshService } from '@causeway/kinds';
import { compareText, isJsonArray, isJsonObject, NotFound, type JsonObject, type Resource } from '@causeway/resources';
import { sortedPage } from '@causeway/runtime';
import type { IndexReader } from '@causeway/store';
import { checkListAll, type HostnameQueries } from './hostname-queries';

/** Maximum number of endpoints of one answer. */
const MAX_ENDPOINTS = 1_000;

/** Resolves a hostname to the service that has it, its virtual IPs and its instances. */
export class HostnameResolution {
  constructor(
    private readonly index: IndexReader,
    private readonly hostnames: HostnameQueries,
  ) {}

  /**
   * Resolves a hostname. Rejects with NotFound if no service has the name, with AccessDenied for a service that the
   * caller may not read, and as HostnameQueries.explain does. Endpoints are shown to callers who may list the
   * Dataplanes of its namespace.
   */
  async resolve(
    question: ZonedHostnameRef,
    rights: CallerRights,
    minRevision: number | undefined,
    signal: AbortSignal,
  ): Promise<ResolvedHostname> {
    const explained = await this.hostnames.explainAll(question, rights, minRevision, signal);
    const { hostname, zone, winner } = explained;
    const service = findWinner(this.index, winner);
    if (service) rights.check('get', toAccessTarget(service.id));
    else checkListAll(rights, question.mesh);
    if (!service) throw new NotFound(`no service has the hostname ${question.hostname} in mesh ${question.mesh}`);
    return {
      hostname,
      zone,
      service: { ...service.id },
      // On the global, a status is what the zone of origin reported.
      virtualIps: service.id.zone === zone || this.isOwnView(zone) ? listVirtualIps(service) : [],
      ports: listPorts(service),
      endpoints: rights.may('list', { ...toAccessTarget(service.id), kind: Dataplane.name })
        ? await this.listEndpoints(service, signal)
        : [],
    };
  }

  private isOwnView(zone: string): boolean {
    return this.hostnames.ownZone() === zone;
  }

  private async listEndpoints(service: Resource, signal: AbortSignal): Promise<ResolvedHostname['endpoints']> {
    if (MeshExternalService.is(service)) {
      return (service.spec.endpoints ?? []).slice(0, MAX_ENDPOINTS).map(({ address, port }) => ({
        address,
        port,
        servicePort: undefined,
        ready: true,
        dataplane: undefined,
      }));
    }
    const selected = selectedDataplanes(service, this.index.ofKind(Dataplane.name));
    const byName = (a: Resource, b: Resource): number => compareText(a.id.name, b.id.name);
    const { items } = await sortedPage(selected, byName, { offset: 0, size: MAX_ENDPOINTS }, signal);
    return items.flatMap((dataplane) => endpointsOfDataplane(service, dataplane)).slice(0, MAX_ENDPOINTS);
  }
}

/** Returns the service that has a hostname, from an explanation of the claims on it. */
export function findWinner(index: IndexReader, winner: HostnameClaim | undefined): Resource | undefined {
  return winner?.status === 'Available' ? index.get(winner.service) : undefined;
}

/** Returns the inbounds of a Dataplane that a port of the service targets. */
function endpointsOfDataplane(service: Resource, dataplane: Resource): ResolvedHostname['endpoints'] {
  if (!MeshService.is(service) || !Dataplane.is(dataplane)) return [];
  const { address, inbound = [] } = dataplane.spec.networking;
  return (service.spec.ports ?? []).flatMap(({ port, targetPort = port }) =>
    inbound
      .filter((one) => one.port === targetPort || one.name === targetPort)
      .map((one) => ({
        address: one.address ?? address,
        port: one.port,
        servicePort: port,
        ready: (one.state ?? 'Ready') === 'Ready' && one.health?.ready !== false,
        dataplane: dataplane.id,
      })),
  );
}

/** Returns the addresses in a service's status. */
export function listVirtualIps({ status }: Resource): readonly string[] {
  const vips = status?.['vips'];
  const single = isJsonObject(status?.['vip']) ? [status['vip']] : [];
  const list = isJsonArray(vips) ? vips : single;
  return list.flatMap((vip) => (isJsonObject(vip) && typeof vip['ip'] === 'string' ? [vip['ip']] : []));
}

function listPorts({ spec }: Resource): ResolvedHostname['ports'] {
  const ports = spec['ports'];
  const match = isJsonObject(spec['match']) ? [spec['match']] : [];
  return (isJsonArray(ports) ? ports : match).filter(isJsonObject).flatMap(readPort);
}

function readPort({ port, name, appProtocol, protocol }: JsonObject): ResolvedHostname['ports'] {
  if (typeof port !== 'number') return [];
  return [{ port, name: text(name), appProtocol: text(appProtocol) || text(protocol) || 'tcp' }];
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
