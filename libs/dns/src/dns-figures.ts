import type { Tally } from './answer/tally';
import type { Doors } from './doors/doors';
import type { IndexFeed } from './table/index-feed';
import type { NameTable } from './table/name-table';

/** One figure read when somebody asks; the shape that the programs' metrics take. */
export interface DnsFigure {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  readonly read: () => Iterable<{ readonly labels?: Readonly<Record<string, string>>; readonly value: number }>;
}

/** What the figures are read from. */
export interface FigureSources {
  readonly tally: Tally;
  readonly table: NameTable;
  readonly feed: IndexFeed;
  readonly doors: Doors;
}

/** Questions by type and result, what was dropped, how many names there are and how many are disputed. */
export function dnsFigures(sources: FigureSources): readonly DnsFigure[] {
  const { tally, table, feed, doors } = sources;
  return [
    {
      name: 'dns_questions_total',
      help: 'Questions answered, by type and result',
      labels: ['type', 'result'],
      read: () => tally.questions().map(({ type, result, count }) => ({ labels: { type, result }, value: count })),
    },
    {
      name: 'dns_dropped_total',
      help: 'Questions and connections that got no answer, by reason',
      labels: ['reason'],
      read: () => tally.unanswered().map(({ reason, count }) => ({ labels: { reason }, value: count })),
    },
    single('dns_hostnames', 'Hostnames answered for', () => table.size),
    single('dns_hostname_conflicts', 'Hostnames that several meshes have', () => table.conflicts().size),
    single('dns_changes_total', 'Changes of services taken in', () => feed.changes),
    single('dns_tcp_connections', 'TCP connections open', () => doors.connections),
  ];
}

function single(name: string, help: string, read: () => number): DnsFigure {
  return { name, help, read: () => [{ value: read() }] };
}
