import { identityAttributes, identityKey, recentTrace, type Resource } from '@causeway/resources';
import type { Clock, Logger, Tracer } from '@causeway/runtime';
import { DerivedTable, fillInSlices, type Derivation, type IndexEvent, type IndexReader } from '@causeway/store';
import { Authority } from './authority';
import { NameTable } from './name-table';
import { NAMED_KINDS, readNamedService, sameAnswers } from './named-service';
import type { DnsName } from '../wire/dns-name';

const GENERATOR = 'HostnameGenerator';
/** Maximum number of hostnames that a log line about conflicts lists. */
const SHOWN = 5;

/** Names for which a server answers. */
export interface Names {
  readonly table: NameTable;
  readonly authority: Authority;
}

/** Sources of the names of a zone. */
export interface FollowedNamesOptions {
  readonly index: IndexReader;
  /** The order of precedence of meshes. */
  readonly meshOrder: readonly string[];
  /** The configured suffixes. */
  readonly suffixes: readonly DnsName[];
  readonly logger: Logger;
  readonly clock: Pick<Clock, 'now' | 'elapsed'>;
  readonly tracer?: Tracer | undefined;
}

/**
 * The names of the services of an index, kept up to date until `close`. During a reload, answers come from the previous
 * table: a partial table would deny names that exist.
 */
export class FollowedNames implements Names {
  /** The current table; a field, because every query reads it. */
  table: NameTable;
  authority: Authority;
  /** Serial of all SOAs; incremented with every change of an answer. */
  serial = 0;
  /** Number of changes of services applied since the start. */
  changes = 0;
  private reported = 0;
  private readonly derived: DerivedTable<Names, true>;

  constructor(private readonly options: FollowedNamesOptions) {
    const { index, clock, logger } = options;
    const run = fillInSlices({ clock, logger, failure: 'the names of services cannot be read' });
    this.derived = new DerivedTable({ index, run, derivation: this.derivation() });
    ({ table: this.table, authority: this.authority } = this.derived.served);
    this.derived.subscribe({ reload: () => this.changed(), apply: () => this.changed() });
    if (this.derived.hasLoaded) this.changed();
  }

  /** Resolves when the names of the index have been read once; never if `close` comes first. */
  whenLoaded(): Promise<void> {
    return this.derived.whenLoaded();
  }

  /** Stops following the index. */
  close(): void {
    this.derived.close();
  }

  private derivation(): Derivation<Names, true> {
    const { index, meshOrder, suffixes } = this.options;
    return {
      empty: () => ({ table: new NameTable(meshOrder), authority: new Authority(suffixes) }),
      *fill({ table, authority }) {
        for (const generator of index.ofKind(GENERATOR)) yield applyGenerator(authority, generator.id, generator);
        for (const kind of NAMED_KINDS)
          for (const service of index.ofKind(kind)) yield table.add(readNamedService(service));
      },
      apply: (names, event) => this.apply(names, event),
    };
  }

  private apply({ table, authority }: Names, { changes }: IndexEvent): true | undefined {
    let isChanged = false;
    for (const { id, before, after } of changes) {
      if (id.kind === GENERATOR) {
        applyGenerator(authority, id, after);
        isChanged = true;
      } else if (NAMED_KINDS.includes(id.kind)) isChanged = this.applyService(table, before, after) || isChanged;
    }
    return isChanged || undefined;
  }

  private applyService(table: NameTable, before: Resource | undefined, after: Resource | undefined): boolean {
    if (before && after && sameAnswers(before, after)) return false;
    if (before) table.remove(readNamedService(before));
    if (after) table.add(readNamedService(after));
    this.changes += 1;
    if (after?.origin.traceparent !== undefined) this.trace(after);
    return true;
  }

  private trace({ id, origin }: Resource): void {
    const { tracer, clock } = this.options;
    tracer?.step('dns table', recentTrace(origin, clock.now()), { attributes: identityAttributes(id) })?.end();
  }

  private changed(): void {
    ({ table: this.table, authority: this.authority } = this.derived.served);
    // Serials have 32 bits (RFC 1982). A reload may start at a lower revision; the serial changes nevertheless.
    this.serial = (this.options.index.point?.revision ?? 0) % 2 ** 32;
    this.reportConflicts();
  }

  private reportConflicts(): void {
    const conflicts = this.table.conflicts();
    if (conflicts.size > this.reported) {
      const hostnames = [...conflicts].slice(-SHOWN).map(({ hostname, holders }) => ({
        hostname,
        meshes: [...new Set(holders.map(({ service }) => service.id.mesh))],
      }));
      this.options.logger.warn('several meshes have one hostname; the first mesh answers', {
        count: conflicts.size,
        hostnames,
      });
    }
    this.reported = conflicts.size;
  }
}

function applyGenerator(authority: Authority, id: Resource['id'], generator: Resource | undefined): void {
  const template = generator?.spec['template'];
  authority.setGenerator(identityKey(id), typeof template === 'string' ? template : undefined);
}
