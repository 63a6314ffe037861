import { globalIdentity, type Registry, type Resource } from '@causeway/resources';
import { errorText, type Clock, type Logger, type LeaderTerm } from '@causeway/runtime';
import {
  Fenced,
  type Change,
  type Note,
  type IndexReader,
  type ResourceStore,
  type SessionStore,
} from '@causeway/store';
import { lostRuleOf, lostStateOf, type LostRule, type LostState } from '@causeway/sync';
import { peerArea } from '../../session/peer-state';
import { withRelayedKinds } from '../../kuma/relayed-kinds';
import { DOUBTFUL_CLAIMS_AREA, REFUSED_STORES_AREA } from './zone-incidents';
import { INSIGHT_AREA } from './zone-insights';
import { reportedNote } from '../kuma-gate';
import { Quarantines } from './zone-decisions';
import { ZoneLivenessTracker } from './zone-liveness-tracker';

const ROUND = 5_000;
const BATCH = 500;

/** Areas beside the log that have a note a zone. */
const ZONE_AREAS = [INSIGHT_AREA, REFUSED_STORES_AREA, DOUBTFUL_CLAIMS_AREA] as const;

/** What keeping the zones in order needs. */
export interface ZoneLifecycleOptions {
  readonly store: ResourceStore;
  readonly sessions: SessionStore;
  readonly index: IndexReader;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly term: LeaderTerm;
  /** For zones that have no `spec.lost` (design.md §5 Lost zone). */
  readonly lost: LostRule;
}

/** What the global's leader does for its zones by the clock. */
export interface ZoneLifecycleLoop {
  /** Works until the term ends; never rejects. */
  run(): Promise<void>;
  /** One round; for tests and simulations. */
  round(): Promise<void>;
}

/**
 * Says which zones are lost, in `Zone.status.lost`, deletes copies that are quarantined, and deletes what is left of
 * zones that were deleted.
 */
export function createZoneLifecycleLoop(options: ZoneLifecycleOptions): ZoneLifecycleLoop {
  const { clock, term, logger } = options;
  const sightings = new ZoneLivenessTracker(clock);
  const quarantines = new Quarantines(options.index, withRelayedKinds(options.registry));
  let wake = new AbortController();
  // Looked for once a term, and again when a Zone has gone.
  let orphansLikely = true;
  const round = async (): Promise<void> => {
    try {
      await reportLost(options, sightings);
      await deleteQuarantined(options, quarantines);
      if (!orphansLikely) return;
      orphansLikely = false;
      for (const zone of await orphanZones(options)) {
        await deleteRemains(options, zone);
        sightings.forget(zone);
      }
    } catch (error) {
      orphansLikely = true;
      if (!(error instanceof Fenced)) logger.warn('zones could not be kept in order', { error: errorText(error) });
    }
  };
  const unsubscribe = options.index.subscribe(({ reloaded, changes }) => {
    const zones = changes.filter(({ id }) => id.kind === 'Zone');
    if (reloaded || zones.some(({ after }) => !after)) orphansLikely = true;
    // What an operator decides is done at once.
    if (zones.some(({ before, after }) => before?.generation !== after?.generation)) wake.abort();
  });
  term.signal.addEventListener('abort', unsubscribe, { once: true });
  return {
    round,
    run: async () => {
      while (!term.signal.aborted) {
        await clock.sleep(ROUND, AbortSignal.any([term.signal, wake.signal]));
        wake = new AbortController();
        if (!term.signal.aborted) await round();
      }
    },
  };
}

async function reportLost(
  { store, index, term, lost, logger }: ZoneLifecycleOptions,
  sightings: ZoneLivenessTracker,
): Promise<void> {
  await sightings.refresh(() => store.notes(INSIGHT_AREA));
  const changes = [...index.ofKind('Zone')].flatMap((zone): Change[] => {
    const wanted = sightings.lostState(zone, lostRuleOf(zone.spec['lost'], lost));
    if (isReported(zone, wanted)) return [];
    logger.warn(wanted ? 'a zone is lost' : 'a lost zone is back', { zone: zone.id.name, ...wanted });
    const { lost: _, ...status } = zone.status ?? {};
    return [
      {
        type: 'patch',
        id: zone.id,
        expect: zone.revision,
        status: wanted ? { ...status, lost: { ...wanted } } : status,
      },
    ];
  });
  if (changes.length > 0)
    await store.write({ changes, onRefusal: 'skip', fence: { epoch: term.epoch, holder: term.holder } });
}

