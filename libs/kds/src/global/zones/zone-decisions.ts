import { globalIdentity, NotFound, Forbidden, type Registry, type Resource } from '@causeway/resources';
import { type PendingIncarnation, QUARANTINED, quarantineOf, type Quarantine } from '@causeway/sync';
import { confirmPeerIncarnation } from '../../session/peer-state';
import type { DoubtfulClaims, Adoption, RefusedStores } from './zone-incidents';
import type { LiveSessions } from '../live-sessions';
import type { GlobalSyncOptions } from '../global-sync-options';
import type { IndexReader } from '@causeway/store';

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

/** What the operator keeps away of each zone, as the index knows it now. */
export class Quarantines {
  private readonly read = new WeakMap<Resource, Quarantine>();

  constructor(
    private readonly index: IndexReader,
    private readonly registry: Registry,
  ) {}

  /** Of a Zone at some moment. */
  of(zone: Resource): Quarantine {
    const known = this.read.get(zone);
    if (known) return known;
    const quarantine = quarantineOf(zone.spec['quarantine'], zone.id.name, this.registry);
    this.read.set(zone, quarantine);
    return quarantine;
  }

  /** Of the zone with this name; undefined where it is not known. */
  ofZone(name: string): Quarantine | undefined {
    const zone = this.index.get(globalIdentity('Zone', name));
    return zone && this.of(zone);
  }

  /** Throws Forbidden where the whole zone is kept away. */
  check(name: string): void {
    if (this.ofZone(name)?.all !== true) return;
    throw new Forbidden(
      `zone ${name} is ${QUARANTINED}; to let it in again: causeway zones quarantine ${name} --release`,
    );
  }

  /** See Quarantine. */
  cutsOf(name: string): (kind: string) => string {
    return (kind) => this.ofZone(name)?.digest(kind) ?? '';
  }
}
