import type { RecordSets } from './answer/record-sets';
import type { Tally } from './answer/tally';
import type { Doors } from './doors/doors';
import type { Latency } from './answer/latency';
import type { Forwarder } from './forward/forwarder';
import type { Upstreams } from './forward/upstreams';
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
  readonly records: RecordSets;
  readonly upstreams: Upstreams;
  readonly forwarder: Forwarder;
}

/** Questions by type and result, what was dropped, how many names there are and how many are disputed. */
export function dnsFigures(sources: FigureSources): readonly DnsFigure[] {
  return [...questionFigures(sources), ...nameFigures(sources), ...forwardFigures(sources)];
}

function questionFigures({ tally, doors }: FigureSources): DnsFigure[] {
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
    single('dns_tcp_connections', 'TCP connections open', () => doors.connections),
    ...latencyFigures('dns_answer_seconds', 'Time to an answer of our own, a sample', tally.own),
  ];
}

function nameFigures({ table, feed, records }: FigureSources): DnsFigure[] {
  return [
    single('dns_hostnames', 'Hostnames answered for', () => table.size),
    single('dns_hostname_conflicts', 'Hostnames that several meshes have', () => table.conflicts().size),
    single('dns_changes_total', 'Changes of services taken in', () => feed.changes),
    single('dns_answers_made_total', 'Answers made anew, all others were ready', () => records.made),
  ];
}

function forwardFigures({ tally, upstreams, forwarder }: FigureSources): DnsFigure[] {
  return [
    {
      name: 'dns_forwarded_total',
      help: 'Questions given to upstreams, by how that ended',
      labels: ['result'],
      read: () => tally.handedOn().map(({ result, count }) => ({ labels: { result }, value: count })),
    },
    {
      name: 'dns_upstream_healthy',
      help: '1 while an upstream answers',
      labels: ['upstream'],
      read: () =>
        upstreams
          .list()
          .map(({ label, restsUntil }) => ({ labels: { upstream: label }, value: Number(restsUntil === 0) })),
    },
    single('dns_forward_pending', 'Questions under way to upstreams', () => forwarder.pending),
    ...latencyFigures('dns_forward_seconds', 'Time to an answer of an upstream', tally.others),
  ];
}

/** A histogram as plain figures: buckets, sum and count. */
function latencyFigures(name: string, help: string, latency: Latency): DnsFigure[] {
  return [
    {
      name: `${name}_bucket`,
      help,
      labels: ['le'],
      read: () => latency.buckets().map(({ le, count }) => ({ labels: { le }, value: count })),
    },
    single(`${name}_sum`, help, () => latency.sum),
    single(`${name}_count`, help, () => latency.count),
  ];
}

function single(name: string, help: string, read: () => number): DnsFigure {
  return { name, help, read: () => [{ value: read() }] };
}
