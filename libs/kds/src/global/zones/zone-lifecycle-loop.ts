import type { Meshes } from '@causeway/meshes';
import { globalIdentity, jsonEqual, type Registry, type Resource } from '@causeway/resources';
import {
  splitIntoBatches,
  errorText,
  onAbort,
  underSignals,
  type Clock,
  type Logger,
  type LeaderTerm,
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
import { readLostRules, reportedLoss, type LostRule } from '@causeway/sync';
import { forgottenPoint, peerArea } from '../../session/peer-state';
import { withRelayedKinds } from '../../session/relayed-kinds';
import { DOUBTFUL_CLAIMS_AREA, REFUSED_STORES_AREA } from './zone-incidents';
import { INSIGHT_AREA } from './zone-insights';
import { reportedNote } from '../kuma-gate';
import { Quarantines } from './zone-decisions';
import { ZoneLivenessTracker, type KnownZones } from './zone-liveness-tracker';
import { ForbiddenCopies, type ZoneRights } from './zone-rights';

/** Time between two rounds, ms. */
const ROUND = 5_000;
/** Most changes or notes in one write. */
const BATCH = 500;

/** Areas of the notes that have a zone's name as key. */
const ZONE_AREAS = [INSIGHT_AREA, REFUSED_STORES_AREA, DOUBTFUL_CLAIMS_AREA] as const;

/** Kinds whose changes may change when a zone is lost for a mesh. */
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
  /** For zones without `spec.lost` and meshes without `lostZones` (docs/design.md §5 Lost zone). */
  readonly lost: LostRule;
  /** Rights of zones to send; without it they may send everything. */
  readonly rights?: ZoneRights;
}

/** The periodic work of the global's leader for its zones. */
export interface ZoneLifecycleLoop {
  /** Works until the term ends; never rejects. */
  run(): Promise<void>;
  /** One round; for tests and simulations. */
  round(): Promise<void>;
  /** The zones as of the last round; undefined before the first. */
  zones(): KnownZones | undefined;
}

/**
 * Writes to `Zone.status` which zones have no session and which are lost, deletes copies that are quarantined or that their zones may not send,
 * and deletes what is left of deleted zones.
 */
export function createZoneLifecycleLoop(options: ZoneLifecycleOptions): ZoneLifecycleLoop {
  const { clock, term, logger } = options;
  const liveness = new ZoneLivenessTracker(clock);
  const registry = withRelayedKinds(options.registry);
  const quarantines = new Quarantines(options.index, registry);
  const forbidden = new ForbiddenCopies(options.index, options.rights, () => wake.abort());
  let wake = new AbortController();
  // True at the start of a term, after the deletion of a Zone, and where a copy comes of a zone that has none.
  let orphansLikely = true;
  const round = async (): Promise<void> => {
    try {
      await reportSessions(options, liveness);
      await deleteQuarantined(options, quarantines);
      await deleteForbidden(options, forbidden);
      if (!orphansLikely) return;
      orphansLikely = false;
      for (const zone of await orphanZones(options)) await deleteRemains(options, zone);
    } catch (error) {
      orphansLikely = true;
      forbidden.giveBack();
      if (!(error instanceof Fenced)) logger.warn('zones could not be kept in order', { error: errorText(error) });
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
      // Decisions of the operator take effect at once.
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
        await underSignals([term.signal, wake.signal], (signal) => clock.sleep(ROUND, signal));
        wake = new AbortController();
        if (!term.signal.aborted) await round();
      }
    },
  };
}

const isDeletedZone = ({ id, after }: IndexChange): boolean => id.kind === 'Zone' && after === undefined;

/** Writes to `Zone.status` which zones have no session, whose control planes they have, and which are lost. One write a round. */
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
    if (!jsonEqual(reportedLoss(zone), status.lost))
      logger.warn(loss ? 'a zone is lost' : 'a lost zone is back', { zone: zone.id.name, ...loss });
    return [{ type: 'patch', id: zone.id, expect: zone.revision, status }];
  });
  if (changes.length > 0)
    await store.write({ changes, onRefusal: 'skip', fence: { epoch: term.epoch, holder: term.holder } });
}

/**
 * Deletes quarantined copies, and forgets up to where their kinds were received: a zone that says nothing of a kind
 * until it is released would else go on behind the deletion, and the copy would not come back. A copy whose write was
 * under way when its quarantine began is found by the next round. At most a hundred a zone.
 */
