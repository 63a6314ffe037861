import { planRanges } from '@causeway/ipam';
import type { Meshes } from '@causeway/meshes';
import type { ControlPlane } from '@causeway/resources';
import { AvailabilityReconciler } from './availability/availability-reconciler';
import { WorkloadIds } from './availability/workload-ids';
import { HostnameReconciler } from './hostname/hostname-reconciler';
import { MultizoneReconciler } from './multizone/multizone-reconciler';
import { AbandonedDataplanesReconciler, type AbandonedDataplanesOptions } from './proxies/abandoned-dataplanes';
import { IngressHealthReconciler } from './proxies/ingress-health';
import { createProxyConditionsLoop } from './proxies/proxy-conditions';
import type { ProxyDirectory } from './proxies/proxy-directory';
import { KeyedLoop, type ControlLoop } from '@causeway/loops';
import { ServicesReconciler } from './services/services-reconciler';
import type { PoolReport } from './vip/vip-allocator';
import { VipReconciler, type VipConfig } from './vip/vip-reconciler';

/** Settings of the control loops of a zone. */
export interface ZoneReconcilersConfig {
  readonly cp: ControlPlane;
  /** Address range by kind of service: `{MeshService: '241.0.0.0/8', …}`; a kind that is left out gets no addresses. */
  readonly ranges: Readonly<Record<string, string>>;
  /** Takes ranges that are neither private nor reserved. */
  readonly forceRanges?: boolean;
  /** How long a freed address stays unused before another service may get it, ms; 60 s unless given. */
  readonly cooldown?: number;
  /** How long a generated service without Dataplanes is kept, ms; 1 h unless given. */
  readonly grace?: number;
  /** Called for a Dataplane (index key) that names a service which cannot be called so. */
  readonly onUnusableName?: (dataplane: string, service: string) => void;
  /** State of each mesh here; without it every mesh that has a Mesh is served, with the zone's settings. */
  readonly meshes?: Meshes;
  /** See VipConfig. */
  readonly leastCooldown?: number;
  /** The proxies of the zone, where it serves any. */
  readonly proxies?: ProxyDirectory;
  /** How long a registered Dataplane stays while no replica has a stream of its proxy, ms; 15 min unless given. */
  readonly abandonedAfter?: number;
  /** Many registered Dataplanes are without a proxy: none is removed. */
  readonly onHeld?: NonNullable<AbandonedDataplanesOptions['onHeld']>;
  /** See VipConfig. */
  readonly ackWatermark?: NonNullable<VipConfig['ackWatermark']>;
  /** See VipConfig. */
  readonly waitedFor?: NonNullable<VipConfig['waitedFor']>;
  readonly onExhausted?: NonNullable<VipConfig['onExhausted']>;
  readonly onRaisedCooldown?: NonNullable<VipConfig['onRaisedCooldown']>;
}

/**
 * The control loops of a zone, each after those whose writes it reads (docs/design.md §4). Throws with every reason when the
 * address ranges contradict each other: check them with `planRanges` at start-up, which also warns.
 */
export function createZoneReconcilers(config: ZoneReconcilersConfig): ControlLoop[] {
  const { cp, cooldown = 60_000, grace = 3_600_000, onUnusableName, meshes, proxies, ackWatermark } = config;
  const { abandonedAfter: after = 900_000 } = config;
  if (cp.role !== 'zone') throw new Error('these loops run on zones only');
  const settings = Object.entries(config.ranges).map(([owner, range]) => ({ owner, range }));
  const plan = planRanges(settings, { force: config.forceRanges ?? false });
  if (!plan.ok) throw new Error(plan.errors.join('; '));
  const ids = new WorkloadIds();
  return [
    new KeyedLoop(
      new ServicesReconciler({
        cp,
        gracePeriod: grace,
        ids,
        ...(onUnusableName ? { onUnusableName } : {}),
        ...(meshes ? { meshes } : {}),
      }),
    ),
    new KeyedLoop(new AvailabilityReconciler(cp.zone, proxies, ids)),
    new VipReconciler({ ...config, ...(ackWatermark ? { ackWatermark } : {}), ranges: plan.owned, cooldown }),
    ...(proxies ? [createProxyConditionsLoop(cp.zone, proxies)] : []),
    ...(proxies ? [new KeyedLoop(new IngressHealthReconciler(cp.zone))] : []),
    ...(proxies
      ? [new KeyedLoop(new AbandonedDataplanesReconciler({ ...config, zone: cp.zone, proxies, after }))]
      : []),
    new HostnameReconciler(cp, meshes),
    new KeyedLoop(new MultizoneReconciler()),
  ];
}

/** How full the address ranges of the zone, and those that meshes have for themselves, are at `now` (ms of the store's clock). Empty without a vip loop. */
export function poolReports(loops: readonly ControlLoop[], now: number): readonly PoolReport[] {
  return loops.find((loop) => loop instanceof VipReconciler)?.reportsAt(now) ?? [];
}
