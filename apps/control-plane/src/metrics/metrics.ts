import type { AuditRecorder, Authentication } from '@causeway/access';
import type { LoopStats } from '@causeway/loops';
import type { Metric, MetricValue, ProgramTracer } from '@causeway/telemetry';
import type { WatchMetrics } from '@causeway/queries';
import type { Registry } from '@causeway/resources';
import type { Meshes } from '@causeway/meshes';
import type { IndexReader } from '@causeway/store';
import type { PostgresBackend } from '@causeway/store-postgres';
import { expiringTokensMetric, meshAuthorityMetric } from './end-metrics';
import type { LeaderService } from '../leader/leader.module';
import type { GrpcRequests, RestRequests } from './request-metrics';
import { VERSION } from '../version';

/** Sources of the metrics of every control plane. */
export interface MetricSources {
  readonly role: 'global' | 'zone';
  readonly registry: Registry;
  readonly index: IndexReader;
  readonly backend: PostgresBackend;
  readonly leader: LeaderService;
  readonly recorder: AuditRecorder;
  readonly meshes: Meshes;
  readonly authentication: Pick<Authentication, 'expiringTokens'>;
  readonly requests: Pick<RestRequests, 'values'>;
  readonly calls: Pick<GrpcRequests, 'values'>;
  readonly tracer: Pick<ProgramTracer, 'spans'>;
}

/** Metrics of the store and of the leader for every control plane (docs/design.md §3). */
export function controlPlaneMetrics(sources: MetricSources): readonly Metric[] {
  return [
    buildMetric(sources.role),
    ...storeMetrics(sources),
    ...meshMetrics(sources),
    ...auditMetrics(sources),
    ...leaderMetrics(sources),
    ...loopMetrics(sources),
    policyMetric(sources),
    meshAuthorityMetric(sources),
    expiringTokensMetric({ use: 'user', holders: 'users' }, () => sources.authentication.expiringTokens()),
    restMetric(sources),
    grpcMetric(sources),
    traceMetric(sources),
  ];
}

/** Always 1: the labels describe the running version, so that a dashboard shows the progress of an upgrade. */
function buildMetric(role: string): Metric {
  const labels = { version: VERSION, role, node: process.versions.node };
  return {
    name: 'build_info',
    help: '1, with the version of the program, its role and the version of Node',
    labels: Object.keys(labels),
    read: () => [{ labels, value: 1 }],
  };
}

function restMetric({ requests }: MetricSources): Metric {
  const help = 'Requests that REST answered';
  return { name: 'rest_requests_total', help, labels: ['method', 'route', 'code'], read: () => requests.values() };
}

function grpcMetric({ calls }: MetricSources): Metric {
  const help = 'Calls that the gRPC API answered';
  return { name: 'grpc_requests_total', help, labels: ['method', 'code'], read: () => calls.values() };
}

function traceMetric({ tracer }: MetricSources): Metric {
  const help =
    'Spans of traces that ended, and of them those that the receiver took (`sent`) and did not take (`failed`)';
  const results = ['ended', 'sent', 'failed'] as const;
  const read = (): MetricValue[] => {
    const spans = tracer.spans();
    return spans ? results.map((result) => ({ labels: { result }, value: spans[result] })) : [];
  };
  return { name: 'trace_spans_total', help, labels: ['result'], read };
}

function storeMetrics({ index, registry, backend }: MetricSources): readonly Metric[] {
  return [
    {
      name: 'resources',
      help: 'Resources held, by kind',
      labels: ['kind'],
      read: () => registry.kinds.map((kind) => ({ labels: { kind: kind.name }, value: index.countKind(kind.name) })),
    },
    gauge('store_revision', 'Revision that this replica has applied', () => index.point?.revision),
    gauge('postgres_listening', '1 while changes of the store are heard of at once', () =>
      Number(backend.status().listening),
    ),
    gauge('postgres_connections', 'Connections of the pool, open', () => backend.status().open),
    gauge('postgres_connections_used', 'Connections of the pool that a statement or a transaction has now', () => {
      const { open, idle } = backend.status();
      return open - idle;
    }),
    gauge('postgres_connections_waiting', 'Statements that wait for a connection', () => backend.status().waiting),
  ];
}

