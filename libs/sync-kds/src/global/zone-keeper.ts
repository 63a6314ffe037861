import type { Registry, Resource } from '@causeway/resources';
import { errorText, type Clock, type Logger, type Term } from '@causeway/runtime';
import { Fenced, type Change, type ResourceIndex, type ResourceStore, type SessionStore } from '@causeway/store';
import { lostRuleOf, lostStateOf, type LostRule, type LostState } from '@causeway/sync';
import { peerArea } from '../peer-book';
import { withRelayedKinds } from './relayed-kinds';
import { INSIGHTS } from './insights';
import { ZoneSightings } from './zone-sightings';

const ROUND = 5_000;
const BATCH = 500;

/** What keeping the zones in order needs. */
export interface ZoneKeeperOptions {
  readonly store: ResourceStore;
  readonly sessions: SessionStore;
  readonly index: ResourceIndex;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly term: Term;
  /** For zones that have no `spec.lost` (design.md §5 Lost zone). */
  readonly lost: LostRule;
}

/** What the global's leader does for its zones by the clock. */
export interface ZoneKeeper {
  /** Works until the term ends; never rejects. */
  run(): Promise<void>;
  /** One round; for tests and simulations. */
  round(): Promise<void>;
}

/** Says which zones are lost, in `Zone.status.lost`, and deletes what is left of zones that were deleted. */
export function createZoneKeeper(options: ZoneKeeperOptions): ZoneKeeper {
  const { clock, term, logger } = options;
  const sightings = new ZoneSightings(clock);
  // Looked for once a term, and again when a Zone has gone.
  let orphansLikely = true;
  const round = async (): Promise<void> => {
    try {
      await tellLost(options, sightings);
      if (!orphansLikely) return;
      orphansLikely = false;
      for (const zone of orphanZones(options)) await deleteRemains(options, zone);
    } catch (error) {
      orphansLikely = true;
      if (!(error instanceof Fenced)) logger.warn('zones could not be kept in order', { error: errorText(error) });
    }
  };
  const unsubscribe = options.index.subscribe(({ reloaded, changes }) => {
    if (reloaded || changes.some(({ id, after }) => id.kind === 'Zone' && !after)) orphansLikely = true;
  });
  term.signal.addEventListener('abort', unsubscribe, { once: true });
  return {
    round,
    run: async () => {
      while (!term.signal.aborted) {
        await clock.sleep(ROUND, term.signal);
        if (!term.signal.aborted) await round();
      }
    },
  };
}

async function tellLost(
  { store, index, term, lost, logger }: ZoneKeeperOptions,
  sightings: ZoneSightings,
): Promise<void> {
  await sightings.look(() => store.notes(INSIGHTS));
  const changes = [...index.ofKind('Zone')].flatMap((zone): Change[] => {
    const wanted = sightings.lostState(zone, lostRuleOf(zone.spec['lost'], lost));
    if (isTold(zone, wanted)) return [];
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

function isTold(zone: Resource, wanted: LostState | undefined): boolean {
  const told = lostStateOf(zone);
  return told?.policy === wanted?.policy && told?.since === wanted?.since;
}

/** Zones that have something here and no Zone: they were deleted, for each was made before its first resource. */
function orphanZones(options: ZoneKeeperOptions): ReadonlySet<string> {
  const known = new Set([...options.index.ofKind('Zone')].map(({ id }) => id.name));
  return new Set([...ofZones(options)].map(({ id }) => id.zone).filter((zone) => !known.has(zone)));
}

function* ofZones({ index, registry }: ZoneKeeperOptions): Iterable<Resource> {
  for (const kind of withRelayedKinds(registry).kinds) {
    for (const resource of index.ofKind(kind.name)) if (resource.id.zone !== '') yield resource;
  }
}

async function deleteRemains(options: ZoneKeeperOptions, zone: string): Promise<void> {
  const { store, sessions, term, logger } = options;
  // No session of before may write any more. One that opens meanwhile fences these deletions out if it has read points
  // that speak of the copies; else the points are forgotten and it begins with a whole state.
  const opening = await sessions.open({ zone, storeId: '', incarnation: '', epoch: 0, instance: 'deleted' });
  if (opening.type !== 'opened') return;
  const session = { zone, session: opening.session };
  const area = peerArea(zone);
  const forgotten = (await store.notes(area)).map(({ key }) => ({ area, key, value: null }));
  const remains = [...ofZones(options)].filter(({ id }) => id.zone === zone);
  logger.info('deleting what is left of a deleted zone', { zone, resources: remains.length });
  const fence = { epoch: term.epoch, holder: term.holder };
  for (let from = 0; from < remains.length; from += BATCH) {
    const changes = remains.slice(from, from + BATCH).map(({ id }): Change => ({ type: 'delete', id, expect: 'any' }));
    await store.write({ changes, onRefusal: 'skip', fence, session, notes: from === 0 ? forgotten : [] });
  }
}
