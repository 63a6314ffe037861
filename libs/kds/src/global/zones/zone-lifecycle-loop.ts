import type { Meshes } from '@causeway/meshes';
import { globalIdentity, jsonEqual, type Registry, type Resource } from '@causeway/resources';
import {
  type Clock,
  errorText,
  type LeaderTerm,
  type Logger,
  onAbort,
  sleepUntilTick,
  splitIntoBatches,
  underSignals,
} from '@causeway/runtime';
import {
  Fenced,
  followIndex,
  type Change,
  type IndexChange,
  type MetadataEntry,
  type IndexReader,
  type ResourceStore,
  type SessionStore,
} from '@causeway/store';
import { readLostRules, readReportedLoss, type LostRule } from '@causeway/sync';
import { toPointDeletion, peerArea } from '../../session/peer-state';
import { withRelayedKinds } from '../../session/relayed-kinds';
import { DOUBTFUL_CLAIMS_AREA, REFUSED_STORES_AREA } from './zone-incidents';
import { INSIGHT_AREA } from './zone-insights';
import { reportedEntry } from '../kuma-gate';
import { Quarantines } from './zone-decisions';
import { ZoneLivenessTracker, type KnownZones } from './zone-liveness-tracker';
import { ForbiddenCopies, type ZoneRights } from './zone-rights';

/** Interval between two rounds, ms. */
const ROUND_INTERVAL = 5_000;
/** Maximum number of changes or metadata entries in one write. */
const MAX_BATCH = 500;

/** Areas of the metadata entries that are keyed by a zone's name. */
const ZONE_AREAS = [INSIGHT_AREA, REFUSED_STORES_AREA, DOUBTFUL_CLAIMS_AREA] as const;

/** Kinds whose changes may change when a zone counts as lost for a mesh. */
const LOST_RULE_KINDS: readonly string[] = ['Mesh', 'MeshParameters', 'ConfigMap'];

/** Dependencies of the loop. */
export interface ZoneLifecycleOptions {
  readonly store: ResourceStore;
  readonly sessions: SessionStore;
  readonly index: IndexReader;
  /** State of each mesh here; of the same index. */
  readonly meshes: Meshes;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly term: LeaderTerm;
  /** Default for zones without `spec.lost` and meshes without `lostZones` (docs/design.md §5 Lost zone). */
  readonly lost: LostRule;
  /** Zones' permissions to send; if absent, zones may send everything. */
  readonly rights?: ZoneRights;
}

/** The periodic work of the global's leader for its zones. */
export interface ZoneLifecycleLoop {
  /** Runs until the term ends; never rejects. */
  run(): Promise<void>;
  /** Runs one round; for tests and simulations. */
  round(): Promise<void>;
  /** The zones as of the last round; undefined before the first. */
  zones(): KnownZones | undefined;
}

/**
 * Writes to `Zone.status` which zones have no session and which are lost, deletes copies that are quarantined or that
 * their zones may not send, and deletes the remains of deleted zones.
 */
export function createZoneLifecycleLoop(options: ZoneLifecycleOptions): ZoneLifecycleLoop {
  const { clock, term, logger } = options;
  const liveness = new ZoneLivenessTracker(clock);
  const registry = withRelayedKinds(options.registry);
  const quarantines = new Quarantines(options.index, registry);
  const forbidden = new ForbiddenCopies(options.index, options.rights, () => wake.abort());
  let wake = new AbortController();
  // True at the start of a term, after the deletion of a Zone, and after a copy of a zone without a Zone arrives.
  let orphansLikely = true;
  const round = async (): Promise<void> => {
    try {
      await reportSessions(options, liveness);
      await deleteQuarantined(options, quarantines);
      await deleteForbidden(options, forbidden);
      if (!orphansLikely) return;
      orphansLikely = false;
      for (const zone of await findOrphanZones(options)) await deleteRemains(options, zone);
    } catch (error) {
      orphansLikely = true;
      forbidden.giveBack();
      if (!(error instanceof Fenced)) logger.warn('zones could not be updated', { error: errorText(error) });
    }
  };
  const unsubscribe = followIndex(options.index, {
    reload: () => {
      forbidden.reload();
      orphansLikely = true;
    },
    apply: (changes) => {
      forbidden.apply(changes);
      if (changes.some(isDeletedZone) || hasOrphan(options.index, changes)) orphansLikely = true;
      // Decisions of the operator take effect immediately.
      const decided = changes.filter(({ id: { kind } }) => kind === 'Zone' || LOST_RULE_KINDS.includes(kind));
      if (decided.some(({ before, after }) => before?.generation !== after?.generation)) wake.abort();
    },
  });
  onAbort(term.signal, () => {
    unsubscribe();
    forbidden.close();
  });
  return {
    round,
    zones: () => liveness.zones(),
    run: async () => {
      while (!term.signal.aborted) {
        await underSignals([term.signal, wake.signal], (signal) => sleepUntilTick(clock, ROUND_INTERVAL, signal));
        wake = new AbortController();
        if (!term.signal.aborted) await round();
      }
    },
  };
}

