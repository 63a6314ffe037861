import { globalIdentity, NotFound, Forbidden, type Registry, type Resource } from '@causeway/resources';
import { type PendingIncarnation, QUARANTINED, readQuarantine, type Quarantine } from '@causeway/sync';
import { confirmPeerIncarnation } from '../../session/peer-state';
import type { DoubtfulClaims, Adoption, RefusedStores } from './zone-incidents';
import type { ZoneRights } from './zone-rights';
import type { LiveSessions } from '../live-sessions';
import type { GlobalSyncOptions } from '../global-sync-options';
import type { IndexReader } from '@causeway/store';

/** Decisions about a zone that only an operator can make. Every replica accepts them; all are idempotent. */
export interface ZoneDecisions {
  /**
   * Accepts the zone's pending incarnation, whichever replica has its stream, and deletes the resources that it lacks.
   * Returns the incarnation; undefined if none is pending. Throws NotFound, Unavailable.
   */
  confirm(zone: string): Promise<PendingIncarnation | undefined>;
  /** See RefusedStores.adopt. */
  adopt(zone: string, storeId?: string): Promise<Adoption>;
  /**
   * Resets the leader epoch of the zone and ends its session: the next session is accepted at any epoch. Returns the
   * former epoch, -1 if there was none. Throws NotFound, Unavailable.
   */
  resetEpoch(zone: string): Promise<number>;
}

/** Dependencies of operator decisions. */
export interface DecisionParts {
  readonly options: GlobalSyncOptions;
  readonly live: LiveSessions;
  readonly refused: RefusedStores;
  readonly doubts: DoubtfulClaims;
}

/** Stores decisions and applies them to the zone's streams on this replica; other replicas apply them within seconds. */
export function createZoneDecisions({ options, live, refused, doubts }: DecisionParts): ZoneDecisions {
  return {
    confirm: async (zone) => {
      if (!(await options.sessions.session(zone))) {
        throw new NotFound(`zone ${zone} never had a session with this global`);
      }
      const life = await confirmPeerIncarnation(options.store, zone);
      await Promise.all(live.of(zone).map(async ({ peerState }) => peerState?.checkConfirmation()));
      return life;
    },
    adopt: async (zone, storeId) => {
      const adoption = await refused.adopt(zone, storeId);
      const another = adoption.storeId !== '' && adoption.storeId !== adoption.formerly;
      if (another) live.closeZone(zone, 'another store was adopted for the zone');
      return adoption;
    },
    resetEpoch: async (zone) => {
      const epoch = await options.sessions.resetEpoch(zone);
      if (epoch === undefined) throw new NotFound(`zone ${zone} never had a session with this global`);
      options.logger.warn('the epoch of a zone was reset', { zone, formerly: epoch });
      live.closeZone(zone, 'the epoch of the zone was reset');
      await doubts.clear(zone);
      return epoch;
    },
  };
}

/** The quarantine of each zone, from the index. */
export class Quarantines {
  private readonly read = new WeakMap<Resource, Quarantine>();

  constructor(
    private readonly index: IndexReader,
    private readonly registry: Registry,
    private readonly rights?: ZoneRights,
  ) {}

  /** Returns the quarantine that a version of a Zone declares. */
  of(zone: Resource): Quarantine {
    const known = this.read.get(zone);
    if (known) return known;
    const quarantine = readQuarantine(zone.spec['quarantine'], zone.id.name, this.registry);
    this.read.set(zone, quarantine);
    return quarantine;
  }

  /** Returns the quarantine of the zone with this name; undefined if the index has no such Zone. */
  ofZone(name: string): Quarantine | undefined {
    const zone = this.index.get(globalIdentity('Zone', name));
    return zone && this.of(zone);
  }

  /** Throws Forbidden if the whole zone is quarantined. */
  check(name: string): void {
    if (this.ofZone(name)?.all !== true) return;
    throw new Forbidden(
      `zone ${name} is ${QUARANTINED}; to let it in again: causeway zones quarantine ${name} --release`,
    );
  }

  /** Returns, by kind, the digest of the rules that exclude resources of a zone: its quarantine and its permissions. */
  getDigests(name: string): (kind: string) => string {
    return (kind) => (this.ofZone(name)?.digest(kind) ?? '') + (this.rights?.zoneDigest(name) ?? '');
  }
}
