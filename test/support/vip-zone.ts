import { createZoneReconcilers } from '@causeway/controllers';
import { type ControlLoop, type LoopRunner } from '@causeway/loops';
import { poolMetrics, type ZoneReconcilersConfig } from '@causeway/controllers/testing';
import type { Identity, JsonObject } from '@causeway/resources';
import type { Change } from '@causeway/store';
import { meshesOfZone } from './meshes';
import { EAST, idOf, LoopHarness, put, type Replica } from './loop-harness';

/** Cooldown of freed addresses here, ms. */
export const COOLDOWN = 60_000;

/** The ranges of the product. */
export const DEFAULT_RANGES = {
  MeshService: '241.0.0.0/8',
  MeshExternalService: '242.0.0.0/8',
  MeshMultiZoneService: '243.0.0.0/8',
};

/** A zone in which only the vip loop runs. */
export class VipZone {
  readonly harness = new LoopHarness();
  private process: { readonly replica: Replica; readonly loop: ControlLoop; readonly runner: LoopRunner } | undefined;

  /** A new process of the zone's control plane, with these ranges, that takes the lead and settles. */
  async start(
    ranges: Readonly<Record<string, string>> = DEFAULT_RANGES,
    rest: Partial<ZoneReconcilersConfig> = {},
  ): Promise<void> {
    const replica = this.harness.replica();
    const meshes = meshesOfZone(replica.index, ranges);
    const config = { cp: EAST, ranges, meshes, cooldown: COOLDOWN, ...rest };
    const loop = createZoneReconcilers(config).find(({ name }) => name === 'vip');
    if (!loop) throw new Error('a zone has no vip loop');
    this.process = { replica, loop, runner: await replica.lead([loop]) };
    await replica.settle();
  }

  get replica(): Replica {
    return this.started.replica;
  }

  get runner(): LoopRunner {
    return this.started.runner;
  }

  get loop(): ControlLoop {
    return this.started.loop;
  }

  /** Of the range of MeshServices. */
  metrics(): unknown {
    return poolMetrics([this.loop], this.harness.clock.now())['MeshService'];
  }

  /** Writes as users do and lets the loop settle. */
  async apply(...changes: readonly Change[]): Promise<void> {
    await this.harness.write(...changes);
    await this.replica.settle();
  }

  async pass(ms: number): Promise<void> {
    this.harness.clock.advance(ms);
    await this.replica.settle();
  }

  async status(name: string): Promise<JsonObject | undefined> {
    return (await this.harness.get(service(name)))?.status;
  }

  /** Returns the address of a service, all of `status.vip` if another writer set it, undefined if there is none. */
  async vip(id: Identity | string): Promise<unknown> {
    const row = await this.harness.get(typeof id === 'string' ? service(id) : id);
    const held = row?.status?.['vip'] as JsonObject | undefined;
    return held?.['type'] === 'Kuma' ? held['ip'] : held;
  }

  vips(...names: readonly string[]): Promise<unknown[]> {
    return Promise.all(names.map((name) => this.vip(name)));
  }

  private get started(): { readonly replica: Replica; readonly loop: ControlLoop; readonly runner: LoopRunner } {
    if (!this.process) throw new Error('start the zone first');
    return this.process;
  }
}

/** A MeshService of zone east. */
export function service(name: string, rest: Partial<Identity> = {}): Identity {
  return idOf('MeshService', name, rest);
}

/** A MeshExternalService of zone east. */
export function external(name: string): Identity {
  return { kind: 'MeshExternalService', mesh: 'default', zone: 'east', namespace: '', name };
}

/** Puts of services. */
export function made(...ids: readonly Identity[]): Change[] {
  return ids.map((id) => put(id, { ports: [{ port: 80 }] }));
}

/** Puts of MeshServices of zone east. */
export function names(...all: readonly string[]): Change[] {
  return made(...all.map((name) => service(name)));
}
