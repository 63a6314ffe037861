import type { Identity, JsonObject, Resource } from '@causeway/resources';
import type { LeaderLease } from '@causeway/runtime';
import type {
  Change,
  ChangeBatch,
  ChangeResult,
  CopyFacts,
  PutChange,
  ResourceStore,
  StoreMaintenance,
} from '../../src/resource-store';
import type { AgentLeaseStore } from '../../src/agent-leases';
import type { ProxySessionStore } from '../../src/proxy-sessions';
import type { SessionStore } from '../../src/session-store';
import type { AuditLog } from '../../src/audit-log';

/** One store from the point of view of two processes, empty at first. */
export interface StoreFixture {
  readonly store: ResourceStore & StoreMaintenance;
  /** The same store in another process. */
  readonly other: ResourceStore & StoreMaintenance;
  readonly sessions: SessionStore;
  readonly proxies: ProxySessionStore;
  /** The same sessions in another process. */
  readonly otherProxies: ProxySessionStore;
  readonly agentLeases: AgentLeaseStore;
  readonly lease: LeaderLease;
  readonly audit: AuditLog;
  close(): Promise<void>;
}

let made = 0;

/** Returns an identity that no test has used before. */
export function freshId(kind = 'Thing'): Identity {
  return { kind, mesh: 'default', zone: 'east', namespace: 'default', name: `thing-${++made}` };
}

/** Returns an address that no test has used before. */
export function freshVip(): string {
  const n = ++made;
  return `241.${1 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}`;
}

/** Returns a put without a condition; `more` overrides its fields. */
export function put(id: Identity, spec: JsonObject = {}, more: Partial<PutChange> = {}): PutChange {
  return { type: 'put', id, expect: 'any', labels: { team: 'a' }, spec, ...more };
}

/** Returns the facts of a copy; `more` overrides. */
export function copyFacts(more: Partial<CopyFacts> = {}): CopyFacts {
  const origin = { incarnation: 'incarnation-1', revision: 7, committedAt: 1_700_000_000_000 };
  return {
    uid: 'uid-1',
    generation: 3,
    creationOrder: 1_700_000_000_000_000,
    createdAt: 1_700_000_000_000,
    origin,
    ...more,
  };
}

/** Writes changes that must all be accepted, and returns their results. */
export async function write(store: ResourceStore, ...changes: readonly Change[]): Promise<readonly ChangeResult[]> {
  const { results } = await store.write({ changes, onRefusal: 'abort' });
  return results;
}

/** Creates or replaces one resource, and returns its stored state. */
export async function writeOne(store: ResourceStore, change: PutChange): Promise<Resource> {
  await write(store, change);
  return held(store, change.id);
}

/** Returns the living resource; fails if there is none. */
export async function held(store: ResourceStore, id: Identity): Promise<Resource> {
  const resource = await store.get(id);
  if (!resource) throw new Error(`${id.name} is not there`);
  return resource;
}

/** Writes changes that may be refused; returns their refusals, `undefined` for accepted ones. */
export async function refusals(store: ResourceStore, ...changes: readonly Change[]): Promise<(string | undefined)[]> {
  const { results } = await store.write({ changes, onRefusal: 'skip' });
  return results.map((result) => (result.type === 'refused' ? result.refusal : undefined));
}

/** A watch that a test reads batch by batch. */
export class WatchReader {
  readonly batches: ChangeBatch[] = [];
  private readonly stop = new AbortController();
  private readonly iterator: AsyncIterator<ChangeBatch>;

  constructor(store: ResourceStore, since: Parameters<ResourceStore['watch']>[0]) {
    this.iterator = store.watch(since, this.stop.signal)[Symbol.asyncIterator]();
  }

  /** Returns the next batch; throws the watch's error, and if the watch has ended. */
  async next(): Promise<ChangeBatch> {
    const { value, done } = await this.iterator.next();
    if (done === true) throw new Error('the watch has ended');
    this.batches.push(value);
    return value;
  }

  /** Reads on until the watch has reached a revision. */
  async reach(revision: number): Promise<void> {
    while ((this.batches.at(-1)?.revision ?? -1) < revision) await this.next();
  }

  /** Returns the names that changed, in order, deleted ones with a minus. */
  names(): string[] {
    return this.batches.flatMap(({ changes }) =>
      changes.map((change) => (change.type === 'put' ? change.resource.id.name : `-${change.tombstone.id.name}`)),
    );
  }

  /** Returns true once the watch has ended after `close`. */
  async close(): Promise<boolean> {
    this.stop.abort();
    for (;;) {
      const { done } = await this.iterator.next();
      if (done === true) return true;
    }
  }
}
