import { maintainStore, VERSION, type ControlPlaneCore } from '@causeway/control-plane';
import {
  createConditionsReconciler,
  createZoneReconcilers,
  LoopRunner,
  poolMetrics,
  type ControlLoop,
  type RunnerStats,
} from '@causeway/controllers';
import type { JsonObject, Resource } from '@causeway/resources';
import type { LeaderTerm } from '@causeway/runtime';
import {
  confirmPeerIncarnation,
  createZoneSync,
  GLOBAL_PEER,
  sessionInsight,
  type ZoneSync,
  type ZoneSyncStatus,
} from '@causeway/kds';
import type { PendingIncarnation } from '@causeway/sync';
import { configuredRanges } from './address-ranges';
import type { ZoneSettings } from './config';
import type { GlobalAddress } from './global-address';

/** What the leader of a zone works by. */
export interface LeaderConfig {
  readonly settings: ZoneSettings;
  /** Absent for a zone by itself. */
  readonly global: GlobalAddress | undefined;
  /** See ZoneSyncOptions. */
  readonly propagated: (kind: string, age: number) => void;
}

/** What a zone's leader does for a term, and what can be told of it: control loops, the session with the global, upkeep. */
export class ZoneLeader {
  private loops: readonly ControlLoop[] = [];
  private runner: LoopRunner | undefined;
  private sync: ZoneSync | undefined;

  constructor(
    private readonly foundations: ControlPlaneCore,
    private readonly config: LeaderConfig,
  ) {}

  /** Works until the term ends. */
  async lead(term: LeaderTerm): Promise<void> {
    const { store, index, clock, logger, cp } = this.foundations;
    const { settings, global, propagated } = this.config;
    const loops = createZoneReconcilers({
      cp,
      ranges: configuredRanges(settings),
      forceRanges: settings.CAUSEWAY_VIP_RANGE_FORCE,
      cooldown: settings.CAUSEWAY_VIP_COOLDOWN,
      grace: settings.CAUSEWAY_SERVICE_GRACE,
      onUnusableName: (dataplane, service) =>
        logger.warn('a Dataplane names a service that cannot be called so', { dataplane, service }),
      onExhausted: (kind, ranges, service) =>
        logger.warn('a range of virtual IPs is used up: services are left without', { kind, ranges, service }),
    });
    this.loops = [...loops, createConditionsReconciler(this.foundations)];
    this.runner = new LoopRunner(this.loops, { store, index, clock, logger, term });
    const zone = settings.CAUSEWAY_ZONE_NAME;
    const hold = settings.CAUSEWAY_ABSENCE_HOLD;
    const facts = {
      zone,
      term,
      hold,
      version: VERSION,
      onPropagated: propagated,
      maintenance: this.foundations.state.store,
    };
    this.sync = global && createZoneSync({ ...this.foundations, ...global, ...facts });
    try {
      await Promise.all([this.runner.run(), this.sync?.run(), maintainStore(this.foundations, term)]);
    } finally {
      this.sync = undefined;
    }
  }

  /** How full the address ranges are; empty while another replica leads. */
  pools(): ReturnType<typeof poolMetrics> {
    return poolMetrics(this.loops);
  }

  /** Counts of the loops of the last term. */
  stats(): RunnerStats | undefined {
    return this.runner?.stats;
  }

  /** The operator accepts the global's new life, whichever replica leads; undefined where none is pending. */
  async confirmGlobal(): Promise<PendingIncarnation | undefined> {
    const life = await confirmPeerIncarnation(this.foundations.store, GLOBAL_PEER);
    await this.sync?.checkConfirmation();
    return life;
  }

  /** What this replica knows of the zone's session, told with the zone's own Zone. */
  insightOf({ id }: Resource): JsonObject | undefined {
    const { settings } = this.config;
    const status = this.session();
    if (!status || id.kind !== 'Zone' || id.name !== settings.CAUSEWAY_ZONE_NAME) return undefined;
    return sessionInsight(status, this.foundations.clock.now(), settings.CAUSEWAY_ABSENCE_HOLD);
  }

  /** The session with the global; undefined while another replica leads, or where there is no global. */
  session(): ZoneSyncStatus | undefined {
    return this.sync?.status();
  }
}
