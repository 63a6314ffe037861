import {
  compareIdentities,
  compareText,
  isJsonArray,
  isJsonObject,
  type JsonValue,
  type Resource,
} from '@causeway/resources';
import { inSlices, sortedPage, type SortedPage } from '@causeway/runtime';
import type { IndexReader } from '@causeway/store';
import { NAMED_KINDS } from '../hostname/zone-claims';
import type { ExplainedClaim } from './explained-claim';
import {
  normalizeHostname,
  type HostnameEntry,
  type HostnameExplanation,
  type HostnamePage,
  type HostnameRef,
} from './explain-hostname';

/** A hostname, and the zone whose view of it is asked for. */
type ZoneHostnameRef = HostnameRef & { readonly zone: string };

/**
 * Explains one hostname from what zone `zone` reported in the status of its own services. The global knows no more, since
 * zones do not report the status of copies (docs/design.md §4, §5). Available claims come first, then by service.
 */
export async function explainReported(
  index: IndexReader,
  { mesh, zone, ...question }: ZoneHostnameRef,
  signal: AbortSignal,
): Promise<HostnameExplanation> {
  const about = { mesh, hostname: normalizeHostname(question.hostname), zone };
  const claims: ExplainedClaim[] = [];
  const steps = function* (): Generator<unknown> {
    for (const reported of reportedClaims(index, about)) yield claims.push(...reported);
  };
  await inSlices(steps(), signal);
  claims.sort(compareReported);
  const winner = claims.find(({ status }) => status === 'Available');
  if (claims.length > 0) return { ...about, ...(winner ? { winner } : {}), claims, hints: [] };
  const hint = `zone "${zone}" reported no claim of its own services; ask the zone itself about the services of others`;
  return { ...about, claims, hints: [hint] };
}

/**
 * The hostnames of a mesh with all claims that the zones reported of their own services. An entry has no winner, since
 * each zone decides for itself. Holds the event loop for no longer than a slice.
 */
export async function listReported(
  index: IndexReader,
  mesh: string,
  { containing = '', ...part }: HostnamePage,
  signal: AbortSignal,
): Promise<SortedPage<HostnameEntry>> {
  const claims = new Map<string, ExplainedClaim[]>();
  const steps = function* (): Generator<unknown> {
    for (const kind of NAMED_KINDS) {
      for (const service of index.ofKind(kind)) {
        for (const [hostname, claim] of service.id.mesh === mesh ? claimsOf(service) : []) {
          if (!hostname.includes(containing)) continue;
          const others = claims.get(hostname);
          if (others) others.push(claim);
          else claims.set(hostname, [claim]);
        }
        yield;
      }
    }
  };
  await inSlices(steps(), signal);
  const { total, items } = await sortedPage(claims.keys(), compareText, part, signal);
  return {
    total,
    items: items.map((hostname) => ({ hostname, claims: (claims.get(hostname) ?? []).sort(compareReported) })),
  };
}

/** Available first, then by service. */
function compareReported(a: ExplainedClaim, b: ExplainedClaim): number {
  return compareText(a.status, b.status) || compareIdentities(a.service, b.service);
}

/** The claims of each service in turn; most often none. */
function* reportedClaims(index: IndexReader, { zone, mesh, hostname }: ZoneHostnameRef): Generator<ExplainedClaim[]> {
  for (const kind of NAMED_KINDS) {
    for (const service of index.ofKind(kind)) {
      const isAsked = service.id.zone === zone && service.id.mesh === mesh;
      yield isAsked ? claimsOf(service).flatMap(([claimed, claim]) => (claimed === hostname ? claim : [])) : [];
    }
  }
}

/** The claims in the status of a service, by hostname; addresses without a hostname are left out. */
function claimsOf({ id, status }: Resource): (readonly [string, ExplainedClaim])[] {
  const addresses: JsonValue | undefined = status?.['addresses'];
  if (!isJsonArray(addresses)) return [];
  return addresses.flatMap((address): (readonly [string, ExplainedClaim])[] => {
    if (!isJsonObject(address) || typeof address['hostname'] !== 'string') return [];
    const { hostname, origin, reason } = address;
    const name = isJsonObject(origin) && typeof origin['name'] === 'string' ? origin['name'] : '';
    const line = { service: { ...id }, generator: { name }, ...(typeof reason === 'string' ? { reason } : {}) };
    return [[hostname, { ...line, status: address['status'] === 'Available' ? 'Available' : 'NotAvailable' }]];
  });
}
