import {
  compareIdentities,
  compareText,
  isJsonArray,
  isJsonObject,
  type JsonValue,
  type Resource,
} from '@causeway/resources';
import type { ResourceIndex } from '@causeway/store';
import { NAMED_KINDS } from '../hostname/zone-claims';
import type { ClaimLine } from './claim-line';
import { plainHostname, type HostnameExplanation, type HostnameQuestion } from './explain-hostname';

/**
 * Explains one hostname from what zone `zone` reported in the status of its own services: all that the global can say,
 * since zones do not report on copies (design.md §4, §5). Available first, then by service.
 */
export function explainReported(index: ResourceIndex, zone: string, question: HostnameQuestion): HostnameExplanation {
  const hostname = plainHostname(question.hostname);
  const { mesh } = question;
  const about = { mesh, hostname, zone };
  const claims = [...reportedClaims(index, about)].sort(
    (a, b) => compareText(a.status, b.status) || compareIdentities(a.service, b.service),
  );
  const winner = claims.find(({ status }) => status === 'Available');
  if (claims.length > 0) return { ...about, ...(winner ? { winner } : {}), claims, hints: [] };
  const hint = `zone "${zone}" reported no claim of its own services; ask the zone itself about the services of others`;
  return { ...about, claims, hints: [hint] };
}

function* reportedClaims(
  index: ResourceIndex,
  { zone, mesh, hostname }: HostnameQuestion & { readonly zone: string },
): Generator<ClaimLine> {
  for (const kind of NAMED_KINDS) {
    for (const service of index.ofKind(kind)) {
      if (service.id.zone === zone && service.id.mesh === mesh) yield* claimsOn(hostname, service);
    }
  }
}

function claimsOn(hostname: string, { id, status }: Resource): ClaimLine[] {
  const addresses: JsonValue | undefined = status?.['addresses'];
  if (!isJsonArray(addresses)) return [];
  return addresses.flatMap((address): ClaimLine[] => {
    if (!isJsonObject(address) || address['hostname'] !== hostname) return [];
    const { origin, reason } = address;
    const name = isJsonObject(origin) && typeof origin['name'] === 'string' ? origin['name'] : '';
    const line = { service: { ...id }, generator: { name }, ...(typeof reason === 'string' ? { reason } : {}) };
    return [{ ...line, status: address['status'] === 'Available' ? 'Available' : 'NotAvailable' }];
  });
}