function meshMetrics({ meshes }: MetricSources): readonly Metric[] {
  const help = '1 while the expected Mesh has a controllerName other than that of this control plane';
  return [gauge('mesh_controller_mismatch', help, () => Number(meshes.mismatch() !== undefined))];
}

function auditMetrics({ recorder }: MetricSources): readonly Metric[] {
  return [
    gauge('audit_refusals_waiting', 'Refusals that are not in the audit log yet', () => recorder.status().waiting),
    gauge(
      'audit_refusals_dropped_total',
      'Refusals that the audit log lacks: too many came, or the database was away',
      () => recorder.status().dropped,
    ),
  ];
}

function leaderMetrics({ leader }: MetricSources): readonly Metric[] {
  const seconds = (ms: number | undefined): number | undefined => (ms === undefined ? undefined : ms / 1_000);
  const bit = (holds: boolean | undefined): number | undefined => (holds === undefined ? undefined : Number(holds));
  return [
    gauge('leader', '1 while this replica leads', () => Number(leader.status()?.leading ?? false)),
    gauge('leader_epoch', 'The epoch this replica led last', () => leader.status()?.epoch),
    gauge('leader_transitions_total', 'Terms this replica has led', () => leader.status()?.transitions),
    gauge('leader_lease_age_seconds', 'Since the lease was last renewed', () => seconds(leader.status()?.leaseAge)),
    gauge('leader_lease_in_worker', '1 while a thread of its own renews the lease of this leader', () =>
      bit(leader.status()?.leaseInWorker),
    ),
    gauge('leader_redis_connected', '1 while the Redis of the lock answers', () => bit(leader.redisConnected())),
    gauge(
      'leader_redis_witness',
      '1 while the Redis of the lock counts in who leads, 0 while the lease in Postgres alone decides',
      () => bit(leader.redisCounts()),
    ),
  ];
}

/** Metrics of the control loops of the last term; they start at 0 with each term, like counters after a restart. */
function loopMetrics({ leader }: MetricSources): readonly Metric[] {
  const counter = (name: string, help: string, count: (stats: LoopStats) => number): Metric => ({
    name,
    help,
    labels: ['loop'],
    read: () => Object.entries(leader.loops()).map(([loop, stats]) => ({ labels: { loop }, value: count(stats) })),
  });
  const results = ['written', 'unchanged', 'refused'] as const;
  return [
    counter('loop_plans_total', 'Plans that a control loop was asked for', ({ plans }) => plans),
    counter('loop_failures_total', 'Plans and writes of a control loop that failed', ({ errors }) => errors),
    counter(
      'loop_differences_total',
      'Changes that a control loop found only by its periodic full reconciliation, without an event',
      ({ differences }) => differences,
    ),
    {
      name: 'loop_changes_total',
      help: 'Changes that a control loop had written, by what the store answered',
      labels: ['loop', 'result'],
      read: () =>
        Object.entries(leader.loops()).flatMap(([loop, stats]) =>
          results.map((result) => ({ labels: { loop, result }, value: stats[result] })),
        ),
    },
  ];
}

function policyMetric({ leader }: MetricSources): Metric {
  return {
    name: 'policies',
    help: 'Policies that were made on this control plane, by the reason of their condition Enforced; of the leader alone',
    labels: ['reason'],
    read: () => [...leader.policies()].map(([reason, value]) => ({ labels: { reason }, value })),
  };
}

/** Metrics of the watches over REST. */
export function watchMetrics(watches: () => WatchMetrics | undefined): readonly Metric[] {
  return [
    gauge('rest_watches_open', 'Watches that are open', () => watches()?.open),
    gauge('rest_watch_bytes', 'Bytes held for readers of watches that have not taken them', () => watches()?.bytes),
    {
      name: 'rest_watches_ended_total',
      help: 'Watches ended because their reader was too slow, by reason',
      labels: ['reason'],
      read: () => Object.entries(watches()?.ended ?? {}).map(([reason, value]) => ({ labels: { reason }, value })),
    },
  ];
}

/** A gauge without labels; absent while its value is undefined. */
function gauge(name: string, help: string, value: () => number | undefined): Metric {
  const read = (): MetricValue[] => {
    const now = value();
    return now === undefined ? [] : [{ value: now }];
  };
  return { name, help, read };
}
