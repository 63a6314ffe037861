import { setTimeout as pause } from 'node:timers/promises';
import { Client, DatabaseError, type ClientConfig } from 'pg';
import { formatServers, formatHost } from './server-addresses';

/** Timeout for the answer of one server, ms. */
const ANSWER_TIMEOUT = 2_000;
/** Time to wait for further servers once one that accepts writes has answered, ms. */
const GRACE = 500;
/** Codes of a server that refuses this URL: wrong password or user, no such database. */
const REFUSED = /^(28|3D)/;

/** The answer of one server. `system` and `timeline` identify its cluster and its history. */
type ServerAnswer =
  | { readonly type: 'primary'; readonly url: string; readonly system: string; readonly timeline: number }
  | { readonly type: 'standby'; readonly url: string }
  | { readonly type: 'silent'; readonly url: string; readonly error: unknown };
type Primary = Extract<ServerAnswer, { type: 'primary' }>;

/**
 * The servers that `DATABASE_URL` names: one, or a primary and its standbys. Connections go to the server that accepts writes. If two do, the one
 * with the newest timeline wins, which was promoted last; a server with a timeline older than one that this process has used is refused, so an old
 * primary that comes back gets no writes (docs/design.md §2.7).
 */
export class DatabaseServers {
  /** The class of connections, for a pool; `Client` itself if there is one server. */
  readonly ClientClass: typeof Client;
  /** Newest timeline used, by cluster. */
  private readonly newest = new Map<string, number>();
  private known: string | undefined;
  private finding: Promise<string> | undefined;

  /** `urls` name one server each (`databaseServers` makes them of a `DATABASE_URL`). */
  constructor(readonly urls: readonly string[]) {
    this.ClientClass = urls.length === 1 ? Client : primaryClient(this);
  }

  /** The URL of one server: the first. A pool that is made with it needs `ClientClass` as well. */
  get url(): string {
    return this.urls[0] ?? '';
  }

  /** Hosts, ports and database, for logs. */
  get address(): string {
    return formatServers(this.urls);
  }

  /** Creates a connection, not connected yet. */
  client(config: ClientConfig = {}): Client {
    return new this.ClientClass({ ...config, connectionString: this.url });
  }

  /** Makes the next connection look for the primary again: the known one failed, or is a standby now. */
  doubt(): void {
    this.known = undefined;
  }

  /** Returns the URL of the primary. Asks the servers if none is known or the known one failed; rejects if none is primary. */
  async primary(): Promise<string> {
    if (this.known !== undefined) return this.known;
    this.finding ??= this.find().finally(() => (this.finding = undefined));
    return this.finding;
  }

  private async find(): Promise<string> {
    const answers = await askAll(this.urls);
    const primaries = answers.filter((answer) => answer.type === 'primary');
    const [first, ...others] = primaries;
    if (!first) throw toFailure(answers);
    const chosen = others.reduce((best, one) => (one.timeline > best.timeline ? one : best), first);
    const used = this.newest.get(chosen.system) ?? 0;
    if (chosen.timeline < used) throw oldPrimary(chosen, used);
    this.newest.set(chosen.system, chosen.timeline);
    this.known = chosen.url;
    return chosen.url;
  }
}

/** Returns a class of connections that look for the primary when they connect. */
function primaryClient(servers: DatabaseServers): typeof Client {
  return class extends Client {
    override connect(): Promise<Client>;
    override connect(callback: (error: Error) => void): void;
    override connect(callback?: (error: Error) => void): Promise<Client> | void {
      const connected = this.reach();
      if (!callback) return connected;
      // The driver's pool passes a callback, which it calls without an error when the connection stands.
      connected.then(
        () => void Reflect.apply(callback, undefined, [null]),
        (error: Error) => callback(error),
      );
    }

    private async reach(): Promise<Client> {
      const { hostname, port } = new URL(await servers.primary());
      Object.assign(this, { host: hostname.replace(/^\[(.+)\]$/, '$1'), port: Number(port) });
      this.once('error', () => servers.doubt()); // the server ended the connection
      try {
        await super.connect();
        return this;
      } catch (error) {
        servers.doubt();
        throw error;
      }
    }
  };
}

/** Returns the answers of all servers, except those that are still silent some time after a server that accepts writes has answered. */
async function askAll(urls: readonly string[]): Promise<readonly ServerAnswer[]> {
  const answers: ServerAnswer[] = [];
  const over = new AbortController();
  const asked = urls.map(async (url) => {
    const answer = await ask(url);
    answers.push(answer);
    return answer;
  });
  const grace = Promise.any(
    asked.map(async (one) => ((await one).type === 'primary' ? one : Promise.reject(new Error()))),
  )
    .then(() => pause(GRACE, undefined, { signal: over.signal }))
    .catch(() => Promise.all(asked));
  await Promise.race([Promise.all(asked), grace]);
  over.abort();
  return [...answers];
}

async function ask(url: string): Promise<ServerAnswer> {
  const client = new Client({
    connectionString: url,
    application_name: 'causeway primary',
    connectionTimeoutMillis: ANSWER_TIMEOUT,
    query_timeout: ANSWER_TIMEOUT,
  });
  client.on('error', () => undefined); // the statement fails
  try {
    await client.connect();
    const { rows } = await client.query<{ timeline: string | null; readable: boolean }>(STATE);
    const [{ timeline, readable } = { timeline: null, readable: false }] = rows;
    if (timeline === null) return { type: 'standby', url };
    const system = readable ? await client.query<{ system: string }>(SYSTEM) : undefined;
    return { type: 'primary', url, system: system?.rows[0]?.system ?? '?', timeline: parseInt(timeline, 16) };
  } catch (error) {
    return { type: 'silent', url, error };
  } finally {
    await client.end().catch(() => undefined);
  }
}

// The name of the WAL file being written contains the timeline at once; the control file does only after a checkpoint.
const STATE = `SELECT has_function_privilege('pg_control_system()', 'EXECUTE') AS readable,
  CASE WHEN NOT pg_is_in_recovery() AND NOT current_setting('transaction_read_only')::boolean
    THEN left(pg_walfile_name(pg_current_wal_lsn()), 8) END AS timeline`;

const SYSTEM = 'SELECT system_identifier::text AS system FROM pg_control_system()';

/** Returns the error if no server is a primary: the error of a server that refuses the URL itself, else the answers of all. */
function toFailure(answers: readonly ServerAnswer[]): Error {
  const outcomes = answers.map((answer) => {
    const reason = answer.type === 'silent' ? formatMessage(answer.error) : 'a standby';
    return {
      host: formatHost(new URL(answer.url)),
      reason,
      error: answer.type === 'silent' ? answer.error : undefined,
    };
  });
  for (const { error } of outcomes) if (error instanceof DatabaseError && REFUSED.test(error.code ?? '')) return error;
  return new Error(`no server takes writes: ${outcomes.map(({ host, reason }) => `${host}: ${reason}`).join('; ')}`);
}

function oldPrimary({ url, timeline }: Primary, used: number): Error {
  return new Error(
    `${formatHost(new URL(url))} is an old primary, of timeline ${timeline}; a server of timeline ${used} was promoted since`,
  );
}

function formatMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
