import { silentLogger, type LeaderTerm } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import { computedLabels, type Identity, type JsonObject, type Labels, type Resource } from '@causeway/resources';
import { coreKinds } from '@causeway/kinds';
import { followStore, ResourceIndex, type Change, type ResourceStore } from '@causeway/store';
import { MemoryDisk, MemoryLease, MemoryStore } from '@causeway/store/testing';
import { LoopRunner, type ControlLoop } from '@causeway/loops';

/** The control plane of the zone that a harness is. */
export const EAST = { role: 'zone', zone: 'east', federated: true } as const;

const EPOCH = 1_760_000_000_000;

/** One replica of a zone's control plane over a memory disk, moved step by step; `stop` it. */
export class Replica {
  readonly store: MemoryStore;
  readonly index = new ResourceIndex();
  private readonly ended = new AbortController();
  private readonly following: Promise<void>;
  private runner: LoopRunner | undefined;

  constructor(
    readonly disk: MemoryDisk,
    readonly clock: FakeClock,
    readonly name = 'a',
  ) {
    this.store = new MemoryStore(disk);
    this.following = followStore(this.store, this.index, { clock, logger: silentLogger, signal: this.ended.signal });
  }

  /** Takes over the epoch from any holder and begins a term with these loops; they write into `store`. */
  async lead(loops: readonly ControlLoop[], store: ResourceStore = this.store): Promise<LoopRunner> {
    const lease = new MemoryLease(this.disk);
    const { epoch: before, holder } = await lease.readEpoch();
    await lease.release(before, holder);
    const epoch = await lease.takeOver(before, this.name, 3_000);
    const term: LeaderTerm = { epoch: epoch ?? 0, holder: this.name, signal: this.ended.signal };
    const { index, clock } = this;
    this.runner?.close();
    this.runner = new LoopRunner(loops, { store, index, clock, term, logger: silentLogger, random: () => 0.5 });
    return this.runner;
  }

  /** Steps until nothing is left that could be done now. */
  async settle(): Promise<void> {
    if (!this.runner) throw new Error('this replica does not lead');
    for (let steps = 0; await this.runner.step(); steps++) if (steps > 10_000) throw new Error('it never settles');
  }

  /** Waits until this replica's index holds all the store has. */
  async caughtUp(): Promise<void> {
    await this.index.reached((await this.store.head()).revision);
  }

  async stop(): Promise<void> {
    this.ended.abort();
    this.runner?.close();
    await this.store.close();
    await this.following;
  }
}

/** A memory disk with its clock, and what users do to it. */
export class LoopHarness {
  readonly clock = new FakeClock(EPOCH);
  readonly disk: MemoryDisk;
  private readonly user: MemoryStore;
  private readonly replicas: Replica[] = [];

  constructor() {
    let ids = 0;
    this.disk = new MemoryDisk({ clock: this.clock, newId: () => `id-${++ids}` });
    this.user = new MemoryStore(this.disk);
  }

  replica(name?: string): Replica {
    const replica = new Replica(this.disk, this.clock, name);
    this.replicas.push(replica);
    return replica;
  }

  /** Writes as a user or a sync session does; throws when anything is refused. */
  async write(...changes: readonly Change[]): Promise<void> {
    await this.user.write({ changes, onRefusal: 'abort' });
    for (const replica of this.replicas) await replica.caughtUp();
  }

  /** As `write`, of what may be refused. */
  async tryWrite(...changes: readonly Change[]): Promise<void> {
    await this.user.write({ changes, onRefusal: 'skip' });
    for (const replica of this.replicas) await replica.caughtUp();
  }

  async get(id: Identity): Promise<Resource | undefined> {
    return this.user.get(id);
  }

  /** All that the store holds. */
  async rows(): Promise<readonly Resource[]> {
    return (await this.user.snapshot()).resources;
  }

  get revision(): number {
    return this.disk.revision;
  }

  async stop(): Promise<void> {
    for (const replica of this.replicas) await replica.stop();
    await this.user.close();
  }
}

/** An identity in zone east, mesh and namespace default, unless given. */
export function idOf(kind: string, name: string, rest: Partial<Identity> = {}): Identity {
  const namespaced = coreKinds.kind(kind)?.namespaced ?? false;
  return { kind, mesh: 'default', zone: 'east', namespace: namespaced ? 'default' : '', name, ...rest };
}

/** A put as a user makes it in zone east: labels with the computed ones. */
export function put(id: Identity, spec: JsonObject, labels: Labels = {}): Change {
  const kind = coreKinds.kind(id.kind);
  const computed = kind && id.zone === EAST.zone ? computedLabels(kind, id, EAST) : { 'kuma.io/origin': 'global' };
  return { type: 'put', id, expect: 'any', labels: { ...labels, ...computed }, spec };
}

/** A deletion as a user makes it. */
export function remove(id: Identity): Change {
  return { type: 'delete', id, expect: 'any' };
}

/** One inbound of a Dataplane. */
export type TestInbound = JsonObject & { readonly port: number };

/** A Dataplane in zone east. */
export function dataplane(name: string, inbound: readonly TestInbound[], labels: Labels = {}): Change {
  return put(idOf('Dataplane', name), { networking: { address: '10.1.1.1', inbound } }, labels);
}

/** An inbound of a service named by tag. */
export function tagged(service: string, port: number, rest: JsonObject = {}): TestInbound {
  return { port, ...rest, tags: { 'kuma.io/service': service } };
}

/** A stored resource for tests of plans, at revision 7. */
export function storedResource(
  id: Identity,
  { labels = {}, spec = {}, status }: { labels?: Labels; spec?: JsonObject; status?: JsonObject | undefined },
): Resource {
  const facts = { uid: id.name, generation: 1, creationOrder: 1, createdAt: 0, modifiedAt: 0, revision: 7, freed: [] };
  const origin = { incarnation: 'one', revision: 1, committedAt: 0 };
  return { ...facts, origin, id, labels, spec, ...(status ? { status } : {}) };
}
