import type { ControlPlane, Identity, JsonObject, Registry, Resource } from '@causeway/resources';
import type { Clock, Logger, PageRange, SortedPage } from '@causeway/runtime';
import type { IndexReader, ResourceStore } from '@causeway/store';
import type { Admission } from '@causeway/admission';
import type { HostnameEntry } from '@causeway/controllers';
import type { SyncDecisions } from './zones/sync-decisions';
import type { ZoneAccess } from './zones/zone-access';

/** What bounds a request. Durations in ms, sizes in bytes. */
export interface RestLimits {
  /** Connections open at once. */
  readonly connections: number;
  /** Of them for one client address. */
  readonly connectionsPerClient: number;
  /** Largest body. */
  readonly body: number;
  /** Largest body in YAML: reading it takes 100 times as long as JSON. */
  readonly yaml: number;
  /** Until the whole request has arrived. */
  readonly requestTimeout: number;
  /** Longest that `minRevision` waits, and a read waits for this replica's own writes. */
  readonly revisionWait: number;
  /** Watches open at once. */
  readonly watches: number;
  /** Of them for one client address. */
  readonly watchesPerClient: number;
  /** Bytes kept for one watch that does not read; more and it has to list again. */
  readonly watchBytes: number;
  /** Bytes that all watches hold together; above it the slowest readers are ended. */
  readonly allWatchBytes: number;
  /** Silence on a watch before a heartbeat. */
  readonly heartbeat: number;
  /** How long a watch may refuse to take what is sent before it is closed. */
  readonly stall: number;
  /** Longest life of a watch: readers come back, perhaps to another replica. */
  readonly watchTime: number;
  /** Changes kept for a watch that does not read; more and it has to list again. */
  readonly backlog: number;
}

export const DEFAULT_LIMITS: RestLimits = {
  connections: 10_000,
  connectionsPerClient: 2_000,
  body: 1024 * 1024,
  yaml: 256 * 1024,
  requestTimeout: 30_000,
  revisionWait: 10_000,
  watches: 1_000,
  watchesPerClient: 500,
  watchBytes: 4 * 1024 * 1024,
  allWatchBytes: 128 * 1024 * 1024,
  heartbeat: 15_000,
  stall: 30_000,
  watchTime: 3_600_000,
  backlog: 10_000,
};

/** Who may reach this server and write (design.md §6). */
export interface RestAccess {
  /** The address the server is bound to, as configured. */
  readonly bindAddress: string;
  readonly operatorToken?: string;
}

/** What the server says of the program it is part of. */
export interface ProgramFacts {
  readonly version: string;
  /** This replica. */
  readonly instanceId: string;
  /** The configuration, secrets already replaced. */
  readonly config: JsonObject;
}

/** A question about a hostname (design.md §4 end). */
export interface HostnameQuestion {
  readonly hostname: string;
  readonly mesh: string;
  /** Whose view; on the global it has to be said. */
  readonly zone?: string;
}

/** A question to the zone's DNS server; `type` is A where absent. */
export interface DnsQuestion {
  readonly name: string;
  readonly type?: string;
}

/** Which rows of the table of hostnames: of those whose name contains a text, a part. */
export interface HostnamePart extends PageRange {
  readonly containing: string;
}

/** A resource as a dry run would have written it. */
export interface DraftedResource {
  readonly id: Identity;
  readonly spec: JsonObject;
  /** In which zone the consequences are asked for; needed on the global. */
  readonly seenFrom?: string;
}

/**
 * Knowledge that other libs have and REST only shows. What may look at very much takes the signal of the request that it
 * is for: it goes in slices, and rejects at the next when the signal has aborted.
 */
export interface Insights {
  /** Who claims a hostname, who wins, by which rule; its route is 404 without it. Throws DomainErrors. */
  readonly explainHostname?: (question: HostnameQuestion, signal: AbortSignal) => JsonObject | Promise<JsonObject>;
  /** The hostnames of a mesh, sorted, with who claims them; its route is 404 without it. */
  readonly hostnames?: (mesh: string, page: HostnamePart, signal: AbortSignal) => Promise<SortedPage<HostnameEntry>>;
  /** What a write would lead to, told in the answer of a dry run; undefined where nothing is to be told. */
  readonly consequences?: (
    draft: DraftedResource,
    signal: AbortSignal,
  ) => JsonObject | undefined | Promise<JsonObject | undefined>;
  /** What a user should know who deletes a resource, or would by a dry run. */
  readonly deletionWarnings?: (id: Identity) => readonly string[];
  /** What the zone's DNS would answer and why; its route is 404 without it. Throws DomainErrors. */
  readonly dnsLookup?: (question: DnsQuestion) => JsonObject | Promise<JsonObject>;
  /** What stands beside a Zone or Dataplane: sessions, versions, lag; undefined where nothing was reported. */
  readonly insightOf?: (resource: Resource) => JsonObject | undefined | Promise<JsonObject | undefined>;
}

/** Everything the REST server works with. */
export interface RestDependencies {
  readonly registry: Registry;
  readonly cp: ControlPlane;
  readonly store: ResourceStore;
  readonly index: IndexReader;
  readonly admission: Admission;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly access: RestAccess;
  readonly program: ProgramFacts;
  readonly limits?: Partial<RestLimits>;
  readonly insights?: Insights;
  /** On a global: its routes are 404 without it. */
  readonly zoneAccess?: ZoneAccess;
  /** Where this control plane is one of several. */
  readonly syncDecisions?: SyncDecisions;
}
