import { setImmediate as nextTurn } from 'node:timers/promises';
import { identityKey, type Resource } from '@causeway/resources';
import { SlicedWork, type Logger } from '@causeway/runtime';
import type { IndexEvent, ResourceIndex } from '@causeway/store';
import type { Authority } from './authority';
import type { NameTable } from './name-table';
import { NAMED_KINDS, namedService, sameAnswers } from './named-service';

const GENERATOR = 'HostnameGenerator';
const SHOWN = 5;

/**
 * Keeps the table and the suffixes equal to what the index holds. After a load the names are read in slices, with
 * answers in between; these come from the names that stood before until all new ones are in, for half a table would
 * deny names that exist.
 */
export class NameTableUpdater {
  /** Raised with every change of an answer; the serial of the SOAs. */
  serial = 0;
  /** Changes of names taken in since the start. */
  changes = 0;
  private reported = 0;
  private readonly reading = new SlicedWork();
  /** The table that is being read into. */
  private unfinished: NameTable | undefined;
  private readonly waiting = new Set<() => void>();

  constructor(
    private readonly index: ResourceIndex,
    private readonly sinks: { readonly table: NameTable; readonly authority: Authority; readonly logger: Logger },
  ) {}

  /** Loads what the index holds now and follows it until the returned function is called. */
  follow(): () => void {
    this.reload();
    const unsubscribe = this.index.subscribe((event) => this.apply(event));
    return () => {
      unsubscribe();
      this.forgetUnfinished();
    };
  }

  /** Resolves when all names of the last load are in. */
  async loaded(): Promise<void> {
    if (this.unfinished) await new Promise<void>((resolve) => this.waiting.add(resolve));
  }

  private apply(event: IndexEvent): void {
    if (event.reloaded) return this.reload();
    let touched = false;
    for (const { id, key, before, after } of event.changes) {
      if (id.kind === GENERATOR) {
        this.applyGenerator(key, after);
        touched = true;
      } else if (NAMED_KINDS.includes(id.kind)) touched = this.applyService(before, after) || touched;
    }
    if (touched && !this.unfinished) this.advance(event.point.revision);
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
    return true;
  }

  private reload(): void {
    const table = this.sinks.table.emptyCopy();
    this.unfinished = table;
    this.reading.begin(this.readInto(table));
    void this.readOn(table);
  }

  /** One service a step. One that changes in between is met as it is then. */
  private *readInto(table: NameTable): Generator<unknown> {
    for (const kind of NAMED_KINDS)
      for (const service of this.index.ofKind(kind)) yield table.add(namedService(service));
  }

  /** The first slice at once. */
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
    // Serials are 32 bits (RFC 1982); a reload may start at a lower revision, which must not look like "unchanged".
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
