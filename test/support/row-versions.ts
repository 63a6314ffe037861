import type { JsonObject } from '@causeway/resources';
import { Client } from 'pg';

/** One version that a row of a store had. */
export interface RowVersion {
  readonly kind: string;
  readonly zone: string;
  readonly name: string;
  /** False for a tombstone. */
  readonly living: boolean;
  readonly spec: unknown;
  readonly status: JsonObject | null;
  readonly labels: Readonly<Record<string, string>>;
  /** Of this store. */
  readonly revision: number;
  /** Origin's incarnation; null if this store is the origin. */
  readonly originIncarnation: string | null;
  readonly originRevision: number;
  /** When it was committed here, ms since 1970. */
  readonly at: number;
}

/** Postgres itself writes down every version of every row, whatever any process does or sees. */
const RECORD = `
CREATE TABLE row_versions (kind text, zone text, name text, living boolean, spec jsonb, status jsonb, labels jsonb, revision bigint PRIMARY KEY,
  origin_incarnation text, origin_revision bigint, at bigint);
CREATE FUNCTION record_row_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO row_versions VALUES (new.kind, new.zone, new.name, new.deleted_at IS NULL, new.spec, new.status, new.labels,
    new.revision, new.origin_incarnation, new.origin_revision, (extract(epoch FROM clock_timestamp()) * 1000)::bigint);
  RETURN NULL;
END $$;
CREATE TRIGGER row_versions AFTER INSERT OR UPDATE ON resources FOR EACH ROW EXECUTE FUNCTION record_row_version();`;

const READ = `SELECT kind, zone, name, living, spec, status, labels, revision::int, origin_incarnation AS "originIncarnation",
  origin_revision::int AS "originRevision", at::float8 AS at FROM row_versions WHERE kind = $1 ORDER BY revision`;

/** Begins to record; the schema must be there. */
export async function recordVersions(url: string): Promise<void> {
  await withClient(url, (client) => client.query(RECORD));
}

/** All versions of a kind's rows since recording began, in the order of their commits. */
export async function readVersions(url: string, kind: string): Promise<readonly RowVersion[]> {
  return withClient(url, async (client) => (await client.query<RowVersion>(READ, [kind])).rows);
}

async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
