import { Failure } from '../lib/failure.mjs';

const SAMPLE_MARK = 'the sample of examples/quickstart was applied';

/** The name of a control plane's database. */
function databaseOf(plane) {
  return `causeway_${plane.name}`;
}

/** Makes the databases that do not exist yet; `fresh` drops the old ones first. Other databases of the server are not touched. */
export async function prepareDatabases(serverUrl, planes, { fresh }) {
  await onServer(serverUrl, async (client) => {
    const { rows } = await client.query('SELECT datname FROM pg_database');
    const present = new Set(rows.map(({ datname }) => datname));
    for (const database of planes.map(databaseOf)) {
      if (fresh && present.delete(database)) await client.query(`DROP DATABASE ${database} WITH (FORCE)`);
      if (!present.has(database)) await client.query(`CREATE DATABASE ${database}`);
    }
  });
}

/** Whether the sample was applied to these databases once: what its user has changed since is not put back. */
export async function hasSample(serverUrl, plane) {
  return onServer(serverUrl, async (client) => {
    const sql = "SELECT shobj_description(oid, 'pg_database') AS mark FROM pg_database WHERE datname = $1";
    const { rows } = await client.query(sql, [databaseOf(plane)]);
    return rows[0]?.mark === SAMPLE_MARK;
  });
}

/** Remembers, with the database itself, that the sample was applied. */
export async function markSample(serverUrl, plane) {
  await onServer(serverUrl, (client) => client.query(`COMMENT ON DATABASE ${databaseOf(plane)} IS '${SAMPLE_MARK}'`));
}

/** The URL of a control plane's database on this server. */
export function databaseUrl(serverUrl, plane) {
  const url = new URL(serverUrl);
  url.pathname = `/${databaseOf(plane)}`;
  return url.href;
}

async function onServer(serverUrl, work) {
  const { default: pg } = await import('pg'); // installed by now
  const client = new pg.Client({ connectionString: serverUrl, connectionTimeoutMillis: 10_000 });
  try {
    await client.connect();
  } catch (cause) {
    const { host } = new URL(serverUrl);
    throw new Failure(`no connection to the Postgres at ${host} (${cause.message || cause.code}): check DATABASE_URL`, {
      cause,
    });
  }
  try {
    return await work(client);
  } catch (cause) {
    throw new Failure(`Postgres refused (${cause.message}): its account must be allowed to create databases`, {
      cause,
    });
  } finally {
    await client.end();
  }
}
