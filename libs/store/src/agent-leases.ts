import type { Fence } from './resource-store';

/** A Dataplane of this zone. */
export interface LeaseKey {
  readonly mesh: string;
  readonly namespace: string;
  readonly name: string;
}

/** One run of an agent (docs/reference/leases.md, Who holds a lease). */
export interface LeaseAgent {
  /** Created once per host; kept over restarts. */
  readonly instance: string;
  /** Different after each start. */
  readonly run: string;
  /** Start of the run, ms since 1970 by the host's clock. */
  readonly startedAt: number;
  /** Name of the host, for operators. */
  readonly machine: string;
  /** Address of the agent's connection. */
  readonly address: string;
}

/** Result of an agent's check of one inbound. */
export interface CheckedInbound {
  /** Index in `networking.inbound`. */
  readonly inbound: number;
  readonly ready: boolean;
  readonly check: string;
  readonly reason: string;
  /** Time of the last change, ms since 1970 by the host's clock. */
  readonly since: number;
  /** It is not ready because its process can be reached without the proxy. */
  readonly plaintextReachable?: boolean;
}

/** A configured feature that the proxy of a Dataplane does not support. */
export interface UnsupportedPart {
  /** Name of the listener or cluster. */
  readonly name: string;
  readonly what: string;
}

/** Identity of calls from the host's programs, if it is another Dataplane of the agent. */
export interface SharedClients {
  /** Name of that Dataplane, in the same mesh and namespace. */
  readonly clientDataplane: string;
}

/** Report of an agent about a Dataplane, besides its spec. */
export type AgentFinding = CheckedInbound | UnsupportedPart | SharedClients;

/** A stored lease; instants are ms since 1970 by the store's clock. */
export interface AgentLease extends LeaseKey, LeaseAgent {
  /** Id of the stream that holds it; different after each attach. */
  readonly session: string;
  /** Time since which this instance holds it. */
  readonly since: number;
  readonly expiresAt: number;
  readonly health: readonly AgentFinding[];
  /** Time of the last change of any field except `expiresAt`. */
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
  /** SHA-256 of the agent's secret, in hex; absent if it sent none, as agents of an earlier version. */
  readonly secretHash?: string;
}

/** Result of a claim; refused if a live instance holds the lease. */
export type LeaseResult = { readonly type: 'taken' } | { readonly type: 'held'; readonly by: AgentLease };

export interface LeaseRenewal extends LeaseKey {
  readonly session: string;
  /** Time since the agent's last message, ms: the lease ends one length after it. */
  readonly age: number;
  /** Absent: unchanged. */
  readonly health?: readonly AgentFinding[];
}

/** A lease that a session lost: another session has it (`taken`), or it was ended. */
export interface LostLease extends LeaseKey {
  readonly taken: boolean;
}

/** Leases on which a leader decides. */
export interface LeaseSurvey {
  /** The store's clock, ms since 1970. */
  readonly now: number;
  /** Number of all leases; if none has expired, the value may be one lease length old. */
  readonly total: number;
  /** Expired leases, the oldest first; at most the requested number. */
  readonly expired: readonly Pick<AgentLease, keyof LeaseKey | 'session' | 'machine' | 'expiresAt'>[];
  /** Number of expired leases. */
  readonly expiredTotal: number;
}

/**
 * Leases of agents on the Dataplanes of a zone: rows beside the log (docs/design.md §2.8), all times by the store's
 * clock. One stream (`session`) of one run of one agent holds a lease. Every method is one transaction and throws
 * Unavailable while the store is unavailable.
 */
export interface AgentLeaseStore {
  /**
   * Takes leases for `length` ms, each by itself, and returns the results in the order of the claims. A free or expired
   * lease is taken. A live one is taken by the same run, and by a later run of the same instance and address if it has
   * the last secret, if there was any; any other claim returns the holder. The former session loses the lease. Secrets
   * are compared in constant time and never returned.
   */
  take(claims: readonly LeaseClaim[], length: number): Promise<readonly LeaseResult[]>;
  /** Renews leases, also expired ones, unless they were ended or taken. Returns the lost ones. */
  renew(renewals: readonly LeaseRenewal[], length: number): Promise<readonly LostLease[]>;
  /** Removes a lease if this session holds it. Its holder must remove the Dataplane before. */
  drop(held: HeldLease): Promise<void>;
  /** Creates leases of `length` ms without a holder, for Dataplanes that are marked as leased and have no lease. */
  adopt(keys: readonly LeaseKey[], length: number): Promise<void>;
  /** Returns expired leases, at most `most` of them. */
  survey(most: number): Promise<LeaseSurvey>;
  /** Returns leases that changed at `since` (the store's clock) or later; all for 0. Heartbeats are no change. */
  changedSince(since: number): Promise<{ readonly now: number; readonly leases: readonly AgentLease[] }>;
  /** Returns the leases on these Dataplanes, in no order. */
  find(keys: readonly LeaseKey[]): Promise<readonly AgentLease[]>;
  /** Returns leases from an offset on, in the order of mesh, name, namespace, and their total number. */
  page(offset: number, most: number): Promise<{ readonly total: number; readonly leases: readonly AgentLease[] }>;
  /**
   * Ends expired leases held by these sessions: deletes lease and Dataplane of `zone` in one transaction. Returns those
   * that were ended; one that was renewed or taken meanwhile stays. Throws Fenced.
   */
  end(leases: readonly HeldLease[], at: { readonly zone: string; readonly fence: Fence }): Promise<readonly LeaseKey[]>;
}
