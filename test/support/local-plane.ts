import { BuiltinPlane, type BuiltinPlaneOptions, rawStats } from '@causeway/agent/testing';
import { systemClock } from '@causeway/runtime';
import type { EnvoyResources, EnvoyView } from '@causeway/xds-translation';
import { RESOURCE_TYPES, type EncodedResource } from '@causeway/xds-server';
import type { TrafficZone } from './traffic-zone';
import { zoneResources } from './zone-resources';

const { cluster, endpoints, listener, routes, secret } = RESOURCE_TYPES;

/** The resources of a proxy of a view, at once and without a stream. */
export class ViewResources {
  private readonly source: EnvoyResources;
  private readonly wanted = new Map<string, Set<string>>();

  constructor(
    zone: TrafficZone,
    name: string,
    /** The view; a new one applies from the next request on. */
    public view: EnvoyView,
  ) {
    this.source = zoneResources(zone, name);
    this.source.follow();
  }

  get(type: string, name: string): EncodedResource | 'pending' | undefined {
    return this.source.get(this.view, type, name);
  }

  names(type: string): ReadonlySet<string> {
    const listed = this.source.names({ id: 'test', view: this.view }, type);
    return new Set([...listed, ...(this.wanted.get(type) ?? [])]);
  }

  want(type: string, names: readonly string[]): void {
    this.wanted.set(type, new Set([...(this.wanted.get(type) ?? []), ...names]));
  }

  release(type: string, names: readonly string[]): void {
    for (const name of names) this.wanted.get(type)?.delete(name);
  }

  /** Returns the names that are requested of a type. */
  asked(type: string): readonly string[] {
    return [...(this.wanted.get(type) ?? [])].sort();
  }
}

/** A builtin proxy in this process that applies a view of a zone; `refresh` notifies it of all that may have changed. */
export class LocalPlane {
  readonly plane: BuiltinPlane;
  private known = new Map<string, readonly string[]>();

  constructor(
    readonly resources: ViewResources,
    options: Partial<BuiltinPlaneOptions> = {},
  ) {
    this.plane = new BuiltinPlane(resources, { clock: systemClock, ...options });
  }

  /** Resolves with the features that it does not support. */
  async refresh(): Promise<readonly string[]> {
    const refusals: string[] = [];
    for (const type of [cluster, endpoints, secret, routes, listener]) {
      const now = [...this.resources.names(type)];
      const names = [...new Set([...now, ...(this.known.get(type) ?? [])])];
      this.known.set(type, now);
      const refusal = await this.plane.take({ type, names });
      if (refusal !== undefined) refusals.push(refusal);
    }
    return refusals;
  }

  async start(): Promise<void> {
    await this.plane.start();
    await this.refresh();
  }

  /** Returns one of its counters or gauges, by Envoy's name; 0 if there is none. */
  async stat(name: string): Promise<number> {
    return rawStats(await this.plane.stats()).get(name) ?? 0;
  }

  stop(): Promise<void> {
    return this.plane.stop({ drainMs: 0 });
  }
}
