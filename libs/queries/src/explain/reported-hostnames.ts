import type { HostnameClaim, HostnameEntry, HostnameExplanation } from '@causeway/api';
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
import { NAMED_KINDS } from '@causeway/controllers';
import type { HostnamePage } from './explain-hostname';

/**
 * Corrects hostnames that the global computed for a zone by the zone's reports about its own services (it reports no status of
 * copies, docs/design.md §4, §5): a claim that the zone decided differently gets the zone's status and reason, and no rule.
 */
export function withReports(index: IndexReader, computed: HostnameExplanation): HostnameExplanation {
  const { zone } = computed;
  const { winner: _, ...explanation } = computed;
  const { winner, claims } = reportedEntry(index, zone, computed);
  const note = `computed on the global for zone "${zone}": the zone may decide otherwise about services that other zones export to some zones only, and about lost zones; ask its own control plane`;
  return { ...explanation, ...(winner ? { winner } : {}), claims, note };
}

/** Returns the claims on one hostname that the global computed for a zone, corrected as `withReports` does. */
export function reportedEntry(index: IndexReader, zone: string, computed: HostnameEntry): HostnameEntry {
  const { hostname } = computed;
  const claims = computed.claims.map((claim) =>
    claim.service.zone === zone ? asReported(index, hostname, claim) : claim,
  );
  const winner =
    claims.find(({ status }) => status === 'Available') ?? (claims[0] === computed.claims[0] ? claims[0] : undefined);
  return { hostname, claims, ...(winner ? { winner } : {}) };
}

function asReported(index: IndexReader, hostname: string, claim: HostnameClaim): HostnameClaim {
  const service = index.get(claim.service);
  const own = service ? readClaims(service) : [];
  const found = own.find(([name, { generator }]) => name === hostname && generator.name === claim.generator.name);
  if (!found || found[1].status === claim.status) return claim;
  const { rule: _, change: __, reason: ___, ...line } = claim;
  const { status, reason } = found[1];
  return { ...line, status, ...(reason === undefined ? {} : { reason }) };
}

/**
 * Lists the hostnames of a mesh with all claims that the zones reported of their own services. An entry has no winner,
 * since each zone decides for itself. Blocks the event loop for at most a slice.
 */
export async function listReported(
  index: IndexReader,
  mesh: string,
  { containing = '', ...part }: HostnamePage,
  signal: AbortSignal,
): Promise<SortedPage<HostnameEntry>> {
  const claims = new Map<string, HostnameClaim[]>();
  const steps = function* (): Generator<unknown> {
    for (const kind of NAMED_KINDS) {
      for (const service of index.ofKind(kind)) {
        for (const [hostname, claim] of service.id.mesh === mesh ? readClaims(service) : []) {
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

/** Sorts Available claims first, then by service. */
function compareReported(a: HostnameClaim, b: HostnameClaim): number {
  return compareText(a.status, b.status) || compareIdentities(a.service, b.service);
}

/** Returns the claims in the status of a service, by hostname; addresses without a hostname are skipped. */
function readClaims({ id, status }: Resource): (readonly [string, HostnameClaim])[] {
  const addresses: JsonValue | undefined = status?.['addresses'];
  if (!isJsonArray(addresses)) return [];
  return addresses.flatMap((address): (readonly [string, HostnameClaim])[] => {
    if (!isJsonObject(address) || typeof address['hostname'] !== 'string') return [];
    const { hostname, origin, reason } = address;
    const name = isJsonObject(origin) && typeof origin['name'] === 'string' ? origin['name'] : '';
    const line = { service: { ...id }, generator: { name }, ...(typeof reason === 'string' ? { reason } : {}) };
    return [[hostname, { ...line, status: address['status'] === 'Available' ? 'Available' : 'NotAvailable' }]];
  });
}
