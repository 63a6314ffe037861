import type { Clock, Timer } from '@causeway/runtime';
import { RESOURCE_TYPES } from '@causeway/xds-server';
import type { Plane, PlaneProcessesState, PlaneState, UnsupportedFeature } from '../plane';
import type { CacheChange } from '../resources/resource-reader';
import type { PlaneResources } from './decoded-resources';
import { PlaneCore } from './plane-core';
import type { PlaneEngine, PlaneLimits } from './plane-engine';
import type { PlaneProcesses } from './processes/plane-processes';
import type { StatSnapshot } from './stats';

export interface BuiltinPlaneOptions {
  readonly clock: Clock;
  /** Maximum number of open client connections. */
  readonly maxConnections?: number;
  /** Grace period for connections whose listener or filter chain was removed, ms. */
  readonly drain?: number;
  /** Processes that carry the connections; default: this process. */
  readonly processes?: PlaneProcesses;
}

/** Types whose changes may add unsupported features, and the delay before those are collected again, ms. */
const FEATURE_TYPES: ReadonlySet<string> = new Set([RESOURCE_TYPES.listener, RESOURCE_TYPES.routes]);
const FEATURE_CHECK_DELAY = 200;
const PRESET: PlaneLimits = { maxConnections: 20_000, drain: 500, share: 1 };

/**
 * Builtin dataplane of one Dataplane or ingress: serves the same resources as Envoy, over the same protocol, for TCP
 * and TLS. It does not implement HTTP features, and reports those that it received (`unsupported`).
 */
export class BuiltinPlane implements Plane {
  readonly type = 'builtin';
  private current: PlaneState;
  private lost: readonly UnsupportedFeature[] = [];
  private featureCheck: Timer | undefined;
  private readonly engine: PlaneEngine;

  constructor(
    resources: PlaneResources,
    private readonly options: BuiltinPlaneOptions,
  ) {
    const { clock, processes, maxConnections = PRESET.maxConnections, drain = PRESET.drain } = options;
    const limits = { ...PRESET, maxConnections, drain };
    this.engine = processes ? processes.engine(resources, limits) : new PlaneCore(resources, { ...limits, clock });
    this.current = { type: 'starting', since: options.clock.now() };
  }

  get state(): PlaneState {
    return this.current;
  }

  get processes(): PlaneProcessesState | undefined {
    return this.options.processes?.state;
  }

  async start(): Promise<void> {
    const reason = await this.engine.start();
    await this.updateUnsupported();
    this.become({ type: 'serving', ...(reason !== undefined && { reason }) });
  }

  async take(change: CacheChange): Promise<string | undefined> {
    const refusal = await this.engine.take(change);
    if (FEATURE_TYPES.has(change.type))
      this.featureCheck ??= this.options.clock.after(FEATURE_CHECK_DELAY, () => void this.updateUnsupported());
    return refusal;
  }

  async stop({ drainMs }: { readonly drainMs: number }): Promise<void> {
    if (this.current.type === 'stopped') return;
    this.become({ type: 'draining' });
    this.featureCheck?.cancel();
    await this.engine.stop(drainMs);
    this.become({ type: 'stopped' });
  }

  get unsupported(): readonly UnsupportedFeature[] {
    return this.lost;
  }

  /** Returns counters and gauges, by Envoy's names. */
  stats(): Promise<StatSnapshot> {
    return this.engine.stats();
  }

  /** Collects unsupported features of all listeners; runs once for changes that arrive together. */
  private async updateUnsupported(): Promise<void> {
    const lost = await this.engine.unsupported();
    this.featureCheck = undefined;
    this.lost = lost;
  }

  private become(state: Omit<PlaneState, 'since'>): void {
    this.current = { ...state, since: this.options.clock.now() };
  }
}
