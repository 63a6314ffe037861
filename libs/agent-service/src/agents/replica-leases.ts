import { Unavailable } from '@causeway/resources';
import { type Clock, errorText, type Logger, sleepUntilTick, splitIntoBatches } from '@causeway/runtime';
import type {
  AgentLease,
  AgentLeaseStore,
  HeldLease,
  LeaseResult,
  LeaseClaim,
  LeaseKey,
  LeaseRenewal,
} from '@causeway/store';

/** Stream of an agent, as seen by the keeper of its leases. */
export interface LeaseSession {
  /** Unique among all streams. */
  readonly id: string;
  /** Time (`Clock.elapsed`) and number of the last heartbeat. */
  readonly lastRequest: { readonly at: number; readonly heartbeat: number };
  /** Returns the held Dataplanes, with unwritten health. */
  held(): Iterable<LeaseKey & Pick<LeaseRenewal, 'health'>>;
  /** Called when its leases are renewed up to this heartbeat, with the written rows. */
  renewed(heartbeat: number, rows: readonly (LeaseKey & Pick<LeaseRenewal, 'health'>)[]): void;
  /** Called when a lease is lost: another session has it (`isTaken`), or it has ended. */
  lost(key: LeaseKey, isTaken: boolean): void;
  /** Called when no heartbeat arrived for the length of a lease, or when its leases cannot be renewed here. */
  end(reason: 'deadline' | 'unavailable', text: string): void;
}

export interface ReplicaLeasesOptions {
  readonly store: Pick<AgentLeaseStore, 'take' | 'renew' | 'drop'>;
  /** Time for which a lease is valid without a heartbeat, ms. */
  readonly length: number;
  /** Called when a claim is refused, since another agent holds the lease. */
  readonly onHeld?: ((claim: LeaseClaim, by: AgentLease) => void) | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Interval at which leases are renewed in the store, ms. */
const RENEW_INTERVAL = 1_000;
/** The interval as a share of a short lease. */
const RENEW_SHARE = 1 / 5;
/** Maximum number of rows in one statement. */
const MAX_ROWS = 2_000;
const MAX_CLAIMS = 500;

interface WaitingClaim extends LeaseKey {
  readonly claim: LeaseClaim;
  readonly resolve: (answer: LeaseResult) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Leases of this replica's streams, renewed by one statement a second; claims during a statement share the next. If it
 * cannot renew for half a lease, it ends its streams, so that agents connect to another replica.
 */
export class ReplicaLeases {
  private readonly sessions = new Set<LeaseSession>();
  /** Last heartbeat of each session in the store. */
  private readonly confirmed = new Map<LeaseSession, number>();
  private waiting: WaitingClaim[] = [];
  private isTaking = false;
  private renewedAt: number;
  private isFailing = false;

  constructor(private readonly options: ReplicaLeasesOptions) {
    this.renewedAt = options.clock.elapsed();
  }

  get length(): number {
    return this.options.length;
  }

  /** Interval at which an agent must send heartbeats, ms. */
  get heartbeatInterval(): number {
    return Math.floor(this.options.length / 3);
  }

  add(session: LeaseSession): void {
    this.sessions.add(session);
  }

  delete(session: LeaseSession): void {
    this.sessions.delete(session);
    this.confirmed.delete(session);
  }

  /** Claims a lease. Rejects with Unavailable. */
  claim(claim: LeaseClaim): Promise<LeaseResult> {
    return new Promise((resolve, reject) => {
      const { mesh, namespace, name } = claim;
      const answered = (answer: LeaseResult): void => {
        if (answer.type === 'held') this.options.onHeld?.(claim, answer.by);
        resolve(answer);
      };
      this.waiting.push({ mesh, namespace, name, claim, resolve: answered, reject });
      void this.takeWaiting();
    });
  }

  /** Drops a lease. Rejects with Unavailable; the lease then expires. */
  drop(held: HeldLease): Promise<void> {
    return this.options.store.drop(held);
  }

