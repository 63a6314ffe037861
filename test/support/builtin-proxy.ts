import { BuiltinPlane, rawStats, type BuiltinPlaneOptions } from '@causeway/agent/testing';
import { systemClock } from '@causeway/runtime';
import { ToldPlane } from './told-plane';

export interface BuiltinProxyOptions {
  /** Node id. */
  readonly id: string;
  /** Port of the control plane on loopback, in plain text. */
  readonly xdsPort: number;
  readonly plane?: Partial<BuiltinPlaneOptions>;
}

/** A builtin plane that asks our server for everything, and its counters. */
export class BuiltinProxy {
  private constructor(private readonly told: ToldPlane<BuiltinPlane>) {}

  static async start({ plane: own = {}, ...from }: BuiltinProxyOptions): Promise<BuiltinProxy> {
    return new BuiltinProxy(
      await ToldPlane.start(from, (cache) => new BuiltinPlane(cache, { clock: systemClock, ...own })),
    );
  }

  get plane(): BuiltinPlane {
    return this.told.plane;
  }

  /** Returns one of its counters or gauges, by Envoy's name; 0 if there is none. */
  async stat(name: string): Promise<number> {
    return rawStats(await this.plane.stats()).get(name) ?? 0;
  }

  /** The sum of those whose names match. */
  async sum(filter: RegExp): Promise<number> {
    const stats = rawStats(await this.plane.stats());
    return [...stats].reduce((sum, [name, value]) => (filter.test(name) ? sum + value : sum), 0);
  }

  /** Ends it at once, as when its process is killed. */
  stop(): Promise<void> {
    return this.told.stop();
  }
}
