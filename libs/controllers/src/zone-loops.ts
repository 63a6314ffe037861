import { planRanges, type PoolFigures } from '@causeway/ipam';
import type { ControlPlane } from '@causeway/resources';
import { AvailabilityLoop } from './availability/availability-loop';
import { HostnameLoop } from './hostname/hostname-loop';
import { MultizoneLoop } from './multizone/multizone-loop';
import type { ControlLoop } from './runner/control-loop';
import { ServicesLoop } from './services/services-loop';
import { VipLoop } from './vip/vip-loop';

/** What the loops of a zone need to know. */
export interface ZoneLoopsConfig {
  readonly cp: ControlPlane;
  /** Address range by kind of service: `{MeshService: '241.0.0.0/8', …}`; a kind that is left out gets no addresses. */
  readonly ranges: Readonly<Record<string, string>>;
  /** Takes ranges that are neither private nor reserved. */
  readonly forceRanges?: boolean;
  /** How long a freed address stays unused before another service may get it, ms; 60 s unless given. */
  readonly rest?: number;
  /** How long a generated service without Dataplanes is kept, ms; 1 h unless given. */
  readonly grace?: number;
  /** Told of a Dataplane (index key) that names a service which cannot be called so. */
  readonly onUnusableName?: (dataplane: string, service: string) => void;
  /** See VipConfig. */
  readonly onExhausted?: (kind: string, ranges: string, service: string) => void;
}

/**
 * The loops of a zone in the order in which each sees what the one before has written (design.md §4). Throws with
 * every reason when the ranges cannot stand together: check them with `planRanges` at start-up, which also warns.
 */
export function createZoneLoops(config: ZoneLoopsConfig): ControlLoop[] {
  const { cp, rest = 60_000, grace = 3_600_000, onUnusableName, onExhausted } = config;
  if (cp.role !== 'zone') throw new Error('these loops run on zones only');
  const settings = Object.entries(config.ranges).map(([owner, range]) => ({ owner, range }));
  const plan = planRanges(settings, { force: config.forceRanges ?? false });
  if (!plan.ok) throw new Error(plan.errors.join('; '));
  return [
    new ServicesLoop({ cp, gracePeriod: grace, ...(onUnusableName ? { onUnusableName } : {}) }),
    new AvailabilityLoop(cp.zone),
    new VipLoop({ ranges: plan.owned, rest, ...(onExhausted ? { onExhausted } : {}) }),
    new HostnameLoop(cp),
    new MultizoneLoop(),
  ];
}

/** How full the address ranges are, by kind: `vip_pool_{size,used,resting}`. Empty where no such loop is. */
export function poolFigures(loops: readonly ControlLoop[]): Readonly<Record<string, PoolFigures>> {
  return loops.find((loop) => loop instanceof VipLoop)?.figures ?? {};
}
