import { NotFound } from '@causeway/resources';
import type { PendingIncarnation } from '@causeway/sync';
import { confirmPeerIncarnation } from '../session/peer-state';
import type { DoubtfulClaims } from './doubtful-claims';
import type { LiveSessions } from './live-sessions';
import type { GlobalSyncOptions } from './global-sync-options';
import type { Adoption, RefusedStores } from './refused-stores';

/** What only an operator can know of a zone. Any replica takes it, and saying it again changes nothing. */
export interface ZoneDecisions {
  /**
   * The zone's new life is the true one, whichever replica has its stream: what it lacks is deleted. Answers with the
   * life, undefined where none is pending. Throws NotFound, Unavailable.
   */
  confirm(zone: string): Promise<PendingIncarnation | undefined>;
  /** See RefusedStores. */
  adopt(zone: string, storeId?: string): Promise<Adoption>;
  /**
   * Forgets the epoch of the zone's leaders and ends its session: the next one that asks is taken, whatever its epoch.
   * Answers with the epoch that stood, -1 where none did. Throws NotFound, Unavailable.
   */
  resetEpoch(zone: string): Promise<number>;
}

/** What decisions act on. */
export interface DecisionParts {
  readonly options: GlobalSyncOptions;
  readonly live: LiveSessions;
  readonly refused: RefusedStores;
  readonly doubts: DoubtfulClaims;
}

/** Writes decisions down and acts on them where the zone's streams are here; other replicas see them within seconds. */
export function zoneDecisions({ options, live, refused, doubts }: DecisionParts): ZoneDecisions {
  return {
    confirm: async (zone) => {
      if (!(await options.sessions.session(zone))) {
        throw new NotFound(`zone ${zone} never had a session with this global`);
      }
      const life = await confirmPeerIncarnation(options.store, zone);
      await Promise.all(live.of(zone).map((member) => member.checkConfirmation()));
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