async function deleteQuarantined(
  { store, index, term, logger }: ZoneLifecycleOptions,
  zones: Quarantines,
): Promise<void> {
  const ids = [...index.ofKind('Zone')].flatMap((zone) => zones.of(zone).resources).filter((id) => index.get(id));
  if (ids.length === 0) return;
  logger.warn('deleting copies that are quarantined', { count: ids.length });
  const changes = ids.map((id): Change => ({ type: 'delete', id, expect: 'any' }));
  const kinds = new Map(ids.map(({ zone, kind }) => [JSON.stringify([zone, kind]), forgottenPoint(zone, kind)]));
  const fence = { epoch: term.epoch, holder: term.holder };
  await store.write({ changes, onRefusal: 'skip', fence, metadata: [...kinds.values()] });
}

/** Deletes copies that their zones may not send. A zone keeps its own resources, and they come back with the right. */
async function deleteForbidden(
  { store, term, logger }: ZoneLifecycleOptions,
  forbidden: ForbiddenCopies,
): Promise<void> {
  const ids = forbidden.take();
  if (ids.length > 0) logger.warn('deleting copies that their zones may not send', { count: ids.length });
  for (const batch of splitIntoBatches(ids, BATCH)) {
    const changes = batch.map((id): Change => ({ type: 'delete', id, expect: 'any' }));
    await store.write({ changes, onRefusal: 'skip', fence: { epoch: term.epoch, holder: term.holder } });
  }
}

/** Whether a change concerns a zone without a Zone: its last writes may be seen only after everything else of it was. */
function hasOrphan(index: IndexReader, changes: readonly IndexChange[]): boolean {
  return changes.some(
    ({ id: { kind, zone }, before, after }) =>
      kind !== 'Zone' && zone !== '' && !before && after && !index.get(globalIdentity('Zone', zone)),
  );
}

/** Zones with a session or a copy but without a Zone: they were deleted. */
async function orphanZones(options: ZoneLifecycleOptions): Promise<readonly string[]> {
  const { index, sessions, store, registry } = options;
  if (!registry.kind('Zone')) return [];
  const known = new Set([...index.ofKind('Zone')].map(({ id }) => id.name));
  const copied = [...ofZones(options)].map(({ id }) => id.zone);
  const joined = (await sessions.sessions()).map(({ zone }) => zone);
  const unknown = [...new Set([...copied, ...joined])].filter((zone) => !known.has(zone));
  // A zone that joins for the first time has a session before its Zone, and the index may lag.
  const made = await Promise.all(unknown.map((name) => isMade(store, name)));
  return unknown.filter((_, i) => made[i] !== true);
}

/** Whether the store has a Zone of this name. */
async function isMade(store: ResourceStore, name: string): Promise<boolean> {
  return (await store.get(globalIdentity('Zone', name))) !== undefined;
}

/** Also those of kinds that no definition declares any more. */
function* ofZones({ index }: ZoneLifecycleOptions): Iterable<Resource> {
  for (const kind of index.kindNames()) {
    for (const resource of index.ofKind(kind)) if (resource.id.zone !== '') yield resource;
  }
}

async function deleteRemains(options: ZoneLifecycleOptions, zone: string): Promise<void> {
  const { store, sessions, term, logger } = options;
  // Former sessions may write no more. A session that opens meanwhile fences these deletions out if it has read the points
  // of the copies; else the points are gone and it begins with a whole state.
  const opening = await sessions.open({ zone, storeId: '', incarnation: '', epoch: 0, instance: 'deleted' });
  if (opening.type !== 'opened') return;
  // A zone that connected meanwhile got its Zone before its first stream: what it wrote must stay.
  if (await isMade(store, zone)) return;
  const session = { zone, session: opening.session };
  const forgotten = await readEntries(store, zone);
  const remains = [...ofZones(options)].filter(({ id }) => id.zone === zone);
  logger.info('deleting what is left of a deleted zone', { zone, resources: remains.length });
  const fence = { epoch: term.epoch, holder: term.holder };
  // Notes first: a session that opens meanwhile must not resume from points of what is deleted.
  for (const notes of splitIntoBatches(forgotten, BATCH)) {
    await store.write({ changes: [], onRefusal: 'skip', fence, session, metadata: notes });
  }
  for (const batch of splitIntoBatches(remains, BATCH)) {
    const changes = batch.map(({ id }): Change => ({ type: 'delete', id, expect: 'any' }));
    await store.write({ changes, onRefusal: 'skip', fence, session });
  }
  // The session last: the next term finds the zone by it where this one ends before. A later zone of this name begins anew.
  await sessions.forget(zone, opening.session);
}

/** Deletions of all notes about a zone. */
async function readEntries(store: ResourceStore, zone: string): Promise<readonly MetadataEntry[]> {
  const area = peerArea(zone);
  const own = (await store.listMetadata(area)).map(({ key }): MetadataEntry => ({ area, key, value: null }));
  const others = [...ZONE_AREAS.map((name) => ({ area: name, key: zone })), reportedNote(zone)];
  return [...own, ...others.map((note) => ({ ...note, value: null }))];
}
