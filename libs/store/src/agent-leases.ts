import type { Fence } from './resource-store';

/** A Dataplane of this zone. */
export interface LeaseKey {
  readonly mesh: string;
  readonly namespace: string;
  readonly name: string;
}

/** A run of an agent (docs/reference/leases.md, Who holds a lease). */
export interface LeaseAgent {
  /** Made once on a machine; kept over restarts. */
  readonly instance: string;
  /** Another one after each start. */
  readonly run: string;
  /** Start of the run, ms since 1970 by the machine's clock. */
  readonly startedAt: number;
  /** Name of the machine, for operators. */
  readonly machine: string;
  /** Address of the agent's connection. */
  readonly address: string;
}

/** Result of an agent's check of one inbound. */
export interface CheckedInbound {
  /** Its place in `networking.inbound`. */
  readonly inbound: number;
  readonly ready: boolean;
  readonly check: string;
  readonly reason: string;
  /** ms since 1970 by the machine's clock. */
  readonly since: number;
  /** It is not ready because its process can be reached without its proxy. */
  readonly plaintextReachable?: boolean;
}

/** A configured feature that the proxy of a Dataplane does not support. */
export interface UnsupportedPart {
  /** The listener or the cluster. */
  readonly name: string;
  readonly what: string;
}

/** As whom programs of the machine call, where that is another Dataplane of the agent. */
export interface SharedClients {
  /** The name of that Dataplane, of the same mesh and namespace. */
  readonly clientDataplane: string;
}

/** Report of an agent about a Dataplane, besides its spec. */
export type AgentFinding = CheckedInbound | UnsupportedPart | SharedClients;

/** A lease as it is stored; instants are ms since 1970 by the store's clock. */
export interface AgentLease extends LeaseKey, LeaseAgent {
  /** The stream by which it is held; another one after each attach. */
  readonly session: string;
  /** Time since which this instance holds it. */
  readonly since: number;
  readonly expiresAt: number;
  readonly health: readonly AgentFinding[];
  /** Time of the last change of anything but `expiresAt`. */
  readonly changedAt: number;
}

/** A lease and the stream that holds it. */
export interface HeldLease extends LeaseKey {
  readonly session: string;
}

/** Claim of a stream on a lease. */
export interface LeaseClaim extends LeaseKey {
  readonly agent: LeaseAgent;
  readonly session: string;
  /** SHA-256 of the agent's secret, in hex; absent: it has shown none, as agents of an earlier version. */
  readonly secretHash?: string;
}

/** Refused: a live instance holds it. */
export type LeaseResult = { readonly type: 'taken' } | { readonly type: 'held'; readonly by: AgentLease };

export interface LeaseRenewal extends LeaseKey {
  readonly session: string;
  /** Time since the agent was last heard, ms: the lease ends one length after that. */
  readonly age: number;
  /** Absent: as before. */
  readonly health?: readonly AgentFinding[];
}

/** A lease that a session no longer holds: another one does (`taken`), or none, since it was ended. */
export interface LostLease extends LeaseKey {
  readonly taken: boolean;
}

/** State from which a leader decides. */
export interface LeaseSurvey {
  /** The store's clock, ms since 1970. */
  readonly now: number;
  /** All leases; where none has expired, as they were less than the length of a lease ago. */
  readonly total: number;
  /** Those that have expired, the oldest first; at most as many as asked for. */
  readonly expired: readonly Pick<AgentLease, keyof LeaseKey | 'session' | 'machine' | 'expiresAt'>[];
  /** Number of expired leases. */
  readonly expiredTotal: number;
}

/**
 * The leases of agents on the Dataplanes of a zone: rows beside the log (docs/design.md §2.8), all times by the store's clock. A
 * lease is held by one stream (`session`) of one run of one agent. Every method is one transaction and throws Unavailable while
 * the store cannot be asked.
 */
export interface AgentLeaseStore {
  /**
   * Takes leases for `length` ms, each by itself, and answers in the order of the claims. A free or expired lease is
   * taken. A live one is taken by the same run, and by a later run of the same instance and address, if it shows the
   * secret that was shown last, if any was; any other claim gets the holder as its answer. The former session loses the
   * lease. Secrets are compared in constant time and are in no answer.
   */
  take(claims: readonly LeaseClaim[], length: number): Promise<readonly LeaseResult[]>;
  /** Renews leases, also expired ones, unless they were ended or taken. Returns those that are lost. */
  renew(renewals: readonly LeaseRenewal[], length: number): Promise<readonly LostLease[]>;
  /** Removes a lease if this session holds it. Its Dataplane is removed before, by who holds the lease. */
  drop(held: HeldLease): Promise<void>;
  /** Creates leases of `length` ms without a holder, for Dataplanes that are marked as leased and have none. */
  adopt(keys: readonly LeaseKey[], length: number): Promise<void>;
  /** Leases that have expired, at most `most` of them. */
  survey(most: number): Promise<LeaseSurvey>;
  /** Leases that changed at `since` (the store's clock) or later; all for 0. Heartbeats change nothing. */
  changedSince(since: number): Promise<{ readonly now: number; readonly leases: readonly AgentLease[] }>;
  /** The leases on these Dataplanes, in no order; of one that has none there is nothing. */
  find(keys: readonly LeaseKey[]): Promise<readonly AgentLease[]>;
  /** Leases from a place on, in the order of mesh, name, namespace, and how many there are. */
  page(offset: number, most: number): Promise<{ readonly total: number; readonly leases: readonly AgentLease[] }>;
  /**
   * Ends leases that have expired and are held by these sessions: lease and Dataplane of `zone` go in one transaction. Returns those
   * that were ended; one that was renewed or taken meanwhile stays. Throws Fenced.
   */
  end(leases: readonly HeldLease[], at: { readonly zone: string; readonly fence: Fence }): Promise<readonly LeaseKey[]>;
}
