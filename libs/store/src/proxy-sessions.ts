import type { Identity } from '@causeway/resources';

/** State of one type of resources at a proxy. */
export interface ProxyTypeFacts {
  /** The type's URL. */
  readonly type: string;
  readonly subscribed: number;
  readonly held: number;
  /** It has acked or rejected all changes up to this revision; absent: up to that of its replica; -1: not known. */
  readonly acked?: number;
  /** Responses of its streams: they are reported when something else changes, and every half minute. */
  readonly responses: { readonly sent: number; readonly acked: number; readonly rejected: number };
}

/** A resource that a proxy lacks, and why. */
export interface ProxyFault {
  readonly type: string;
  readonly name: string;
  /** Version of the rejected content. */
  readonly version?: string;
  readonly reason: string;
  /** ms since 1970, where known. */
  readonly at?: number;
}

/** State of a proxy, as its replica knows it; every list is bounded by the replica. */
export interface ProxyFacts {
  readonly kind: 'dataplane' | 'ingress' | 'egress';
  /** The Dataplane or the ingress that it is the proxy of. */
  readonly owner?: Identity;
  readonly node: string;
  readonly address: string;
  readonly userAgent: string;
  /** Why it passes all traffic through as TCP, so that it applies no route; absent where it does not. */
  readonly bytesOnly?: string;
  readonly form: 'delta' | 'sotw';
  /** Start of its oldest stream, ms since 1970 by the clock of the replica. */
  readonly since: number;
  readonly streams: number;
  readonly types: readonly ProxyTypeFacts[];
  /** Whether its state is known. Until then its former state counts. */
  readonly isSettled: boolean;
  /** It applies all changes up to this revision, secrets aside; absent: up to that of its replica. */
  readonly applied?: number;
  /** The authorities in the trust that it has accepted, by id; absent where it accepted none. */
  readonly authorities?: readonly string[];
  /** Of an egress instead, by mesh: of each mesh whose trust it asks for; none where it has accepted none yet. */
  readonly authoritiesIn?: Readonly<Record<string, readonly string[]>>;
  /** Its certificate: the SPIFFE id, and its end in ms since 1970. */
  readonly certificate?: { readonly uri?: string; readonly end: number };
  /** Rejected resources, neither accepted nor dropped since. */
  readonly rejected: readonly ProxyFault[];
  /** Resources that are not sent because they violate Envoy's rules. */
  readonly refused: readonly ProxyFault[];
}

/** A proxy that a replica serves or served. */
export interface ProxySession {
  readonly proxy: string;
  readonly connected: boolean;
  readonly facts: ProxyFacts;
}

/** Changes at a replica since its last report. */
export interface ProxyReport {
  /** Of the replica; another one after each start. */
  readonly instance: string;
  /** Grows with each report of the instance. */
  readonly version: number;
  /** Position of its index: proxies without a number of their own have applied everything up to here. */
  readonly incarnation: string;
  readonly revision: number;
  /** The replica stops: all its proxies are disconnected, and were asked to leave. */
  readonly isEnd: boolean;
  readonly sessions: readonly ProxySession[];
}

/** A session as it is stored. */
export interface StoredProxySession extends ProxySession {
  readonly version: number;
  /** Time of writing, ms since 1970 by the store's clock. */
  readonly changedAt: number;
}

/** A replica and those of its sessions that a reader does not have yet. */
export interface ReplicaSessions extends Omit<ProxyReport, 'sessions'> {
  /** Time of its last report, and now, by the store's clock. */
  readonly seenAt: number;
  readonly now: number;
  readonly sessions: readonly StoredProxySession[];
}

/**
 * The sessions of proxies with the replicas of a zone: rows beside the log (docs/design.md §2.8), each written by the replica that
 * serves the proxy. Every method throws Unavailable while the store cannot be asked.
 */
export interface ProxySessionStore {
  /**
   * Stores a report, in one statement. False: the store does not know the replica (any more), so the replica reports all its
   * sessions again. Reports of one instance come one after the other.
   */
  report(report: ProxyReport): Promise<boolean>;
  /** All replicas, each with the sessions that were written after the version that the reader has of it. */
  read(known: ReadonlyMap<string, number>): Promise<readonly ReplicaSessions[]>;
  /** Forgets sessions, those that were not written again since they were read. */
  forget(
    sessions: readonly { readonly instance: string; readonly proxy: string; readonly version: number }[],
  ): Promise<void>;
  /** Forgets replicas with all their sessions, those that have not reported since they were read. */
  forgetReplicas(replicas: readonly { readonly instance: string; readonly version: number }[]): Promise<void>;
}

/** The short name of a type of xDS resources: `Cluster` of `type.googleapis.com/envoy.config.cluster.v3.Cluster`. */
export function xdsTypeName(typeUrl: string): string {
  return typeUrl.slice(typeUrl.lastIndexOf('.') + 1);
}