const isDeletedZone = ({ id, after }: IndexChange): boolean => id.kind === 'Zone' && after === undefined;

/** Writes the session, the replicas and the loss of each zone to its `Zone.status`. One write per round. */
async function reportSessions(
  { store, sessions, index, meshes, term, lost, logger }: ZoneLifecycleOptions,
  liveness: ZoneLivenessTracker,
): Promise<void> {
  await liveness.refresh(async () => {
    const [insights, records] = await Promise.all([store.listMetadata(INSIGHT_AREA), sessions.sessions()]);
    return { insights, sessions: records };
  });
  const ruled = [...meshes.all()].flatMap(({ name, parameters: { lostZones } }) =>
    lostZones ? [[name, lostZones] as const] : [],
  );
  const byMesh = new Map(ruled);
  const changes = [...index.ofKind('Zone')].flatMap((zone): Change[] => {
    const loss = liveness.findLoss(zone, readLostRules(zone.spec['lost'], byMesh, lost));
    const { lost: _, disconnectedSince: __, peer: ___, ...others } = zone.status ?? {};
    const status = { ...others, ...liveness.toSession(zone), ...(loss && { lost: { ...loss } }) };
    if (jsonEqual(zone.status ?? {}, status)) return [];
    if (!jsonEqual(readReportedLoss(zone), status.lost))
      logger.warn(loss ? 'a zone is lost' : 'a lost zone is back', { zone: zone.id.name, ...loss });
    return [{ type: 'patch', id: zone.id, expect: zone.revision, status }];
  });
  if (changes.length > 0)
    await store.write({ changes, onRefusal: 'skip', fence: { epoch: term.epoch, holder: term.holder } });
}

/**
 * Deletes quarantined copies and the resume points of their kinds: with its point, a zone would resume behind the
 * deletion after its release, and the copy would not come back. The next round finds a copy whose write was under way
 * when its quarantine began. At most a hundred copies per zone.
 */
async function deleteQuarantined(
  { store, index, term, logger }: ZoneLifecycleOptions,
  zones: Quarantines,
): Promise<void> {
  const ids = [...index.ofKind('Zone')].flatMap((zone) => zones.of(zone).resources).filter((id) => index.get(id));
  if (ids.length === 0) return;
  logger.warn('deleting copies that are quarantined', { count: ids.length });
  const changes = ids.map((id): Change => ({ type: 'delete', id, expect: 'any' }));
  const kinds = new Map(ids.map(({ zone, kind }) => [JSON.stringify([zone, kind]), toPointDeletion(zone, kind)]));
  const fence = { epoch: term.epoch, holder: term.holder };
  await store.write({ changes, onRefusal: 'skip', fence, metadata: [...kinds.values()] });
}

/** Deletes copies that their zones may not send. The zone keeps its resources; once permitted, they are copied again. */
async function deleteForbidden(
  { store, term, logger }: ZoneLifecycleOptions,
  forbidden: ForbiddenCopies,
): Promise<void> {
  const ids = forbidden.take();
  if (ids.length > 0) logger.warn('deleting copies that their zones may not send', { count: ids.length });
  for (const batch of splitIntoBatches(ids, MAX_BATCH)) {
    const changes = batch.map((id): Change => ({ type: 'delete', id, expect: 'any' }));
    await store.write({ changes, onRefusal: 'skip', fence: { epoch: term.epoch, holder: term.holder } });
  }
}

