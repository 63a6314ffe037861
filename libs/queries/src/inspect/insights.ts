import type { DnsLookup, GeneratorDryRun, HostnameEntry, HostnameExplanation } from '@causeway/api';
import type { HostnamePage } from '../explain/explain-hostname';
import type { ZonedHostnameRef } from '../explain/hostname-explainer';
import type { Identity, JsonObject, Resource } from '@causeway/resources';
import { splitIntoBatches, type Impediment, type SortedPage } from '@causeway/runtime';
import type { LeadershipInsight } from './leader-checks';
import type { AgentRival } from './plane-checks';

/** A query to the zone's DNS server; `type` defaults to A. */
export interface DnsQuestion {
  readonly name: string;
  readonly type?: string;
}

/** A resource as a dry run would have written it. */
export interface DraftedResource {
  readonly id: Identity;
  readonly spec: JsonObject;
  /** The zone for which consequences are computed; required on the global. */
  readonly seenFrom?: string;
}

/**
 * Facts from other libs that queries only return; absent ones are unknown on this control plane. A function that may
 * scan very much takes the signal of the query: it runs in slices and rejects soon after the signal aborts.
 */
export interface Insights {
  /** Returns the claims on a hostname, and which of them wins by which rule. Throws DomainErrors. */
  readonly explainHostname?: (
    question: ZonedHostnameRef,
    signal: AbortSignal,
  ) => HostnameExplanation | Promise<HostnameExplanation>;
  /** Lists the hostnames of a mesh, sorted, with their claims. */
  readonly hostnames?: (mesh: string, page: HostnamePage, signal: AbortSignal) => Promise<SortedPage<HostnameEntry>>;
  /** Returns the consequences of a write, for a dry run; undefined if there is nothing to show. */
  readonly consequences?: (
    draft: DraftedResource,
    signal: AbortSignal,
  ) => GeneratorDryRun | undefined | Promise<GeneratorDryRun | undefined>;
  /** Returns warnings for a user who deletes a resource, or tries it in a dry run. */
  readonly deletionWarnings?: (id: Identity) => readonly string[];
  /** Returns unusable stored keys and certificates, with the reason, never with a value. */
  readonly keyFaults?: () => readonly string[];
  /** Returns the leader, as this replica sees it. */
  readonly leadership?: () => LeadershipInsight | undefined;
  /** Returns what this control plane cannot do now, but for what `leadership` says. */
  readonly impediments?: () => Promise<readonly Impediment[]>;
  /** Returns the agents that ask for a Dataplane which another one holds. Throws Unavailable. */
  readonly rivals?: () => Promise<readonly AgentRival[]>;
  /** Returns the zone's DNS answer, and the reason. Throws DomainErrors. */
  readonly dnsLookup?: (question: DnsQuestion) => DnsLookup | Promise<DnsLookup>;
  /** Returns reported facts about a Zone or Dataplane: sessions, versions, lag; undefined if there are none. */
  readonly insightOf?: (resource: Resource) => JsonObject | undefined | Promise<JsonObject | undefined>;
}

/** Number of resources whose insights are read concurrently: each may need reads of the store. */
const READ_BATCH = 10;

/** Returns the insights of resources in their order; rejects with the signal's reason when the signal aborts before the end. */
export async function readInsights(
  { insightOf }: Insights,
  resources: readonly Resource[],
  signal: AbortSignal,
): Promise<readonly (JsonObject | undefined)[]> {
  const insights: (JsonObject | undefined)[] = [];
  if (!insightOf) return insights;
  for (const batch of splitIntoBatches(resources, READ_BATCH)) {
    signal.throwIfAborted();
    insights.push(...(await Promise.all(batch.map(async (resource) => insightOf(resource)))));
  }
  return insights;
}
