import { MeshService } from '@causeway/kinds';
import { getOrInsert, type JsonObject, Label, type Resource } from '@causeway/resources';
import type { KumaServers } from './service-translation';

/** By what a service selects its servers, where that tells them from those of other services: the tag or label that Kuma itself uses. */
const SERVICE_TAG = 'kuma.io/service';
const WORKLOAD_LABEL = 'kuma.io/workload';

interface Selected {
  /** Services with another value of the same attribute have other servers. */
  readonly by: string;
  readonly value: string;
  readonly targetRef: JsonObject;
}

/**
 * How proxies of Kuma find the servers of services. A permission holds for proxies whatever service leads there, and Kuma adds permissions
 * up, so only services whose servers no other service has are found. A change of a service costs nothing else.
 */
export class KumaServerTable {
  /** By zone: the values of each attribute, each with the services that have it. */
  private readonly zones = new Map<string, Map<string, Map<string, Set<string>>>>();
  private readonly known = new Map<string, { readonly place: string; readonly by: string; readonly value: string }>();

  clear(): void {
    this.zones.clear();
    this.known.clear();
  }

  /** Whether another service may be found in another way since: then all of its zone are looked at. */
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

  /** Undefined where it is of no zone of Kuma. */
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
      return refused('other services of the zone may have the same instances, and Kuma adds up who may call them');
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