  /** Renews until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.options;
    this.renewedAt = clock.elapsed();
    while (!signal.aborted) {
      await sleepUntilTick(clock, Math.min(RENEW_INTERVAL, this.options.length * RENEW_SHARE), signal);
      if (!signal.aborted) await this.renew();
    }
  }

  /** Renews all leases once. */
  async renew(): Promise<void> {
    const { clock, length, logger } = this.options;
    const now = clock.elapsed();
    for (const session of [...this.sessions])
      if (now - session.lastRequest.at > length) session.end('deadline', `no request for ${length} ms`);
    try {
      await this.renewAll(now);
      [this.renewedAt, this.isFailing] = [now, false];
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      if (!this.isFailing) logger.warn('leases of agents cannot be renewed', { error: errorText(error) });
      this.isFailing = true;
      if (clock.elapsed() - this.renewedAt < length / 2) return;
      for (const session of [...this.sessions])
        session.end('unavailable', 'this control plane cannot reach its store; another one serves');
    }
  }

  private async renewAll(now: number): Promise<void> {
    const { store, length } = this.options;
    const rounds = [...this.sessions].map((session) => {
      const { at, heartbeat } = session.lastRequest;
      const age = Math.max(0, Math.round(now - at));
      const rows = [...session.held()].map((key) => ({ ...key, session: session.id, age }));
      return { session, heartbeat, rows, isNews: rows.some(({ health }) => health !== undefined) };
    });
    const due = rounds.filter((round) => round.isNews || round.heartbeat !== this.confirmed.get(round.session));
    const owners = new Map(due.map(({ session }) => [session.id, session]));
    for (const batch of distinctLeases(due.flatMap(({ rows }) => rows)))
      for (const part of splitIntoBatches(batch, MAX_ROWS)) {
        const sessions = new Map(part.map((row) => [formatLeaseName(row), row.session]));
        for (const { taken, ...key } of await store.renew(part, length))
          owners.get(sessions.get(formatLeaseName(key)) ?? '')?.lost(key, taken);
      }
    for (const { session, heartbeat, rows } of due) {
      if (this.sessions.has(session)) this.confirmed.set(session, heartbeat);
      session.renewed(heartbeat, rows);
    }
  }

  private async takeWaiting(): Promise<void> {
    if (this.isTaking) return;
    this.isTaking = true;
    // Streams that attach in one turn share the statement.
    await Promise.resolve();
    while (this.waiting.length > 0) {
      const [claims = [], ...later] = distinctLeases(this.waiting.splice(0, MAX_CLAIMS));
      this.waiting.unshift(...later.flat());
      await this.takeTogether(claims);
    }
    this.isTaking = false;
  }

  private async takeTogether(claims: readonly WaitingClaim[]): Promise<void> {
    try {
      const answers = await this.options.store.take(
        claims.map(({ claim }) => claim),
        this.options.length,
      );
      claims.forEach(({ resolve, reject }, i) => {
        const answer = answers[i];
        if (answer) resolve(answer);
        else reject(new Error('the store answered a claim with nothing'));
      });
    } catch (error) {
      claims.forEach(({ reject }) => reject(error));
    }
  }
}

/** Splits rows into the fewest lists without duplicate leases: a statement may name each lease once. */
function distinctLeases<Row extends LeaseKey>(rows: readonly Row[]): readonly (readonly Row[])[] {
  const lists: Row[][] = [];
  const times = new Map<string, number>();
  for (const row of rows) {
    const before = times.get(formatLeaseName(row)) ?? 0;
    times.set(formatLeaseName(row), before + 1);
    (lists[before] ??= []).push(row);
  }
  return lists;
}

/** Formats a lease as a map key. */
export function formatLeaseName({ mesh, namespace, name }: LeaseKey): string {
  return `${mesh}/${namespace}/${name}`;
}
