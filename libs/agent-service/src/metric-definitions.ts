import type { Enrolments } from '@causeway/identity';
import type { EnvoyResources, EnvoyView } from '@causeway/xds-translation';
import type { CertificateSigner } from './proxies/certificate-signer';
import type { ProxyCertificates } from './proxies/proxy-certificates';
import type { XdsServer } from '@causeway/xds-server';

/** Metric that is read when Prometheus scrapes, in the form that `@causeway/telemetry` accepts. */
export interface XdsMetric {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  readonly read: () => Iterable<{ readonly labels?: Readonly<Record<string, string>>; readonly value: number }>;
}

/** Sources of the metrics. */
export interface XdsMetricSources {
  readonly server: Pick<XdsServer<never>, 'counters' | 'load'>;
  readonly resources: Pick<EnvoyResources, 'refusedCount' | 'lists'>;
  /** Returns the views of all connected proxies. */
  readonly listViews: () => Iterable<EnvoyView>;
  readonly signer: Pick<CertificateSigner, 'signed'>;
  readonly certificates: Pick<ProxyCertificates, 'failed'>;
  readonly agents: { readonly open: number };
  readonly enrolments: Pick<Enrolments, 'counts'>;
}

/** Returns the metrics of the xDS port (docs/reference/xds.md, Metrics). */
export function xdsMetrics({
  server,
  resources,
  listViews,
  signer,
  certificates,
  agents,
  enrolments,
}: XdsMetricSources): readonly XdsMetric[] {
  const { counters } = server;
  return [
    single('xds_streams', 'Streams of proxies open', () => server.load().streams),
    single('agent_streams', 'Streams of agents open', () => agents.open),
    {
      name: 'enrolments',
      help: 'Dataplanes that machines of this zone may be, by who granted it: upgrade counts those that show a credential of before enrolments',
      labels: ['by'],
      read: () => [...enrolments.counts].map(([by, value]) => ({ labels: { by }, value })),
    },
    single('xds_unacked_bytes', 'Bytes sent to proxies that they have not acked', () => server.load().unackedBytes),
    single('xds_names', 'Names that proxies ask for', () => server.load().names),
    single('xds_responses_total', 'Responses sent to proxies', () => counters.responses),
    single('xds_resources_total', 'Resources sent to proxies', () => counters.resources),
    single('xds_unchanged_total', 'Resources not sent since the proxy had them', () => counters.unchanged),
    single('xds_rejections_total', 'Responses that proxies rejected', () => counters.rejections),
    single('xds_stale_nonces_total', 'Requests with a nonce that acks nothing', () => counters.staleNonces),
    single('xds_bound_addresses', 'Most addresses that a proxy of capture bind without declared backends has', () =>
      [...listViews()].reduce((most, view) => Math.max(most, resources.lists.countBound(view)), 0),
    ),
    single('xds_refused_resources', "Resources not sent since they break Envoy's rules", () => resources.refusedCount),
    single('xds_certificates_signed_total', 'Certificates signed for proxies', () => signer.signed),
    single('xds_certificates_failed_total', 'Attempts to sign one that failed', () => certificates.failed),
  ];
}

function single(name: string, help: string, read: () => number): XdsMetric {
  return { name, help, read: () => [{ value: read() }] };
}
