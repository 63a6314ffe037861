import { MeshService } from '@causeway/kinds';
import { getOrInsert, type JsonObject, Label, type Resource } from '@causeway/resources';
import type { KumaServers } from './service-translation';

/** The attributes by which a service selects only its own servers: the tag or label that Kuma itself uses. */
const SERVICE_TAG = 'kuma.io/service';
const WORKLOAD_LABEL = 'kuma.io/workload';

interface Selected {
  /** The attribute: services with different values of it have different servers. */
  readonly by: string;
  readonly value: string;
  readonly targetRef: JsonObject;
}

/**
 * Finds the servers of services by the attributes that Kuma's proxies have. A permission applies to proxies whatever service leads there, and Kuma
 * unites permissions, so only services that share no server with another service are found. A change of a service costs only that service.
 */
export class KumaServerTable {
  /** By zone: the values of each attribute, each with the services that have it. */
  private readonly zones = new Map<string, Map<string, Map<string, Set<string>>>>();
  private readonly known = new Map<string, { readonly place: string; readonly by: string; readonly value: string }>();

  clear(): void {
    this.zones.clear();
    this.known.clear();
  }

  /** Replaces a service; returns whether another service may be found differently: then all services of its zone are planned. */
  put(key: string, service: Resource | undefined): boolean {
    const before = this.known.get(key);
    const selected = service && selectedBy(service);
    const now = service && {
      place: `${service.id.mesh}/${service.id.zone}`,
      by: selected?.by ?? '',
      value: selected?.value ?? key,
    };
    if (before?.place === now?.place && before?.by === now?.by && before?.value === now?.value) return false;
    let isMoved = false;
    if (before) isMoved = this.remove(key, before);
    if (now) isMoved = this.add(key, now) || isMoved;
    return isMoved;
  }

  /** Returns undefined for a service that belongs to no zone of Kuma. */
  of(key: string, service: Resource, zones: readonly string[]): KumaServers | undefined {
    if (!zones.includes(service.id.zone)) return undefined;
    const found = selectedBy(service);
    if (!found) {
      return refused(
        `Kuma finds proxies by the tag ${SERVICE_TAG} or the label ${WORKLOAD_LABEL}, and it selects otherwise`,
      );
    }
    const attributes = this.zones.get(`${service.id.mesh}/${service.id.zone}`);
    const others = attributes?.get(found.by)?.get(found.value)?.size ?? 0;
    if ((attributes?.size ?? 0) > 1 || others > 1 || !this.known.has(key)) {
      return refused(
        'other services of the zone may have the same instances, and Kuma lets the callers of all of them in',
      );
    }
    return { ok: true, targetRef: found.targetRef };
  }

  private add(
    key: string,
    { place, by, value }: { readonly place: string; readonly by: string; readonly value: string },
  ) {
    const attributes = getOrInsert(this.zones, place, () => new Map<string, Map<string, Set<string>>>());
    const isNew = !attributes.has(by);
    const services = getOrInsert(
      getOrInsert(attributes, by, () => new Map<string, Set<string>>()),
      value,
      () => new Set<string>(),
    );
    services.add(key);
    this.known.set(key, { place, by, value });
    return (isNew && attributes.size > 1) || services.size > 1;
  }

  private remove(
    key: string,
    { place, by, value }: { readonly place: string; readonly by: string; readonly value: string },
  ) {
    const attributes = this.zones.get(place);
    const values = attributes?.get(by);
    const services = values?.get(value);
    this.known.delete(key);
    if (!attributes || !values || !services) return false;
    const wasShared = services.size > 1;
    services.delete(key);
    if (services.size === 0) values.delete(value);
    if (values.size > 0) return wasShared;
    attributes.delete(by);
    if (attributes.size === 0) this.zones.delete(place);
    return wasShared || attributes.size > 0;
  }
}

function selectedBy(service: Resource): Selected | undefined {
  if (!MeshService.is(service)) return undefined;
  const { dataplaneTags: tags, dataplaneLabels: labels, dataplaneRef: ref } = service.spec.selector ?? {};
  const ofZone = { [Label.zone]: service.id.zone };
  if (ref) return undefined;
  const tag = tags?.[SERVICE_TAG];
  if (tags && !labels && tag !== undefined && Object.keys(tags).length === 1) {
    const targetRef = { kind: 'MeshSubset', tags: { [SERVICE_TAG]: tag, ...ofZone } };
    return { by: SERVICE_TAG, value: tag, targetRef };
  }
  const wanted = labels?.matchLabels ?? {};
  const workload = wanted[WORKLOAD_LABEL];
  if (labels && !tags && workload !== undefined && Object.keys(wanted).length === 1) {
    const targetRef = { kind: 'Dataplane', labels: { [WORKLOAD_LABEL]: workload, ...ofZone } };
    return { by: WORKLOAD_LABEL, value: workload, targetRef };
  }
  return undefined;
}

const refused = (reason: string): KumaServers => ({ ok: false, reason });
