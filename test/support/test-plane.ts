import { getRegistry } from '@causeway/meshes';
import {
  computedLabels,
  identityKey,
  ownZone,
  type ControlPlane,
  type Identity,
  type JsonObject,
  type Labels,
  type Resource,
} from '@causeway/resources';
import { silentLogger, systemClock } from '@causeway/runtime';
import { followStore, ResourceIndex, type Change } from '@causeway/store';
import { MemoryDisk } from '@causeway/store/testing';
import { memoryState, WatchGate, type PlaneState } from './plane-state';

const DEFAULTS = { mesh: 'default', namespace: 'default' };

/** One replica of a control plane of a test: its part in a store, in memory unless given, its index, and what writes to it. */
export class TestPlane {
  readonly state: PlaneState;
  readonly index = new ResourceIndex();
  /** The kinds that it knows now. */
  readonly kinds = getRegistry(this.index);
  /** Shut, this replica hears of no change. */
  readonly gate = new WatchGate();
  private readonly stop = new AbortController();
  private readonly following: Promise<void>;

  constructor(
    readonly cp: ControlPlane,
    private readonly home: MemoryDisk | PlaneState = new MemoryDisk(),
  ) {
    this.state = home instanceof MemoryDisk ? memoryState(home) : home;
    const { store } = this.state;
    const watched = {
      head: () => store.head(),
      snapshot: () => store.snapshot(),
      watch: (...since: Parameters<typeof store.watch>) => this.gate.through(store.watch(...since)),
    };
    const signal = this.stop.signal;
    this.following = followStore(watched, this.index, { clock: systemClock, logger: silentLogger, signal });
  }

  get store(): PlaneState['store'] {
    return this.state.store;
  }

  /** Of a plane in memory. */
  get disk(): MemoryDisk {
    if (this.home instanceof MemoryDisk) return this.home;
    throw new Error('this plane has a database');
  }

  /** Returns the identity of a resource made here. */
  id(kindName: string, name: string, at: Partial<Identity> = {}): Identity {
    const kind = this.kinds.kind(kindName);
    if (!kind) throw new Error(`no kind ${kindName}`);
    return {
      kind: kindName,
      name,
      mesh: kind.scope === 'mesh' ? DEFAULTS.mesh : '',
      namespace: kind.namespaced ? DEFAULTS.namespace : '',
      zone: kind.sync.zoneInIdentity ? ownZone(this.cp) : '',
      ...at,
    };
  }

  put(kindName: string, name: string, spec: JsonObject, labels: Labels = {}): Promise<number> {
    const id = this.id(kindName, name);
    const kind = this.kinds.kind(kindName);
    if (!kind) throw new Error(`no kind ${kindName}`);
    return this.write([
      { type: 'put', id, expect: 'any', labels: { ...labels, ...computedLabels(kind, id, this.cp) }, spec },
    ]);
  }

  delete(kindName: string, name: string, at: Partial<Identity> = {}): Promise<number> {
    return this.write([{ type: 'delete', id: this.id(kindName, name, at), expect: 'any' }]);
  }

  /** Writes and resolves with the revision, once this replica has heard of it. */
  async write(changes: readonly Change[]): Promise<number> {
    const { revision } = await this.store.write({ changes, onRefusal: 'abort' });
    await this.index.reached(revision);
    return revision;
  }

  get(id: Identity): Resource | undefined {
    return this.index.get(id);
  }

  /** Names of all of a kind as zone/name, sorted. */
  names(kind: string): string[] {
    return [...this.index.ofKind(kind)].map(({ id }) => (id.zone === '' ? id.name : `${id.zone}/${id.name}`)).sort();
  }

  /** Resolves when the condition holds; it is checked after each change of the index. */
  async until(condition: () => boolean): Promise<void> {
    if (condition()) return;
    await new Promise<void>((resolve) => {
      const unsubscribe = this.index.subscribe(() => {
        if (!condition()) return;
        unsubscribe();
        resolve();
      });
    });
  }

  /** Resolves with the resource once it is there and as wanted. */
  async holds(id: Identity, as: (resource: Resource) => boolean = () => true): Promise<Resource> {
    await this.until(() => {
      const held = this.get(id);
      return held !== undefined && as(held);
    });
    const held = this.index.byIdentityKey(identityKey(id));
    if (!held) throw new Error('gone again');
    return held;
  }

  async lacks(id: Identity): Promise<void> {
    await this.until(() => this.get(id) === undefined);
  }

  async close(): Promise<void> {
    this.stop.abort();
    this.gate.open();
    await this.state.close();
    await this.following;
  }
}
