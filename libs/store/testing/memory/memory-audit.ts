import type { AuditBounds, AuditEntry, AuditLog, AuditPage, AuditQuery, AuditRecord } from '../../src/audit-log';
import type { Change, ChangeResult } from '../../src/resource-store';
import { promised, type MemoryDisk } from './memory-disk';

/** The audit log of a MemoryDisk. */
export class MemoryAudit implements AuditLog {
  constructor(private readonly disk: MemoryDisk) {}

  record(records: readonly AuditRecord[]): Promise<void> {
    return promised(() => {
      for (const { age, ...record } of records) this.disk.audit.push({ ...record, position: this.position(age) });
    });
  }

  page(query: AuditQuery): Promise<AuditPage> {
    return promised(() => {
      const { after, size } = query;
      const sorted = this.disk.audit.toSorted((a, b) => byPosition(b, a));
      const entries = sorted
        .filter((entry) => matches(entry, query) && (!after || byPosition(entry, { position: after }) < 0))
        .slice(0, size + 1);
      const last = entries.length > size ? entries[size - 1] : undefined;
      return { entries: entries.slice(0, size), ...(last ? { next: last.position } : {}) };
    });
  }

  purge({ age, entries, refusals }: AuditBounds): Promise<number> {
    return promised(() => {
      const { disk } = this;
      const newest = disk.audit.toSorted((a, b) => byPosition(b, a));
      const oldest = (disk.clock.now() - age) * 1_000;
      const kept = new Set(newest.slice(0, entries).filter(({ position }) => position.at >= oldest));
      const refused = newest.filter(({ result }) => result === 'refused');
      for (const entry of refused.slice(refusals)) kept.delete(entry);
      const before = disk.audit.length;
      disk.audit = disk.audit.filter((entry) => kept.has(entry));
      return before - disk.audit.length;
    });
  }

  private position(age: number): AuditEntry['position'] {
    return { at: Math.round((this.disk.clock.now() - age) * 1_000), number: ++this.disk.auditNumber };
  }
}

/** Adds the entries of a write to the log of its disk. */
export function auditWrite(disk: MemoryDisk, changes: readonly Change[], results: readonly ChangeResult[]): void {
  changes.forEach((change, at) => {
    const result = results[at];
    if (change.type === 'patch' || change.audit === undefined || result?.type !== 'written') return;
    const { revision, generation, created } = result;
    const position = { at: disk.clock.now() * 1_000, number: ++disk.auditNumber };
    const entry = {
      ...change.audit,
      ...change.id,
      activity: '',
      result: 'done',
      reason: '',
      revision,
      position,
    } as const;
    if (change.type === 'delete') disk.audit.push({ ...entry, verb: 'delete', generationBefore: generation });
    else if (created) disk.audit.push({ ...entry, verb: 'create', generationAfter: generation });
    else disk.audit.push({ ...entry, verb: 'update', generationBefore: generation - 1, generationAfter: generation });
  });
}

function byPosition(a: Pick<AuditEntry, 'position'>, b: Pick<AuditEntry, 'position'>): number {
  return a.position.at - b.position.at || a.position.number - b.position.number;
}

function matches(entry: AuditEntry, query: AuditQuery): boolean {
  const { since = -Infinity, until = Infinity } = query;
  const { at } = entry.position;
  if (at < since * 1_000 || at >= until * 1_000) return false;
  return (['user', 'verb', 'kind', 'mesh', 'name', 'result'] as const).every(
    (field) => query[field] === undefined || query[field] === entry[field],
  );
}
