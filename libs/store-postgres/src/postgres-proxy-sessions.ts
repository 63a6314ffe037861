import type { ProxyReport, ProxySessionStore, ReplicaSessions, StoredProxySession } from '@causeway/store';
import type { ReadBatcher } from './database/read-batcher';
import type { StoreDatabase } from './database/store-database';
import { decodeProxyFacts } from './proxy-facts-decode';

const REPORT = 'SELECT causeway_report_proxies($1, $2, $3, $4, $5, $6) AS known';

/** One statement: its rows are of one moment, so no session is newer than the revision of its replica. */
const READ = `
SELECT r.instance, r.version AS at_version, r.incarnation, r.revision, r.ended, r.seen_at,
    (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now_ms,
    s.proxy, s.version, s.connected, s.changed_at, s.facts
  FROM proxy_replicas r LEFT JOIN proxy_sessions s
    ON s.instance = r.instance AND s.version > coalesce(($1::jsonb ->> r.instance)::bigint, -1)
  ORDER BY r.instance, s.proxy`;

const FORGET = `DELETE FROM proxy_sessions s USING jsonb_to_recordset($1) AS f(instance text, proxy text, version bigint)
  WHERE s.instance = f.instance AND s.proxy = f.proxy AND s.version = f.version`;

const FORGET_REPLICAS = `WITH gone AS (
    DELETE FROM proxy_replicas r USING jsonb_to_recordset($1) AS f(instance text, version bigint)
      WHERE r.instance = f.instance AND r.version = f.version RETURNING r.instance)
  DELETE FROM proxy_sessions s USING gone WHERE s.instance = gone.instance`;

interface ReadRow {
  readonly instance: string;
  readonly at_version: number;
  readonly incarnation: string;
  readonly revision: number;
  readonly ended: boolean;
  readonly seen_at: number;
  readonly now_ms: number;
  /** Null if the reader has all sessions of the replica. */
  readonly proxy: string | null;
  readonly version: number;
  readonly connected: boolean;
  readonly changed_at: number;
  readonly facts: unknown;
}

/** Sessions of proxies in Postgres. */
export class PostgresProxySessions implements ProxySessionStore {
  constructor(
    private readonly database: StoreDatabase,
    private readonly joint: ReadBatcher,
  ) {}

  async report({ instance, version, incarnation, revision, isEnd, sessions }: ProxyReport): Promise<boolean> {
    const values = [instance, version, incarnation, revision, isEnd, JSON.stringify(sessions)];
    const [row] = await this.database.query<{ known: boolean }>({ name: 'report-proxies', text: REPORT, values });
    return row?.known === true;
  }

  async read(known: ReadonlyMap<string, number>): Promise<readonly ReplicaSessions[]> {
    const values = [JSON.stringify(Object.fromEntries(known))];
    const rows = await this.joint.read<ReadRow>({ name: 'read-proxies', text: READ, values });
    const replicas = new Map<string, ReplicaSessions & { readonly sessions: StoredProxySession[] }>();
    for (const row of rows) {
      const { instance, at_version: version, incarnation, revision, ended: isEnd, seen_at: seenAt, now_ms: now } = row;
      const replica = replicas.get(instance) ?? {
        instance,
        version,
        incarnation,
        revision,
        isEnd,
        seenAt,
        now,
        sessions: [],
      };
      replicas.set(instance, replica);
      const facts = row.proxy === null ? undefined : decodeProxyFacts(row.facts);
      if (row.proxy === null || !facts) continue;
      const { proxy, connected, changed_at: changedAt } = row;
      replica.sessions.push({ proxy, connected, changedAt, version: row.version, facts });
    }
    return [...replicas.values()];
  }

  async forget(sessions: Parameters<ProxySessionStore['forget']>[0]): Promise<void> {
    await this.database.query({ name: 'forget-proxies', text: FORGET, values: [JSON.stringify(sessions)] });
  }

  async forgetReplicas(replicas: Parameters<ProxySessionStore['forgetReplicas']>[0]): Promise<void> {
    await this.database.query({
      name: 'forget-replicas',
      text: FORGET_REPLICAS,
      values: [JSON.stringify(replicas)],
    });
  }
}
