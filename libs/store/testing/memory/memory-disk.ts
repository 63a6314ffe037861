import { randomUUID } from 'node:crypto';
import { systemClock, type Clock, type LeaderWitness } from '@causeway/runtime';
import type { AgentLease } from '../../src/agent-leases';
import type { AuditEntry } from '../../src/audit-log';
import type { ReplicaSessions, StoredProxySession } from '../../src/proxy-sessions';
import type { SessionRecord } from '../../src/session-store';
import {
  RelistRequired,
  type ChangeBatch,
  type MetadataEntry,
  type ReadSet,
  type StoreChange,
} from '../../src/resource-store';
import { toResource, toTombstone, type MemoryRow } from './memory-row';

const INCARNATION_GAP = 1_000_000;

/** The sources of time and randomness, so that a simulation is reproducible. */
export interface MemoryDiskOptions {
  readonly clock?: Clock;
  /** Returns uids and incarnations. */
  readonly newId?: () => string;
}

/** The leader, and the end of its lease. */
export interface MemoryLeader {
  readonly epoch: number;
  readonly holder: string;
  readonly witness: LeaderWitness;
  /** ms since 1970. */
  readonly expiresAt: number;
}

/** A replica and its sessions on a memory disk. */
export interface MemoryReplica extends Omit<ReplicaSessions, 'sessions' | 'now'> {
  readonly sessions: ReadonlyMap<string, StoredProxySession>;
}

/** The newest creation order of a disk, its zone, and the newest of other zones. */
export interface NewestOrder {
  readonly order: number;
  readonly zone: string;
  readonly others: number;
}

/** The last moment at which the whole state of a zone was held; undefined: none. Some kinds have a moment of their own. */
export interface MemoryWhole {
  readonly order: number | undefined;
  readonly except: ReadonlyMap<string, number | undefined>;
}

/** Returns the moment of a kind. */
export function findMoment(whole: MemoryWhole | undefined, kind: string): number | undefined {
  return whole?.except.has(kind) === true ? whole.except.get(kind) : whole?.order;
}

/** A state saved by `MemoryDisk.save`. */
export interface MemoryBackup {
  readonly rows: ReadonlyMap<string, MemoryRow>;
  readonly metadata: ReadonlyMap<string, MetadataEntry>;
  readonly sessions: ReadonlyMap<string, SessionRecord>;
  readonly wholes: ReadonlyMap<string, MemoryWhole>;
  readonly sessionFloor: number;
  readonly pointKey: string;
  readonly leader: MemoryLeader;
  readonly incarnation: string;
  readonly revision: number;
  readonly floor: number;
  readonly newest: NewestOrder;
}

/**
 * State of MemoryStore, MemorySessions and MemoryLease that survives the end of a process. Several of each may share one disk, as replicas share a
 * database. It has no timers; all time comes from the clock.
 */
export class MemoryDisk {
  readonly clock: Clock;
  readonly newId: () => string;
  rows = new Map<string, MemoryRow>();
  readonly vips = new Map<string, string>();
  metadata = new Map<string, MetadataEntry>();
  sessions = new Map<string, SessionRecord>();
  /** By zone; a deleted zone has none. */
  wholes = new Map<string, MemoryWhole>();
  /** Replicas that serve proxies, by instance. */
  readonly proxies = new Map<string, MemoryReplica>();
  /** Leases of agents. */
  readonly agentLeases = new Map<string, AgentLease>();
  /** Hashes of the secrets of their agents. */
  readonly leaseSecrets = new Map<string, string>();
  /** The maximum session number of a deleted zone. */
  sessionFloor = 0;
  /** See ResourceStore. */
  pointKey: string;
  /** The entries of the audit log; the last one has the highest number. */
  audit: AuditEntry[] = [];
  auditNumber = 0;
  leader: MemoryLeader = { epoch: 0, holder: '', witness: 'lock', expiresAt: 0 };
  incarnation: string;
  revision = 0;
  /** The lowest revision at which a watch can begin. */
  floor = 0;
  newest: NewestOrder = { order: 0, zone: '', others: 0 };
  readonly releaseListeners = new Set<() => void>();
  private log: { readonly revision: number; readonly key: string }[] = [];
  private readonly waiting = new Set<() => void>();

  constructor(options: MemoryDiskOptions = {}) {
    this.clock = options.clock ?? systemClock;
    this.newId = options.newId ?? randomUUID;
    this.incarnation = this.newId();
    // Not random, so that a simulation is reproducible; data in memory needs no better key.
    this.pointKey = `key of ${this.incarnation}`;
  }

  /** Commits a transaction's rows and metadata, and wakes watches. */
  commit(written: ReadonlyMap<string, MemoryRow>, entries: readonly MetadataEntry[], newest: NewestOrder): void {
    for (const entry of entries) this.setMetadata(entry);
    this.newest = newest;
    if (written.size === 0) return;
    const rows = [...written].sort(([, a], [, b]) => a.revision - b.revision);
    for (const [key] of rows) this.dropVip(key);
    for (const [key, row] of rows) {
      this.rows.set(key, row);
      if (row.vip !== undefined) this.vips.set(row.vip, key);
      this.log.push({ revision: row.revision, key });
      this.revision = row.revision;
    }
    this.compactLog();
    this.wake();
  }

