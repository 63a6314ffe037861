import { X509Certificate } from 'node:crypto';
import type { ServerCertificates } from '@causeway/access';
import { splitCertificates, findMeshAuthority } from '@causeway/identity';
import type { IndexReader } from '@causeway/store';
import type { Metric, MetricValue } from '@causeway/telemetry';

/** Validity period, ms since 1970. */
export interface Validity {
  readonly start: number;
  readonly end: number;
}

/** A listener of a control plane and its certificates; undefined if it has no TLS. */
export interface Listener {
  readonly name: string;
  certificates(): Pick<ServerCertificates, 'current' | 'authority'> | undefined;
}

/** Returns the validity period of a chain: that of the certificate which expires first; undefined if it has none. */
export function readValidity(chain: string): Validity | undefined {
  const [first] = splitCertificates(chain)
    .map((pem) => new X509Certificate(pem))
    .map(({ validFrom, validTo }) => ({ start: Date.parse(validFrom), end: Date.parse(validTo) }))
    .sort((a, b) => a.end - b.end);
  return first;
}

/** Returns start and end as two gauges, seconds since 1970; the remaining time is compared with the whole period. */
export function validityMetrics(
  facts: Pick<Metric, 'name' | 'labels'> & { readonly what: string },
  read: () => Iterable<{
    readonly labels: NonNullable<MetricValue['labels']>;
    readonly validity: Validity | undefined;
  }>,
): readonly Metric[] {
  const { name, what, labels } = facts;
  return (['start', 'end'] as const).map((edge) => ({
    name: `${name}_${edge}_seconds`,
    help: `${edge === 'start' ? 'From when' : 'Until when'} ${what} is valid, seconds since 1970`,
    ...(labels && { labels }),
    read: () =>
      [...read()].flatMap(({ validity, ...of }) => (validity ? [{ ...of, value: validity[edge] / 1_000 }] : [])),
  }));
}

/** Metrics of the expiry of listeners' certificates, or of their authority, whichever is first. */
export function serverCertificateMetrics(listeners: () => readonly Listener[]): readonly Metric[] {
  const what = 'the certificate that a listener shows, with its chain,';
  return validityMetrics({ name: 'server_certificate', what, labels: ['listener'] }, () =>
    listeners().map((listener) => {
      const certificates = listener.certificates();
      const chain = certificates && `${certificates.current().certificate}\n${certificates.authority() ?? ''}`;
      return { labels: { listener: listener.name }, validity: chain === undefined ? undefined : readValidity(chain) };
    }),
  );
}

/** Metric of the expiry of the authorities of meshes whose `Mesh.mtls` is on. */
export function meshAuthorityMetric(source: { readonly index: IndexReader }): Metric {
  // Each certificate is parsed once, however often it is read.
  let known = new Map<string, number>();
  return {
    name: 'mesh_authority_end_seconds',
    help: 'Until when the authority of Mesh.mtls is valid, seconds since 1970',
    labels: ['mesh'],
    read: () => {
      const before = known;
      known = new Map();
      return [...source.index.ofKind('Mesh')].flatMap(({ id: { name: mesh } }) => {
        const { certificate } = findMeshAuthority(source.index, mesh) ?? {};
        const end = certificate === undefined ? undefined : (before.get(certificate) ?? findEndTime(certificate));
        if (certificate === undefined || end === undefined) return [];
        known.set(certificate, end);
        return [{ labels: { mesh }, value: end / 1_000 }];
      });
    },
  };
}

/** Metric of the presented tokens that expire soon; `use` is the prefix of the name, `holders` describes their holders. */
export function expiringTokensMetric(
  { use, holders }: { readonly use: string; readonly holders: string },
  read: () => number,
): Metric {
  return {
    name: `${use}_tokens_expiring`,
    help: `Tokens of ${holders}, presented to this replica within a day, of whose time a tenth is left, 7 days at most; none that were made for less than a week`,
    read: () => [{ value: read() }],
  };
}

/** Returns the expiry; undefined if the text is not a certificate: users may write these Secrets. */
function findEndTime(certificate: string): number | undefined {
  try {
    return readValidity(certificate)?.end;
  } catch {
    return undefined;
  }
}
