import { Unavailable } from '@causeway/resources';
import { splitIntoBatches, errorText, type Clock, type Logger } from '@causeway/runtime';
import type { AgentLeaseStore, HeldLease, LeaseResult, LeaseClaim, LeaseKey, LeaseRenewal } from '@causeway/store';

/** A stream of an agent, as its leases are kept. */
export interface LeaseSession {
  /** Unlike that of any other stream. */
  readonly id: string;
  /** When the agent was heard last, by `Clock.elapsed`, and with which heartbeat. */
  readonly heard: { readonly at: number; readonly heartbeat: number };
  /** The Dataplanes that it holds, with news of their health. */
  held(): Iterable<LeaseKey & Pick<LeaseRenewal, 'health'>>;
  /** Its leases are renewed as of this heartbeat, and these rows were written. */
  renewed(heartbeat: number, rows: readonly (LeaseKey & Pick<LeaseRenewal, 'health'>)[]): void;
  /** It does not hold this lease any more: another session does, or the lease was ended. */
  lost(key: LeaseKey, isTaken: boolean): void;
  /** The agent was not heard for one lease, or its leases cannot be renewed here. */
  end(reason: 'deadline' | 'unavailable', text: string): void;
}

export interface ReplicaLeasesOptions {
  readonly store: Pick<AgentLeaseStore, 'take' | 'renew' | 'drop'>;
  /** How long a lease lives without a heartbeat, ms. */
  readonly length: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How often heartbeats are passed on, ms. */
const RENEW_EVERY = 1_000;
/** The same as a share of a short lease. */
const RENEW_SHARE = 1 / 5;
/** Rows of one statement. */
const MAX_ROWS = 2_000;
const MAX_CLAIMS = 500;

interface WaitingClaim extends LeaseKey {
  readonly claim: LeaseClaim;
  readonly resolve: (answer: LeaseResult) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The leases that the streams of this replica hold. The heartbeats of all of them are one statement a second; claims that come while
 * one is under way share the next. A replica that cannot renew for half a lease ends its streams, so that agents turn to another.
 */
export class ReplicaLeases {
  private readonly sessions = new Set<LeaseSession>();
  /** The last heartbeat of each that is in the store. */
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

  /** How often an agent is to be heard, ms. */
  get heartbeatEvery(): number {
    return Math.floor(this.options.length / 3);
  }

  add(session: LeaseSession): void {
    this.sessions.add(session);
  }

  delete(session: LeaseSession): void {
    this.sessions.delete(session);
    this.confirmed.delete(session);
  }

  /** Rejects with Unavailable. */
  take(claim: LeaseClaim): Promise<LeaseResult> {
    return new Promise((resolve, reject) => {
      const { mesh, namespace, name } = claim;
      this.waiting.push({ mesh, namespace, name, claim, resolve, reject });
      void this.takeWaiting();
    });
  }

  /** Gives a lease up. Rejects with Unavailable; it ends then by itself. */
  drop(held: HeldLease): Promise<void> {
    return this.options.store.drop(held);
  }

  /** Renews until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.options;
    this.renewedAt = clock.elapsed();
    while (!signal.aborted) {
      await clock.sleep(Math.min(RENEW_EVERY, this.options.length * RENEW_SHARE), signal);
      if (!signal.aborted) await this.renew();
    }
  }

  /** One round of heartbeats. */
  async renew(): Promise<void> {
    const { clock, length, logger } = this.options;
    const now = clock.elapsed();
    for (const session of [...this.sessions])
      if (now - session.heard.at > length) session.end('deadline', `no request for ${length} ms`);
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
      const { at, heartbeat } = session.heard;
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

/** In as few lists as have no lease twice: a statement names each once. */
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

/** A lease as a key of maps. */
export function formatLeaseName({ mesh, namespace, name }: LeaseKey): string {
  return `${mesh}/${namespace}/${name}`;
}
