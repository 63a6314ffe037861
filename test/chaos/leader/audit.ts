import type { Client } from 'pg';
import { REST } from './world';

/** Findings from the log of every version of every row; all of these are to be 0. */
interface AuditFindings {
  /** I1: one address in two living rows. */
  readonly duplicates: number;
  /** I1: an address handed to another before its rest. */
  readonly restsViolated: number;
  /** I2: an identity that lost its address without having been deleted. */
  readonly addressesChanged: number;
  /** I8: a write of an epoch after one of a later epoch. */
  readonly lateEpochs: number;
  /** Two holders in one epoch. */
  readonly sharedEpochs: number;
}

export interface AuditReport extends AuditFindings {
  readonly versions: number;
  readonly addressesGiven: number;
  readonly handedOn: number;
  readonly traces: number;
}

/** Postgres itself writes down every version of every row, whatever any process does or sees. */
const RECORD = `
CREATE TABLE versions (revision bigint PRIMARY KEY, kind text, name text, vip inet, status_vip inet, living boolean, at bigint, epoch bigint, holder text);
CREATE FUNCTION record_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO versions VALUES (new.revision, new.kind, new.name, new.vip, (new.status #>> '{vip,ip}')::inet, new.deleted_at IS NULL,
    new.modified_at, (new.spec ->> 'epoch')::bigint, new.spec ->> 'holder');
  RETURN NULL;
END $$;
CREATE TRIGGER record_versions AFTER INSERT OR UPDATE ON resources FOR EACH ROW EXECUTE FUNCTION record_version();`;

// Each time an address is taken: who had it last before, and when that one gave it up.
const TAKINGS = `
WITH versions AS (
  SELECT *, lag(vip) OVER one AS had, lead(revision) OVER one AS next_revision FROM versions WHERE kind = 'MeshService'
  WINDOW one AS (PARTITION BY name ORDER BY revision)
), takings AS (SELECT * FROM versions WHERE vip IS NOT NULL AND vip IS DISTINCT FROM had)
SELECT t.name, t.revision, t.at, o.name AS before, o.at AS freed_at FROM takings t LEFT JOIN LATERAL (
  SELECT v.name, v.at FROM versions v WHERE v.had = t.vip AND v.vip IS DISTINCT FROM v.had AND v.revision < t.revision
  ORDER BY v.revision DESC LIMIT 1) o ON true`;

const DUPLICATES = `
SELECT count(*)::int AS n FROM (
  SELECT *, lead(revision, 1, 9223372036854775807) OVER (PARTITION BY name ORDER BY revision) AS until FROM versions WHERE kind = 'MeshService'
) a JOIN (
  SELECT *, lead(revision, 1, 9223372036854775807) OVER (PARTITION BY name ORDER BY revision) AS until FROM versions WHERE kind = 'MeshService'
) b ON a.name < b.name AND a.living AND b.living AND a.revision < b.until AND b.revision < a.until
WHERE a.vip = b.vip OR a.status_vip = b.status_vip`;

const CHANGED = `
SELECT count(*)::int AS n FROM (
  SELECT vip, living, lag(vip) OVER one AS had, lag(living) OVER one AS lived FROM versions WHERE kind = 'MeshService'
  WINDOW one AS (PARTITION BY name ORDER BY revision)
) v WHERE living AND lived AND had IS NOT NULL AND vip IS DISTINCT FROM had`;

const TRACES = `
SELECT count(*)::int AS n, count(*) FILTER (WHERE epoch < newest)::int AS late, count(DISTINCT epoch)::int AS epochs,
  count(DISTINCT (epoch, holder))::int AS leaders
FROM (SELECT epoch, holder, max(epoch) OVER (ORDER BY revision) AS newest FROM versions WHERE kind = 'Trace') t`;

/** Begins to record; the schema must be there. */
export async function beginAudit(client: Client): Promise<void> {
  await client.query(RECORD);
}

/** Reads the record. */
export async function readAudit(client: Client): Promise<AuditReport> {
  const one = async (text: string): Promise<number> => (await client.query<{ n: number }>(text)).rows[0]?.n ?? 0;
  const { rows: takings } = await client.query<{
    name: string;
    at: string;
    before: string | null;
    freed_at: string | null;
  }>(TAKINGS);
  const handedOn = takings.filter((taking) => taking.before !== null && taking.before !== taking.name);
  const { rows } = await client.query<{ n: number; late: number; epochs: number; leaders: number }>(TRACES);
  const traces = rows[0] ?? { n: 0, late: 0, epochs: 0, leaders: 0 };
  return {
    versions: await one('SELECT count(*)::int AS n FROM versions'),
    addressesGiven: takings.length,
    handedOn: handedOn.length,
    traces: traces.n,
    duplicates: await one(DUPLICATES),
    restsViolated: handedOn.filter((taking) => Number(taking.at) - Number(taking.freed_at) < REST).length,
    addressesChanged: await one(CHANGED),
    lateEpochs: traces.late,
    sharedEpochs: traces.leaders - traces.epochs,
  };
}