/** Returns whether a change created a resource of a zone without a Zone: the index may show the last writes of a deleted zone late. */
function hasOrphan(index: IndexReader, changes: readonly IndexChange[]): boolean {
  return changes.some(
    ({ id: { kind, zone }, before, after }) =>
      kind !== 'Zone' && zone !== '' && !before && after && !index.get(globalIdentity('Zone', zone)),
  );
}

/** Returns the zones with a session or a copy but without a Zone: they were deleted. */
async function findOrphanZones(options: ZoneLifecycleOptions): Promise<readonly string[]> {
  const { index, sessions, store, registry } = options;
  if (!registry.kind('Zone')) return [];
  const known = new Set([...index.ofKind('Zone')].map(({ id }) => id.name));
  const copied = [...listZoneResources(options)].map(({ id }) => id.zone);
  const joined = (await sessions.sessions()).map(({ zone }) => zone);
  const unknown = [...new Set([...copied, ...joined])].filter((zone) => !known.has(zone));
  // A new zone has a session before its Zone, and the index may lag.
  const made = await Promise.all(unknown.map((name) => hasZone(store, name)));
  return unknown.filter((_, i) => made[i] !== true);
}

/** Returns whether the store has a Zone of this name. */
async function hasZone(store: ResourceStore, name: string): Promise<boolean> {
  return (await store.get(globalIdentity('Zone', name))) !== undefined;
}

/** Includes kinds that no definition declares any more. */
function* listZoneResources({ index }: ZoneLifecycleOptions): Iterable<Resource> {
  for (const kind of index.kindNames()) {
    for (const resource of index.ofKind(kind)) if (resource.id.zone !== '') yield resource;
  }
}

async function deleteRemains(options: ZoneLifecycleOptions, zone: string): Promise<void> {
  const { store, sessions, term, logger } = options;
  // Ends the right of older sessions to write. A session that opens meanwhile fences these deletions out if it has read
  // the resume points; if the points are gone, it begins with a full state.
  const opening = await sessions.open({ zone, storeId: '', incarnation: '', epoch: 0, instance: 'deleted' });
  if (opening.type !== 'opened') return;
  // A zone that connected meanwhile got its Zone before its first stream: its resources must stay.
  if (await hasZone(store, zone)) return;
  const session = { zone, session: opening.session };
  const forgotten = await listEntryDeletions(store, zone);
  const remains = [...listZoneResources(options)].filter(({ id }) => id.zone === zone);
  logger.info('deleting what is left of a deleted zone', { zone, resources: remains.length });
  const fence = { epoch: term.epoch, holder: term.holder };
  // Metadata entries first: a session that opens meanwhile must not resume from points of deleted copies.
  for (const entries of splitIntoBatches(forgotten, MAX_BATCH)) {
    await store.write({ changes: [], onRefusal: 'skip', fence, session, metadata: entries });
  }
  for (const batch of splitIntoBatches(remains, MAX_BATCH)) {
    const changes = batch.map(({ id }): Change => ({ type: 'delete', id, expect: 'any' }));
    await store.write({ changes, onRefusal: 'skip', fence, session });
  }
  // The session last: if this term ends before, the next one finds the zone by its session. A later zone of this name starts from scratch.
  await sessions.forget(zone, opening.session);
}

/** Returns the deletions of all metadata entries about a zone. */
async function listEntryDeletions(store: ResourceStore, zone: string): Promise<readonly MetadataEntry[]> {
  const area = peerArea(zone);
  const own = (await store.listMetadata(area)).map(({ key }): MetadataEntry => ({ area, key, value: null }));
  const others = [...ZONE_AREAS.map((name) => ({ area: name, key: zone })), reportedEntry(zone)];
  return [...own, ...others.map((entry) => ({ ...entry, value: null }))];
}
