import type { AnswerBuilder } from './answer/answer-builder';
import type { DnsMetrics } from './dns-metrics';
import type { Listeners } from './listen/listeners';
import type { LatencyHistogram } from './answer/latency';
import type { Forwarder } from './forward/forwarder';
import type { Upstreams } from './forward/upstreams';
import type { NameTableUpdater } from './table/name-table-updater';
import type { NameTable } from './table/name-table';

/** One figure read when somebody asks; the shape that the programs' metrics take. */
export interface DnsMetric {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  readonly read: () => Iterable<{ readonly labels?: Readonly<Record<string, string>>; readonly value: number }>;
}

/** What the figures are read from. */
export interface MetricSources {
  readonly tally: DnsMetrics;
  readonly table: NameTable;
  readonly feed: NameTableUpdater;
  readonly doors: Listeners;
  readonly records: AnswerBuilder;
  readonly upstreams: Upstreams;
  readonly forwarder: Forwarder;
}

/** Questions by type and result, what was dropped, how many names there are and how many are disputed. */
export function metricDefinitions(sources: MetricSources): readonly DnsMetric[] {
  return [...questionMetrics(sources), ...nameMetrics(sources), ...forwardMetrics(sources)];
}

function questionMetrics({ tally, doors }: MetricSources): DnsMetric[] {
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
      read: () => tally.drops().map(({ reason, count }) => ({ labels: { reason }, value: count })),
    },
    single('dns_tcp_connections', 'TCP connections open', () => doors.connections),
    ...latencyMetrics('dns_answer_seconds', 'Time to an answer of our own, a sample', tally.ownLatency),
  ];
}

function nameMetrics({ table, feed, records }: MetricSources): DnsMetric[] {
  return [
    single('dns_hostnames', 'Hostnames answered for', () => table.size),
    single('dns_hostname_conflicts', 'Hostnames that several meshes have', () => table.conflicts().size),
    single('dns_changes_total', 'Changes of services taken in', () => feed.changes),
    single('dns_answers_made_total', 'Answers made anew, all others were ready', () => records.built),
  ];
}

function forwardMetrics({ tally, upstreams, forwarder }: MetricSources): DnsMetric[] {
  return [
    {
      name: 'dns_forwarded_total',
      help: 'Questions given to upstreams, by how that ended',
      labels: ['result'],
      read: () => tally.forwardResults().map(({ result, count }) => ({ labels: { result }, value: count })),
    },
    {
      name: 'dns_upstream_healthy',
      help: '1 while an upstream answers',
      labels: ['upstream'],
      read: () =>
        upstreams.list().map(({ label, coolingUntil: restsUntil }) => ({
          labels: { upstream: label },
          value: Number(restsUntil === 0),
        })),
    },
    single('dns_forward_pending', 'Questions under way to upstreams', () => forwarder.pending),
    ...latencyMetrics('dns_forward_seconds', 'Time to an answer of an upstream', tally.forwardLatency),
  ];
}

/** A histogram as plain figures: buckets, sum and count. */
function latencyMetrics(name: string, help: string, latency: LatencyHistogram): DnsMetric[] {
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

function single(name: string, help: string, read: () => number): DnsMetric {
  return { name, help, read: () => [{ value: read() }] };
}
