import { enrolmentEpochId, enrolmentOf, isEnrolmentInForce, putEnrolment, servicesOf } from '@causeway/identity';
import { EnrolmentEpoch, MeshService, type EnrolmentSpec } from '@causeway/kinds';
import { computedLabels, Label, type ControlPlane } from '@causeway/resources';
import { batchesOf, inTimedSlices, type Clock, type LeaderTerm, type Logger } from '@causeway/runtime';
import type { IndexReader, PutChange, ResourceStore } from '@causeway/store';
import { LEASED_BY } from '../leases/plan-lease-ends';
import { asDataplane, selectorOf, type DataplaneResource, type ServiceResource } from '../matching/dataplane-selector';
import { REGISTERED_BY } from '../proxies/abandoned-dataplanes';
import type { ProxyDirectory } from '../proxies/proxy-directory';

export interface EnrolmentAdoptionOptions {
  readonly cp: ControlPlane;
  readonly zone: string;
  readonly index: IndexReader;
  readonly store: Pick<ResourceStore, 'write' | 'notes'>;
  readonly proxies: Pick<ProxyDirectory, 'isLoaded' | 'liveReplicas'>;
  readonly term: LeaderTerm;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Where replicas say that they know enrolments, each by its instance. */
export const ENROLMENT_REPLICAS = 'enrolment-replicas';
/** Dataplanes enrolled in one write. */
const MOST_AT_ONCE = 500;

/**
 * Enrols what a zone had before it went by enrolments: each stored Dataplane with exactly the services that it has now. Once every replica
 * that lives knows enrolments the zone goes by them, and this ends. A second leader that does the same writes nothing.
 */
export class EnrolmentAdoption {
  constructor(private readonly options: EnrolmentAdoptionOptions) {}

  /** One look, and what follows from it. Throws Unavailable, Fenced. */
  async turn(): Promise<void> {
    const { index, zone, store, proxies, cp, term, clock, logger } = this.options;
    if (isEnrolmentInForce(index, zone)) return;
    const adopted = await this.adopt();
    const live = proxies.isLoaded ? proxies.liveReplicas() : [];
    const knowing = new Set((await store.notes(ENROLMENT_REPLICAS)).map(({ key }) => key));
    if (live.length === 0 || live.some((instance) => !knowing.has(instance)) || adopted > 0) return;
    const id = enrolmentEpochId(zone);
    const spec = { since: clock.now() };
    const epoch: PutChange = {
      type: 'put',
      id,
      expect: 'absent',
      labels: computedLabels(EnrolmentEpoch, id, cp),
      spec,
    };
    await store.write({ changes: [epoch], onRefusal: 'skip', fence: term });
    logger.info('credentials are good for what was granted from now on', { replicas: live.length });
  }

  /** Returns how many were enrolled. */
  private async adopt(): Promise<number> {
    const { index, zone, store, cp, term, clock, logger } = this.options;
    const changes: PutChange[] = [];
    const now = clock.now();
    const named = servicesByPlace(index, zone);
    await inTimedSlices(
      eachMissing(index, zone, (dataplane) => {
        changes.push(putEnrolment(dataplane.id, adoptedSpec(dataplane, named, now), { cp, expect: 'absent' }));
      }),
      { clock, signal: term.signal },
    );
    for (const batch of batchesOf(changes, MOST_AT_ONCE))
      await store.write({ changes: batch, onRefusal: 'skip', fence: term });
    if (changes.length > 0)
      logger.info('Dataplanes were enrolled as they are: their old tokens are good for that', {
        dataplanes: changes.length,
      });
    return changes.length;
  }
}

function* eachMissing(
  index: IndexReader,
  zone: string,
  found: (dataplane: DataplaneResource) => void,
): Generator<undefined> {
  for (const resource of index.ofKind('Dataplane')) {
    const dataplane = resource.id.zone === zone ? asDataplane(resource) : undefined;
    if (dataplane && !enrolmentOf(index, dataplane.id)) found(dataplane);
    yield;
  }
}

/** What a Dataplane is enrolled with at the upgrade: a user's own says by itself which services it has. */
function adoptedSpec(
  dataplane: DataplaneResource,
  named: ReadonlyMap<string, readonly ServiceResource[]>,
  now: number,
): EnrolmentSpec {
  const { id, labels } = dataplane;
  const isOfUser = labels[LEASED_BY] === undefined && labels[REGISTERED_BY] === undefined;
  const workload = labels[Label.workload];
  const selecting = (named.get(placeOf(id)) ?? []).filter((service) => selectorOf(service)?.matches(dataplane));
  const services = [...new Set([...servicesOf(dataplane), ...selecting.map((service) => service.id.name)])].sort();
  return {
    ...{ by: 'upgrade', tokens: [], issuedAt: now },
    ...(!isOfUser && { services }),
    ...(workload !== undefined && { workload }),
  };
}

/** The MeshServices of a zone by mesh and namespace. */
function servicesByPlace(index: IndexReader, zone: string): ReadonlyMap<string, readonly ServiceResource[]> {
  const places = new Map<string, ServiceResource[]>();
  for (const service of index.ofKind(MeshService.name)) {
    if (service.id.zone !== zone || !MeshService.is(service) || isByName(service)) continue;
    const place = placeOf(service.id);
    const known = places.get(place);
    if (known) known.push(service);
    else places.set(place, [service]);
  }
  return places;
}

/** Whether it selects those that name it, which say so themselves: most services do. */
function isByName({ id, spec: { selector } }: ServiceResource): boolean {
  const tags = selector?.dataplaneTags;
  return tags !== undefined && Object.keys(tags).length === 1 && tags[Label.service] === id.name;
}

function placeOf({ mesh, namespace }: { readonly mesh: string; readonly namespace: string }): string {
  return `${mesh}/${namespace}`;
}