function isReported(zone: Resource, wanted: LostState | undefined): boolean {
  const told = lostStateOf(zone);
  return told?.policy === wanted?.policy && told?.since === wanted?.since;
}

/**
 * Deletes copies that are quarantined, whenever they are there: one that was just being written when its quarantine
 * began is found by the next round. At most a hundred a zone.
 */
async function deleteQuarantined(
  { store, index, term, logger }: ZoneLifecycleOptions,
  zones: Quarantines,
): Promise<void> {
  const ids = [...index.ofKind('Zone')].flatMap((zone) => zones.of(zone).resources).filter((id) => index.get(id));
  if (ids.length === 0) return;
  logger.warn('deleting copies that are quarantined', { count: ids.length });
  const changes = ids.map((id): Change => ({ type: 'delete', id, expect: 'any' }));
  await store.write({ changes, onRefusal: 'skip', fence: { epoch: term.epoch, holder: term.holder } });
}

/** Zones that have something here, a session or a copy, and no Zone: they were deleted. */
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

/** Whether there is a Zone of this name, by the primary. */
async function isMade(store: ResourceStore, name: string): Promise<boolean> {
  return (await store.get(globalIdentity('Zone', name))) !== undefined;
}

function* ofZones({ index, registry }: ZoneLifecycleOptions): Iterable<Resource> {
  for (const kind of withRelayedKinds(registry).kinds) {
    for (const resource of index.ofKind(kind.name)) if (resource.id.zone !== '') yield resource;
  }
}

async function deleteRemains(options: ZoneLifecycleOptions, zone: string): Promise<void> {
  const { store, sessions, term, logger } = options;
  // No session of before may write any more. One that opens meanwhile fences these deletions out if it has read points
  // that speak of the copies; else the points are forgotten and it begins with a whole state.
  const opening = await sessions.open({ zone, storeId: '', incarnation: '', epoch: 0, instance: 'deleted' });
  if (opening.type !== 'opened') return;
  // A zone that joined meanwhile has its Zone before its first stream; what that has written is no remains.
  if (await isMade(store, zone)) return;
  const session = { zone, session: opening.session };
  const forgotten = await notesOf(store, zone);
  const remains = [...ofZones(options)].filter(({ id }) => id.zone === zone);
  logger.info('deleting what is left of a deleted zone', { zone, resources: remains.length });
  const fence = { epoch: term.epoch, holder: term.holder };
  // The notes go first: a session that opens meanwhile must not resume from points that speak of what is deleted.
  for (let from = 0; from < forgotten.length; from += BATCH) {
    await store.write({ changes: [], onRefusal: 'skip', fence, session, notes: forgotten.slice(from, from + BATCH) });
  }
  for (let from = 0; from < remains.length; from += BATCH) {
    const changes = remains.slice(from, from + BATCH).map(({ id }): Change => ({ type: 'delete', id, expect: 'any' }));
    await store.write({ changes, onRefusal: 'skip', fence, session });
  }
  // Last: a term that ends before finds the zone by it. A zone of this name that comes later begins afresh.
  await sessions.forget(zone, opening.session);
}

/** Everything that stands beside the log of a zone, to be removed. */
async function notesOf(store: ResourceStore, zone: string): Promise<readonly Note[]> {
  const area = peerArea(zone);
  const own = (await store.notes(area)).map(({ key }): Note => ({ area, key, value: null }));
  const others = [...ZONE_AREAS.map((name) => ({ area: name, key: zone })), reportedNote(zone)];
  return [...own, ...others.map((note) => ({ ...note, value: null }))];
}
