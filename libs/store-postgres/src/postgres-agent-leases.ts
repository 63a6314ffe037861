import {
  Fenced,
  type AgentLease,
  type AgentLeaseStore,
  type HeldLease,
  type LeaseResult,
  type LeaseClaim,
  type LeaseKey,
  type LeaseRenewal,
  type LeaseSurvey,
  type LostLease,
} from '@causeway/store';
import { DatabaseError } from 'pg';
import { AgentLeaseRow } from './database/entities';
import type { ReadBatcher } from './database/read-batcher';
import type { StoreDatabase } from './database/store-database';
import type { WakeUpSignal } from './log/wake-up-signal';

const NOW = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';
const TAKE = 'SELECT * FROM causeway_claim_leases($1, $2)';
const RENEW = 'SELECT * FROM causeway_renew_leases($1, $2)';
const END = 'SELECT causeway_end_leases($1, $2, $3, $4) AS ended';

const ADOPT = `INSERT INTO agent_leases SELECT mesh, namespace, name, '', '', 0, '', '', '', n.now, n.now + $2, '[]', n.now
  FROM jsonb_to_recordset($1) AS k(mesh text, namespace text, name text), (SELECT ${NOW} AS now) AS n
  ORDER BY mesh COLLATE "C", name COLLATE "C", namespace COLLATE "C" ON CONFLICT DO NOTHING`;

/** Reads all leases. One row for the counts, beside which the expired leases stand. */
const SURVEY = `WITH n AS MATERIALIZED (SELECT ${NOW} AS now)
SELECT n.now, c.total, c.expired_total, c.first, e.mesh, e.namespace, e.name, e.session, e.machine, e.expires_at
  FROM n CROSS JOIN LATERAL (SELECT count(*) AS total, count(*) FILTER (WHERE expires_at <= n.now) AS expired_total,
    min(expires_at) AS first FROM agent_leases) AS c
  LEFT JOIN LATERAL (SELECT * FROM agent_leases WHERE c.expired_total > 0 AND expires_at <= n.now
    ORDER BY expires_at, mesh, name, namespace LIMIT $1) AS e ON true`;

/**
 * Selects the first expiry among the leases that were taken or created since: a heartbeat only moves an expiry further away. There is no index on
 * `expires_at`, which every heartbeat would have to write: updates of the table stay in their page.
 */
const FIRST_END = `SELECT n.now, f.first FROM (SELECT ${NOW} AS now) AS n
  CROSS JOIN (SELECT min(expires_at) AS first FROM agent_leases WHERE changed_at >= $1) AS f`;

/** The maximum delay after `changed_at` until a lease becomes visible, ms. */
const COMMIT_DELAY = 10_000;

const CHANGED = `SELECT n.now, l.* FROM (SELECT ${NOW} AS now) AS n LEFT JOIN agent_leases l ON l.changed_at >= $1`;

const FIND = `SELECT l.* FROM agent_leases l JOIN jsonb_to_recordset($1) AS k(mesh text, namespace text, name text)
  ON l.mesh = k.mesh AND l.name = k.name AND l.namespace = k.namespace`;

interface SurveyRow {
  readonly now: number;
  /** Null if there is no lease. */
  readonly first: number | null;
  readonly total: number;
  readonly expired_total: number;
  /** Null if no lease has expired. */
  readonly mesh: string | null;
  readonly namespace: string;
  readonly name: string;
  readonly session: string;
  readonly machine: string;
  readonly expires_at: number;
}

/** A lower bound of the next expiry, valid while no lease has expired. */
interface Outlook {
  readonly at: number;
  /** No lease that was visible at `at` expires earlier. */
  readonly first: number;
  readonly total: number;
}

/** Leases of agents in Postgres. */
export class PostgresAgentLeases implements AgentLeaseStore {
  private outlook: Outlook | undefined;

  constructor(
    private readonly database: StoreDatabase,
    private readonly joint: ReadBatcher,
    /** Notified when Dataplanes were deleted. */
    private readonly wakeUp: Pick<WakeUpSignal, 'notify'>,
  ) {}

  async take(claims: readonly LeaseClaim[], length: number): Promise<readonly LeaseResult[]> {
    const asked = claims.map(({ agent, ...claim }) => ({ ...claim, ...agent, started_at: agent.startedAt }));
    const rows = await this.database.query<AgentLeaseRow>({
      name: 'claim-leases',
      text: TAKE,
      values: [JSON.stringify(asked), length],
    });
    const leases = new Map(rows.map((row) => [formatKey(row), toLease(row)]));
    return claims.map((claim) => {
      const by = leases.get(formatKey(claim));
      if (!by) throw new Error(`the database returned no lease for Dataplane ${claim.name}`);
      return by.session === claim.session ? { type: 'taken' } : { type: 'held', by };
    });
  }

