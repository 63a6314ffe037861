import { enrolmentEpochId, findEnrolment, putEnrolment, listServedServices } from '@causeway/identity';
import { EnrolmentEpoch, MeshService, type EnrolmentSpec } from '@causeway/kinds';
import { computedLabels, Label, type ControlPlane, type SpecOf } from '@causeway/resources';
import { splitIntoBatches, inTimedSlices, type Clock, type LeaderTerm, type Logger } from '@causeway/runtime';
import { waitUntilReached, type IndexReader, type PutChange, type ResourceStore } from '@causeway/store';
import { LEASED_BY } from '../leases/plan-lease-ends';
import { asDataplane, findSelector, type DataplaneResource, type ServiceResource } from '@causeway/dataplanes';
import { REGISTERED_BY } from '../proxies/abandoned-dataplanes';
import type { ProxyDirectory } from '../proxies/proxy-directory';

export interface EnrolmentAdoptionOptions {
  readonly cp: ControlPlane;
  readonly zone: string;
  readonly index: IndexReader;
  readonly store: Pick<ResourceStore, 'write' | 'listMetadata'>;
  readonly proxies: Pick<ProxyDirectory, 'isLoaded' | 'liveReplicas'>;
  readonly term: LeaderTerm;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The metadata area in which each replica records, by its instance, that it supports enrolments. */
export const ENROLMENT_REPLICAS = 'enrolment-replicas';
/** Maximum number of Dataplanes that are enrolled in one write. */
const MAX_BATCH_SIZE = 500;

/**
 * Enrols the Dataplanes of a zone that did not use enrolments yet: each with exactly its current services. The zone requires enrolments as soon as
 * every live replica supports them, even if hosts join meanwhile; Dataplanes that were added until then are enrolled afterwards, and this task ends.
 * A second leader that does the same writes nothing.
 */
export class EnrolmentAdoption {
  constructor(private readonly options: EnrolmentAdoptionOptions) {}

  /** Runs one pass. Throws Unavailable, Fenced. */
  async turn(): Promise<void> {
    const { index, zone, clock, logger } = this.options;
    const epoch = index.get(enrolmentEpochId(zone));
    if (!epoch) {
      await this.adopt(() => true);
      const replicas = await this.countReadyReplicas();
      if (replicas === 0) return;
      // A backup taken right after this must already identify its store.
      const incarnation = index.point?.incarnation;
      const of = incarnation === undefined ? {} : { incarnation };
      await this.writeEpoch({ since: clock.now(), adopting: true, ...of }, 'absent');
      logger.info('from now on a credential is valid only for services that were granted to it', { replicas });
    } else if (EnrolmentEpoch.is(epoch) && epoch.spec.adopting) {
      const { adopting: _adopting, ...spec } = epoch.spec;
      const isOlder = ({ createdAt, revision }: DataplaneResource): boolean =>
        createdAt <= spec.since || revision < epoch.revision;
      if ((await this.adopt(isOlder)) === 0) await this.writeEpoch(spec, epoch.revision);
    }
  }

  /** Returns the number of live replicas if all of them support enrolments; else 0. */
  private async countReadyReplicas(): Promise<number> {
    const { proxies, store } = this.options;
    const live = proxies.isLoaded ? proxies.liveReplicas() : [];
    const knowing = new Set((await store.listMetadata(ENROLMENT_REPLICAS)).map(({ key }) => key));
    return live.every((instance) => knowing.has(instance)) ? live.length : 0;
  }

  private async writeEpoch(spec: SpecOf<typeof EnrolmentEpoch>, expect: number | 'absent'): Promise<void> {
    const { zone, store, cp, term, index, clock } = this.options;
    const id = enrolmentEpochId(zone);
    const change: PutChange = { type: 'put', id, expect, labels: computedLabels(EnrolmentEpoch, id, cp), spec };
    const { revision } = await store.write({ changes: [change], onRefusal: 'skip', fence: term });
    await waitUntilReached(index, revision, clock);
  }

  /** Enrols the selected Dataplanes that have no enrolment; returns their number. */
  private async adopt(isSelected: (dataplane: DataplaneResource) => boolean): Promise<number> {
    const { index, zone, store, cp, term, clock, logger } = this.options;
    const changes: PutChange[] = [];
    const now = clock.now();
    const named = indexServices(index, zone);
    await inTimedSlices(
      eachMissing(index, zone, (dataplane) => {
        if (!isSelected(dataplane)) return;
        changes.push(putEnrolment(dataplane.id, adoptedSpec(dataplane, named, now), { cp, expect: 'absent' }));
      }),
      { clock, signal: term.signal },
    );
    for (const batch of splitIntoBatches(changes, MAX_BATCH_SIZE))
      await store.write({ changes: batch, onRefusal: 'skip', fence: term });
    if (changes.length > 0)
      logger.info(
        'existing Dataplanes were enrolled with the services that they have: their old tokens stay valid for these',
        {
          dataplanes: changes.length,
        },
      );
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
    if (dataplane && !findEnrolment(index, dataplane.id)) found(dataplane);
    yield;
  }
}

/** Returns the enrolment of a Dataplane at the upgrade; a Dataplane that a user wrote lists its services itself. */
function adoptedSpec(
  dataplane: DataplaneResource,
  named: ReadonlyMap<string, readonly ServiceResource[]>,
  now: number,
): EnrolmentSpec {
  const { id, labels } = dataplane;
  const isOfUser = labels[LEASED_BY] === undefined && labels[REGISTERED_BY] === undefined;
  const workload = labels[Label.workload];
  const selecting = (named.get(formatScope(id)) ?? []).filter((service) => findSelector(service)?.matches(dataplane));
  const services = [
    ...new Set([...listServedServices(dataplane), ...selecting.map((service) => service.id.name)]),
  ].sort();
  return {
    by: 'upgrade',
    tokens: [],
    issuedAt: now,
    ...(!isOfUser && { services }),
    ...(workload !== undefined && { workload }),
  };
}

/** Indexes the MeshServices of a zone by mesh and namespace. */
function indexServices(index: IndexReader, zone: string): ReadonlyMap<string, readonly ServiceResource[]> {
  const places = new Map<string, ServiceResource[]>();
  for (const service of index.ofKind(MeshService.name)) {
    if (service.id.zone !== zone || !MeshService.is(service) || isByName(service)) continue;
    const place = formatScope(service.id);
    const known = places.get(place);
    if (known) known.push(service);
    else places.set(place, [service]);
  }
  return places;
}

/** Reports whether a service selects the Dataplanes that name it: most services do. */
function isByName({ id, spec: { selector } }: ServiceResource): boolean {
  const tags = selector?.dataplaneTags;
  return tags !== undefined && Object.keys(tags).length === 1 && tags[Label.service] === id.name;
}

function formatScope({ mesh, namespace }: { readonly mesh: string; readonly namespace: string }): string {
  return `${mesh}/${namespace}`;
}
