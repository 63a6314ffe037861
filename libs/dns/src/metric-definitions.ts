import type { AnswerBuilder } from './answer/answer-builder';
import type { DnsMetrics, LatencyHistogram } from './dns-metrics';
import type { Forwarder } from './forward/forwarder';
import type { Resolvers } from './forward/resolvers';
import type { Listeners } from './listen/listeners';
import type { FollowedNames } from './table/followed-names';

/** One metric that is read when Prometheus scrapes; has the type that `@causeway/telemetry` expects. */
export interface DnsMetric {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  readonly type?: 'histogram';
  readonly read: () => Iterable<DnsMetricValue>;
}

interface DnsMetricValue {
  readonly suffix?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Sources of the metrics. */
export interface DnsMetricSources {
  readonly metrics: DnsMetrics;
  readonly names: Pick<FollowedNames, 'table' | 'changes'>;
  readonly listeners: Listeners;
  readonly builder: AnswerBuilder;
  readonly upstreams: Resolvers;
  readonly forwarder: Forwarder;
}

/** Returns the metrics of the DNS server: queries, drops, names, conflicts, upstreams and latencies. */
export function metricDefinitions(sources: DnsMetricSources): readonly DnsMetric[] {
  return [...queryMetrics(sources), ...nameMetrics(sources), ...forwardMetrics(sources)];
}

function queryMetrics({ metrics, listeners }: DnsMetricSources): DnsMetric[] {
  return [
    {
      name: 'dns_questions_total',
      help: 'Questions answered, by type and result',
      labels: ['type', 'result'],
      read: () => metrics.answers().map(({ type, result, count }) => ({ labels: { type, result }, value: count })),
    },
    {
      name: 'dns_dropped_total',
      help: 'Questions and connections that got no answer, by reason',
      labels: ['reason'],
      read: () => metrics.drops().map(({ reason, count }) => ({ labels: { reason }, value: count })),
    },
    single('dns_tcp_connections', 'TCP connections open', () => listeners.connections),
    histogram('dns_answer_seconds', 'Time to an answer of our own, a sample', metrics.ownLatency),
  ];
}

function nameMetrics({ names, builder }: DnsMetricSources): DnsMetric[] {
  return [
    single('dns_hostnames', 'Hostnames answered for', () => names.table.size),
    single('dns_hostname_conflicts', 'Hostnames that several meshes have', () => names.table.conflicts().size),
    single('dns_changes_total', 'Changes of services taken in', () => names.changes),
    single('dns_answers_made_total', 'Answers made anew, all others were ready', () => builder.built),
  ];
}

function forwardMetrics({ metrics, upstreams, forwarder }: DnsMetricSources): DnsMetric[] {
  return [
    {
      name: 'dns_forwarded_total',
      help: 'Questions given to upstreams, by how that ended',
      labels: ['result'],
      read: () => metrics.forwardResults().map(({ result, count }) => ({ labels: { result }, value: count })),
    },
    {
      name: 'dns_upstream_healthy',
      help: '1 while an upstream answers',
      labels: ['upstream'],
      read: () =>
        upstreams
          .list()
          .map(({ label, coolingUntil }) => ({ labels: { upstream: label }, value: Number(coolingUntil === 0) })),
    },
    single('dns_forward_pending', 'Questions under way to upstreams', () => forwarder.pending),
    histogram('dns_forward_seconds', 'Time to an answer of an upstream', metrics.forwardLatency),
  ];
}

function histogram(name: string, help: string, latency: LatencyHistogram): DnsMetric {
  const read = (): DnsMetricValue[] => [
    ...latency.buckets().map(({ le, count }) => ({ suffix: '_bucket', labels: { le }, value: count })),
    { suffix: '_sum', value: latency.sum },
    { suffix: '_count', value: latency.count },
  ];
  return { name, help, type: 'histogram', read };
}

function single(name: string, help: string, read: () => number): DnsMetric {
  return { name, help, read: () => [{ value: read() }] };
}
