import { setImmediate as nextTurn } from 'node:timers/promises';
import { identityAttributes, identityKey, recentTrace, type Resource } from '@causeway/resources';
import { SlicedWork, type Clock, type Logger, type Tracer } from '@causeway/runtime';
import type { IndexEvent, IndexReader } from '@causeway/store';
import type { Authority } from './authority';
import type { NameTable } from './name-table';
import { NAMED_KINDS, namedService, sameAnswers } from './named-service';

const GENERATOR = 'HostnameGenerator';
/** Most hostnames that a log line about conflicts lists. */
const SHOWN = 5;

/** What the updater writes to. */
interface NameSinks {
  readonly table: NameTable;
  readonly authority: Authority;
  readonly logger: Logger;
  /** With a tracer: the time by which a change is traced. */
  readonly clock?: Pick<Clock, 'now'>;
  readonly tracer?: Tracer | undefined;
}

/**
 * Keeps the name table and the suffixes equal to the index. After a load the names are read in slices, and queries are
 * answered between the slices. Until all names are read the answers come from the old table: a partial table would deny
 * names that exist.
 */
export class NameTableUpdater {
  /** The serial of all SOAs; raised with every change of an answer. */
  serial = 0;
  /** Number of changes of services applied since the start. */
  changes = 0;
  private reported = 0;
  private readonly reading = new SlicedWork();
  /** The table that a load is filling. */
  private unfinished: NameTable | undefined;
  private readonly waiting = new Set<() => void>();

  constructor(
    private readonly index: IndexReader,
    private readonly sinks: NameSinks,
  ) {}

  /** Loads the index and follows it until the returned function is called. */
  follow(): () => void {
    this.reload();
    const unsubscribe = this.index.subscribe((event) => this.apply(event));
    return () => {
      unsubscribe();
      this.forgetUnfinished();
    };
  }

  /** Resolves when all names of the last load are in the table. */
  async loaded(): Promise<void> {
    if (this.unfinished) await new Promise<void>((resolve) => this.waiting.add(resolve));
  }

  private apply(event: IndexEvent): void {
    if (event.reloaded) return this.reload();
    let changed = false;
    for (const { id, key, before, after } of event.changes) {
      if (id.kind === GENERATOR) {
        this.applyGenerator(key, after);
        changed = true;
      } else if (NAMED_KINDS.includes(id.kind)) changed = this.applyService(before, after) || changed;
    }
    if (changed && !this.unfinished) this.advance(event.point.revision);
  }

  private applyGenerator(key: string, after: Resource | undefined): void {
    const template = after?.spec['template'];
    this.sinks.authority.setGenerator(key, typeof template === 'string' ? template : undefined);
  }

  private applyService(before: Resource | undefined, after: Resource | undefined): boolean {
    if (before && after && sameAnswers(before, after)) return false;
    const table = this.unfinished ?? this.sinks.table;
    if (before) table.remove(namedService(before));
    if (after) table.add(namedService(after));
    this.changes += 1;
    if (after?.origin.traceparent !== undefined) this.trace(after);
    return true;
  }

  private trace({ id, origin }: Resource): void {
    const { tracer, clock } = this.sinks;
    const parent = clock && recentTrace(origin, clock.now());
    tracer?.step('dns table', parent, { attributes: identityAttributes(id) })?.end();
  }

  private reload(): void {
    const table = this.sinks.table.emptyCopy();
    this.unfinished = table;
    this.reading.begin(this.readInto(table));
    void this.readOn(table);
  }

  /** One service a step. A service that changes meanwhile is read in its newest state. */
  private *readInto(table: NameTable): Generator<unknown> {
    for (const kind of NAMED_KINDS)
      for (const service of this.index.ofKind(kind)) yield table.add(namedService(service));
  }

  /** Runs the first slice at once and one slice a turn of the event loop. */
  private async readOn(table: NameTable): Promise<void> {
    while (this.unfinished === table) {
      if (this.reading.advance()) this.finish(table);
      else await nextTurn();
    }
  }

  private finish(read: NameTable): void {
    const { table, authority } = this.sinks;
    table.replaceWith(read);
    authority.clear();
    for (const generator of this.index.ofKind(GENERATOR)) this.applyGenerator(identityKey(generator.id), generator);
    this.forgetUnfinished();
    this.advance(this.index.point?.revision ?? 0);
  }

  private forgetUnfinished(): void {
    this.unfinished = undefined;
    for (const resolve of this.waiting) resolve();
    this.waiting.clear();
  }

  private advance(revision: number): void {
    // Serials have 32 bits (RFC 1982). A reload may begin at a lower revision; the serial changes all the same.
    this.serial = revision % 2 ** 32;
    this.reportConflicts();
  }

  private reportConflicts(): void {
    const conflicts = this.sinks.table.conflicts();
    if (conflicts.size > this.reported) {
      const hostnames = [...conflicts].slice(-SHOWN).map(({ hostname, holders }) => ({
        hostname,
        meshes: [...new Set(holders.map(({ service }) => service.id.mesh))],
      }));
      this.sinks.logger.warn('several meshes have one hostname; the first mesh answers', {
        count: conflicts.size,
        hostnames,
      });
    }
    this.reported = conflicts.size;
  }
}
