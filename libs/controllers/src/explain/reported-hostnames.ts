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
import { plainHostname, type HostnameEntry, type HostnameExplanation, type HostnameQuestion } from './explain-hostname';

/** Which zone's names of which mesh. */
export interface ReportedScope {
  readonly zone: string;
  readonly mesh: string;
}

/** A hostname and what a zone reported of it; nobody needs to have it. */
export type ReportedHostname = Omit<HostnameEntry, 'winner'> & Partial<Pick<HostnameEntry, 'winner'>>;

/**
 * The hostnames of a mesh as zone `zone` reported them in the status of its own services: all that the global can say,
 * since zones do not report on copies (design.md §4, §5). By hostname; Available first, then by service.
 */
export function reportedHostnames(index: ResourceIndex, { zone, mesh }: ReportedScope): readonly ReportedHostname[] {
  const byName = new Map<string, ClaimLine[]>();
  for (const kind of NAMED_KINDS) {
    for (const service of index.ofKind(kind)) {
      if (service.id.zone !== zone || service.id.mesh !== mesh) continue;
      for (const [hostname, line] of linesOf(service)) byName.set(hostname, [...(byName.get(hostname) ?? []), line]);
    }
  }
  return [...byName].map(entryOf).sort((a, b) => compareText(a.hostname, b.hostname));
}

/** Explains one hostname from what zone `zone` reported of its own services. */
export function explainReported(index: ResourceIndex, zone: string, question: HostnameQuestion): HostnameExplanation {
  const hostname = plainHostname(question.hostname);
  const { mesh } = question;
  const entry = reportedHostnames(index, { zone, mesh }).find((each) => each.hostname === hostname);
  const about = { mesh, hostname, zone };
  if (entry) return { ...about, ...entry, hints: [] };
  const hint = `zone "${zone}" reported no claim of its own services; ask the zone itself about the services of others`;
  return { ...about, claims: [], hints: [hint] };
}

function entryOf([hostname, lines]: [string, ClaimLine[]]): ReportedHostname {
  const claims = lines.sort((a, b) => compareText(a.status, b.status) || compareIdentities(a.service, b.service));
  const winner = claims.find(({ status }) => status === 'Available');
  return { hostname, ...(winner ? { winner } : {}), claims };
}

function linesOf({ id, status }: Resource): [string, ClaimLine][] {
  const addresses: JsonValue | undefined = status?.['addresses'];
  if (!isJsonArray(addresses)) return [];
  return addresses.flatMap((address): [string, ClaimLine][] => {
    if (!isJsonObject(address) || typeof address['hostname'] !== 'string') return [];
    const { origin, reason } = address;
    const name = isJsonObject(origin) && typeof origin['name'] === 'string' ? origin['name'] : '';
    const line = { service: { ...id }, generator: { name }, ...(typeof reason === 'string' ? { reason } : {}) };
    return [
      [address['hostname'], { ...line, status: address['status'] === 'Available' ? 'Available' : 'NotAvailable' }],
    ];
  });
}