  renew(renewals: readonly LeaseRenewal[], length: number): Promise<readonly LostLease[]> {
    const values = [JSON.stringify(renewals), length];
    return this.database.query<LostLease>({ name: 'renew-leases', text: RENEW, values });
  }

  async drop({ mesh, namespace, name, session }: HeldLease): Promise<void> {
    await this.database.change(AgentLeaseRow, (rows) => rows.delete({ mesh, namespace, name, session }));
  }

  async adopt(keys: readonly LeaseKey[], length: number): Promise<void> {
    await this.database.query({ name: 'adopt-leases', text: ADOPT, values: [JSON.stringify(keys), length] });
  }

  /** Reads all leases only if one may have expired: about twice in the duration of a lease. */
  async survey(most: number): Promise<LeaseSurvey> {
    const outlook = this.outlook && (await this.ahead(this.outlook));
    if (!outlook) return this.surveyAll(most);
    this.outlook = outlook;
    return { now: outlook.at, total: outlook.total, expired: [], expiredTotal: 0 };
  }

  /** Returns undefined if a lease may have expired. */
  private async ahead({ at, first: known, total }: Outlook): Promise<Outlook | undefined> {
    const statement = { name: 'first-lease-end', text: FIRST_END, values: [at - COMMIT_DELAY] };
    const [row] = await this.joint.read<Pick<SurveyRow, 'now' | 'first'>>(statement);
    if (!row) return undefined;
    const first = Math.min(known, row.first ?? Infinity);
    return row.now < first ? { at: row.now, first, total } : undefined;
  }

  private async surveyAll(most: number): Promise<LeaseSurvey> {
    const rows = await this.database.read<SurveyRow>({ name: 'survey-leases', text: SURVEY, values: [most] });
    const [head = { now: 0, total: 0, expired_total: 0, first: null }] = rows;
    const { now, total, expired_total: expiredTotal, first } = head;
    this.outlook = expiredTotal > 0 ? undefined : { at: now, total, first: first ?? Infinity };
    const expired = rows.flatMap(({ mesh, namespace, name, session, machine, expires_at: expiresAt }) =>
      mesh === null ? [] : [{ mesh, namespace, name, session, machine, expiresAt }],
    );
    return { now, total, expired, expiredTotal };
  }

  async changedSince(since: number): Promise<{ readonly now: number; readonly leases: readonly AgentLease[] }> {
    const statement = { name: 'changed-leases', text: CHANGED, values: [since] };
    const rows = await this.joint.read<AgentLeaseRow & { readonly now: number }>(statement);
    const leases = rows.flatMap((row) => (isLease(row) ? [toLease(row)] : []));
    return { now: rows[0]?.now ?? 0, leases };
  }

  async find(keys: readonly LeaseKey[]): Promise<readonly AgentLease[]> {
    const statement = { name: 'find-leases', text: FIND, values: [JSON.stringify(keys)] };
    return (await this.database.read<AgentLeaseRow>(statement)).map(toLease);
  }

  async page(offset: number, most: number): ReturnType<AgentLeaseStore['page']> {
    const order = { mesh: 'ASC', name: 'ASC', namespace: 'ASC' } as const;
    const [rows, total] = await this.database.find(AgentLeaseRow, (table) =>
      table.findAndCount({ order, skip: offset, take: most }),
    );
    return { total, leases: rows.map(toLease) };
  }

  async end(
    leases: readonly HeldLease[],
    { zone, fence }: Parameters<AgentLeaseStore['end']>[1],
  ): Promise<readonly LeaseKey[]> {
    const values = [JSON.stringify(leases), zone, fence.epoch, fence.holder];
    try {
      const statement = { name: 'end-leases', text: END, values };
      const [row] = await this.database.query<{ ended: readonly LeaseKey[] }>(statement);
      return row?.ended ?? [];
    } catch (error) {
      if (error instanceof DatabaseError && error.code === 'CW002')
        throw new Fenced(`epoch ${fence.epoch} of ${fence.holder} has ended`);
      throw error;
    } finally {
      this.wakeUp.notify(); // also after a failure: it may have happened
    }
  }
}

function formatKey({ mesh, namespace, name }: LeaseKey): string {
  return JSON.stringify([mesh, namespace, name]);
}

/** The columns of a join without a match are null. */
function isLease(row: { readonly mesh: string | null }): boolean {
  return row.mesh !== null;
}

function toLease(row: AgentLeaseRow): AgentLease {
  const { mesh, namespace, name, instance, run, machine, address, session, since, health } = row;
  return {
    mesh,
    namespace,
    name,
    instance,
    run,
    machine,
    address,
    session,
    since,
    health,
    startedAt: row.started_at,
    expiresAt: row.expires_at,
    changedAt: row.changed_at,
  };
}
