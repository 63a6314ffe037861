import type { CallerRights } from '@causeway/access';
import type { NameQuery } from '@causeway/admission';
import {
  KINDS_WITH_HOSTNAMES,
  type DnsLookup,
  type HostnameClaim,
  type HostnameEntry,
  type HostnameExplanation,
} from '@causeway/api';
import type { HostnamePage } from '../explain/explain-hostname';
import type { ZonedHostnameRef } from '../explain/hostname-explainer';
import type { Meshes } from '@causeway/meshes';
import {
  compareText,
  isJsonArray,
  isJsonObject,
  NotFound,
  ownZone,
  type ControlPlane,
  type Kind,
  type Resource,
} from '@causeway/resources';
import type { SortedPage } from '@causeway/runtime';
import type { IndexReader } from '@causeway/store';
import type { ConcurrencyLimit } from '../concurrency-limit';
import type { ReadYourWrites } from '../list/read-your-writes';
import { requireMesh, type ResourceQueries } from '../list/resource-queries';
import type { DnsQuestion, Insights } from './insights';

/** Dependencies of HostnameQueries. */
export interface HostnameQueriesSources {
  readonly cp: ControlPlane;
  readonly index: IndexReader;
  readonly meshes: Pick<Meshes, 'exists'>;
  readonly readYourWrites: ReadYourWrites;
  readonly resources: ResourceQueries;
  readonly insights: Insights;
  /** Limits queries that may scan very much. */
  readonly expensive: ConcurrencyLimit;
}

/** A part of the table of hostnames and the revision that it shows. */
export interface HostnameTable extends SortedPage<HostnameEntry> {
  readonly revision: number;
}

/** A hostname that a service has, and the zones that answer it. */
export interface HostnameOfService {
  readonly hostname: string;
  readonly zones: readonly { readonly name: string }[];
}

/** The requested part of the table of hostnames of a mesh, and its minimum revision. */
export interface HostnameTableRequest {
  readonly mesh: string;
  readonly page: HostnamePage;
  readonly minRevision?: number | undefined;
}

/** Queries about hostnames: which exist, which a service has, which services claim one, and the DNS answer. */
export class HostnameQueries {
  constructor(private readonly sources: HostnameQueriesSources) {}

  /** Returns the table of all hostnames of a mesh; denied claims show their reason. */
  async table({ mesh, page, minRevision }: HostnameTableRequest, signal: AbortSignal): Promise<HostnameTable> {
    const { insights, meshes, expensive, readYourWrites } = this.sources;
    await readYourWrites.wait(minRevision);
    requireMesh(meshes, mesh);
    const { hostnames } = insights;
    if (!hostnames) throw new NotFound('This control plane does not list hostnames.');
    const rows = await expensive.run((running) => hostnames(mesh, page, running), signal);
    return { ...rows, revision: readYourWrites.revision() };
  }

  /** Returns the hostnames of a service (docs/reference/kuma-rest.md §1.5). Rejects as ResourceQueries.get does. */
  async ofService(
    service: NameQuery,
    rights: CallerRights,
    minRevision?: number,
  ): Promise<readonly HostnameOfService[]> {
    this.checkHasHostnames(service.kind);
    const resource = await this.sources.resources.get(service, rights, minRevision);
    // On the global, a status is what the zone of origin reported.
    const zone = ownZone(this.sources.cp) || resource.id.zone;
    const zones = zone === '' ? [] : [{ name: zone }];
    return [...availableHostnames(resource)].sort(compareText).map((hostname) => ({ hostname, zones }));
  }

  /** The zone whose control plane this is; empty on the global. */
  ownZone(): string {
    return ownZone(this.sources.cp);
  }

  /** Throws NotFound for a kind that has no hostnames. */
  checkHasHostnames(kind: Kind): void {
    if (!KINDS_WITH_HOSTNAMES.includes(kind.name)) throw new NotFound(`A ${kind.name} has no hostnames.`);
  }

  /**
   * Returns the claims on a hostname, with the winner and its rule (docs/design.md §4). A caller who may not list all services of the mesh gets the
   * claims of those that it may read, and a note that there are others. Throws AccessDenied if it may read none.
   */
  async explain(
    question: ZonedHostnameRef,
    rights: CallerRights,
    minRevision: number | undefined,
    signal: AbortSignal,
  ): Promise<HostnameExplanation> {
    const explained = await this.explainAll(question, rights, minRevision, signal);
    return mayListAll(rights, question.mesh) ? explained : readableClaims(explained, rights, question.mesh);
  }

  /** As `explain`, including services that the caller may not read: not for display. */
  async explainAll(
    question: ZonedHostnameRef,
    rights: CallerRights,
    minRevision: number | undefined,
    signal: AbortSignal,
  ): Promise<HostnameExplanation> {
    rights.checkAny();
    const { insights, meshes, expensive, readYourWrites } = this.sources;
    await readYourWrites.wait(minRevision);
    const { explainHostname } = insights;
    if (!explainHostname) throw new NotFound('This control plane does not explain hostnames.');
    requireMesh(meshes, question.mesh);
    return expensive.run(async (running) => explainHostname(question, running), signal);
  }

  /** Returns the zone's DNS answer to a question, and the reason. */
  async lookup(question: DnsQuestion, minRevision?: number): Promise<DnsLookup> {
    await this.sources.readYourWrites.wait(minRevision);
    const { dnsLookup } = this.sources.insights;
    if (!dnsLookup) throw new NotFound('This control plane answers no DNS; ask a zone.');
    return dnsLookup(question);
  }
}

function mayListAll(rights: CallerRights, mesh: string): boolean {
  return KINDS_WITH_HOSTNAMES.every((kind) => rights.may('list', { kind, mesh }));
}

/** Throws AccessDenied, which names the right, unless the caller may list all services of a mesh. */
export function checkListAll(rights: CallerRights, mesh: string): void {
  for (const kind of KINDS_WITH_HOSTNAMES) rights.check('list', { kind, mesh });
}

/**
 * Returns an explanation without the claims of services that the caller may not read, and without mentions of them
 * elsewhere.
 */
function readableClaims(explained: HostnameExplanation, rights: CallerRights, mesh: string): HostnameExplanation {
  const { hostname, zone, claims, winner } = explained;
  const isReadable = ({ service: { kind, namespace } }: HostnameClaim): boolean =>
    rights.may('get', { kind, mesh, namespace });
  const readable = claims.filter(isReadable);
  if (readable.length === 0) checkListAll(rights, mesh);
  if (readable.length === claims.length) return explained;
  const reason = 'services that you may not read claim this name too';
  return {
    hostname,
    mesh,
    zone,
    claims: readable.map(({ service, generator, status }) => ({ service, generator, status, reason })),
    ...(winner && isReadable(winner) ? { winner } : {}),
    hints: [reason],
  };
}

/** Returns the hostnames that the status of a service shows as Available, each once. */
function availableHostnames({ status }: Resource): ReadonlySet<string> {
  const addresses = status?.['addresses'];
  if (!isJsonArray(addresses)) return new Set();
  return new Set(
    addresses.flatMap((address) => {
      if (!isJsonObject(address) || address['status'] !== 'Available') return [];
      return typeof address['hostname'] === 'string' ? [address['hostname']] : [];
    }),
  );
}