  /** Returns all changes after `revision`, the latest entry of each resource; undefined if there are none. */
  changesSince(revision: number): ChangeBatch | undefined {
    if (revision >= this.revision) return undefined;
    const changes: StoreChange[] = [];
    for (let i = this.firstAfter(revision); i < this.log.length; i++) {
      const entry = this.log[i];
      const row = entry && this.rows.get(entry.key);
      if (!row || row.revision !== entry.revision) continue;
      changes.push(this.toChange(row));
    }
    return { revision: this.revision, changes, compactionRevision: this.floor };
  }

  /** Reports whether a resource of a read set came, changed or went after its revision. */
  hasChanged({ revision, kinds = [], mesh }: ReadSet): boolean {
    for (let i = this.firstAfter(revision); i < this.log.length; i++) {
      const id = this.rows.get(this.log[i]?.key ?? '')?.id;
      if (id && (kinds.includes(id.kind) || id.mesh === mesh)) return true;
    }
    return false;
  }

  /** Throws RelistRequired if the changes since this point are unknown. */
  assertReadable(incarnation: string, revision: number): void {
    if (incarnation !== this.incarnation || revision > this.revision) throw new RelistRequired('incarnation');
    if (revision < this.floor) throw new RelistRequired('too-old');
  }

  /** Resolves at the next commit, new incarnation, or `wake`. */
  changed(): Promise<void> {
    return new Promise((resolve) => this.waiting.add(resolve));
  }

  wake(): void {
    const waiting = [...this.waiting];
    this.waiting.clear();
    for (const resolve of waiting) resolve();
  }

  /** Returns a backup for `restore`. */
  save(): MemoryBackup {
    const { leader, incarnation, revision, floor, newest, sessionFloor, pointKey } = this;
    const [rows, metadata, sessions] = [new Map(this.rows), new Map(this.metadata), new Map(this.sessions)];
    const wholes = new Map(this.wholes);
    return { rows, metadata, sessions, wholes, leader, incarnation, revision, floor, newest, sessionFloor, pointKey };
  }

  /** Restores a backup like an operator; by default a new incarnation begins (docs/design.md §2.7). */
  restore(backup: MemoryBackup, incarnation: 'new' | 'same' = 'new'): void {
    this.rows = new Map(backup.rows);
    this.metadata = new Map(backup.metadata);
    this.sessions = new Map(backup.sessions);
    this.wholes = new Map(backup.wholes);
    this.vips.clear();
    for (const [key, row] of this.rows) if (row.vip !== undefined) this.vips.set(row.vip, key);
    this.log = [...this.rows]
      .map(([key, row]) => ({ key, revision: row.revision }))
      .sort((a, b) => a.revision - b.revision);
    Object.assign(this, {
      revision: backup.revision,
      floor: backup.floor,
      newest: backup.newest,
      leader: backup.leader,
      sessionFloor: backup.sessionFloor,
      pointKey: backup.pointKey,
    });
    this.incarnation = backup.incarnation;
    if (incarnation === 'new') this.beginIncarnation();
    else this.wake();
  }

  /** Starts a new incarnation. Revisions continue with a gap: old ones that readers remember never recur. */
  beginIncarnation(): void {
    this.incarnation = this.newId();
    this.revision += INCARNATION_GAP;
    this.wake();
  }

  /** Deletes tombstones from `before` (ms since 1970) or earlier, and returns their number. */
  purge(before: number): number {
    const old = [...this.rows].filter(([, row]) => row.deletedAt !== undefined && row.deletedAt <= before);
    for (const [key, row] of old) {
      this.rows.delete(key);
      this.floor = Math.max(this.floor, row.revision);
    }
    this.wake();
    return old.length;
  }

  private toChange(row: MemoryRow): StoreChange {
    return row.deletedAt === undefined
      ? { type: 'put', resource: toResource(row, this.incarnation) }
      : { type: 'delete', tombstone: toTombstone(row) };
  }

  private setMetadata(entry: MetadataEntry): void {
    const key = metadataKey(entry.area, entry.key);
    if (entry.value === null) this.metadata.delete(key);
    else this.metadata.set(key, entry);
  }

  private dropVip(key: string): void {
    const vip = this.rows.get(key)?.vip;
    if (vip !== undefined) this.vips.delete(vip);
  }

  private firstAfter(revision: number): number {
    let [low, high] = [0, this.log.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.log[middle]?.revision ?? 0) <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private compactLog(): void {
    if (this.log.length < 2 * this.rows.size + 1000) return;
    this.log = this.log.filter((entry) => this.rows.get(entry.key)?.revision === entry.revision);
  }
}

/** Returns the key of a metadata entry. Areas and keys may contain any character but NUL, which separates them. */
export function metadataKey(area: string, key: string): string {
  return `${area}\0${key}`;
}

/** Runs `work` at once and returns its outcome as a promise: an exception becomes a rejection. */
export function promised<T>(work: () => T): Promise<T> {
  return new Promise((resolve) => resolve(work()));
}
