import type { Identity } from '@causeway/resources';

/** State of one resource type at a proxy. */
export interface ProxyTypeFacts {
  /** The type's URL. */
  readonly type: string;
  readonly subscribed: number;
  readonly held: number;
  /** Revision up to which it acknowledged or rejected all changes; absent: that of its replica; -1: unknown. */
  readonly acked?: number;
  /** Counts of its streams' responses; reported with other changes, and every half minute. */
  readonly responses: { readonly sent: number; readonly acked: number; readonly rejected: number };
}

/** A resource that a proxy lacks, and the reason. */
export interface ProxyFault {
  readonly type: string;
  readonly name: string;
  /** Version of the rejected content. */
  readonly version?: string;
  readonly reason: string;
  /** Time of the fault, ms since 1970, if known. */
  readonly at?: number;
}

/** State of a proxy as its replica sees it; the replica bounds every list. */
export interface ProxyFacts {
  readonly kind: 'dataplane' | 'ingress' | 'egress';
  /** Dataplane or ingress to which the proxy belongs. */
  readonly owner?: Identity;
  readonly node: string;
  readonly address: string;
  readonly userAgent: string;
  /** Reason why it forwards all traffic as TCP and applies no route; absent if it does not. */
  readonly bytesOnly?: string;
  readonly form: 'delta' | 'sotw';
  /** Start of its oldest stream, ms since 1970 by the clock of the replica. */
  readonly since: number;
  readonly streams: number;
  readonly types: readonly ProxyTypeFacts[];
  /** Whether its state is known. Until then its previous state applies. */
  readonly isSettled: boolean;
  /** Revision up to which it applied all changes except secrets; absent: that of its replica. */
  readonly applied?: number;
  /** Ids of the authorities in the trust bundle that it accepted; absent if it accepted none. */
  readonly authorities?: readonly string[];
  /** For an egress, by mesh: the authorities of each trust bundle to which it subscribes; empty until it accepts one. */
  readonly authoritiesIn?: Readonly<Record<string, readonly string[]>>;
  /** Its certificate: the SPIFFE id, and the expiry in ms since 1970. */
  readonly certificate?: { readonly uri?: string; readonly end: number };
  /** Rejected resources that were neither accepted nor removed since. */
  readonly rejected: readonly ProxyFault[];
  /** Resources that are not sent because they violate Envoy's rules. */
  readonly refused: readonly ProxyFault[];
}

/** A current or former proxy of a replica. */
export interface ProxySession {
  readonly proxy: string;
  readonly connected: boolean;
  readonly facts: ProxyFacts;
}

/** Changes at a replica since its last report. */
export interface ProxyReport {
  /** Id of the replica; different after each start. */
  readonly instance: string;
  /** Increases with each report of the instance. */
  readonly version: number;
  /** Position of its index: proxies without a revision of their own have applied everything up to it. */
  readonly incarnation: string;
  readonly revision: number;
  /** Whether the replica stops: all its proxies are disconnected, after a request to reconnect elsewhere. */
  readonly isEnd: boolean;
  readonly sessions: readonly ProxySession[];
}

/** A stored session. */
export interface StoredProxySession extends ProxySession {
  readonly version: number;
  /** Time of writing, ms since 1970 by the store's clock. */
  readonly changedAt: number;
}

/** A replica, and its sessions that a reader does not have yet. */
export interface ReplicaSessions extends Omit<ProxyReport, 'sessions'> {
  /** Time of its last report, and current time, by the store's clock. */
  readonly seenAt: number;
  readonly now: number;
  readonly sessions: readonly StoredProxySession[];
}

/**
 * Sessions of proxies with the replicas of a zone: rows beside the log (docs/design.md §2.8), each written by the
 * replica that serves the proxy. Every method throws Unavailable while the store is unavailable.
 */
export interface ProxySessionStore {
  /**
   * Stores a report in one statement. Returns false if the store does not know the replica (any more); the replica then
   * reports all its sessions again. Reports of one instance must be sequential.
   */
  report(report: ProxyReport): Promise<boolean>;
  /** Returns all replicas, each with the sessions written after the version that the reader has. */
  read(known: ReadonlyMap<string, number>): Promise<readonly ReplicaSessions[]>;
  /** Deletes sessions that were not written again since they were read. */
  forget(
    sessions: readonly { readonly instance: string; readonly proxy: string; readonly version: number }[],
  ): Promise<void>;
  /** Deletes replicas with all their sessions, unless they have reported since they were read. */
  forgetReplicas(replicas: readonly { readonly instance: string; readonly version: number }[]): Promise<void>;
}

/** Returns the short name of an xDS resource type: `Cluster` of `type.googleapis.com/envoy.config.cluster.v3.Cluster`. */
export function xdsTypeName(typeUrl: string): string {
  return typeUrl.slice(typeUrl.lastIndexOf('.') + 1);
}
