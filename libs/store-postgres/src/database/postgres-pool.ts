import { Unavailable } from '@causeway/resources';
import { Pool, type ClientBase, type PoolClient, type PoolConfig, type QueryResultRow } from 'pg';
import { databaseFailure } from './database-failure';
import { decodedTypes } from './type-decode';

export interface PostgresPoolOptions {
  readonly url: string;
  /** Most connections. */
  readonly size: number;
  /** Longest statement, ms; the driver gives up a little later. */
  readonly statementTimeout: number;
  readonly applicationName: string;
}

/** The pool waits for what `onConnect` promises; its types do not say so. */
type PooledConfig = Omit<PoolConfig, 'onConnect'> & { readonly onConnect: (client: ClientBase) => Promise<void> };

/** One statement: with a name it is parsed once a connection. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly unknown[];
}

/**
 * A bounded pool of connections to the primary. Each new connection first makes sure that it reached no standby and
 * which life of the store it serves (design.md §2.7). Failures of connection or server are thrown as Unavailable.
 */
export class PostgresPool {
  private readonly pool: Pool;
  private readonly backends = new Set<number>();

  constructor(options: PostgresPoolOptions) {
    const config: PooledConfig = {
      connectionString: options.url,
      application_name: options.applicationName,
      max: options.size,
      connectionTimeoutMillis: Math.min(10_000, options.statementTimeout),
      idleTimeoutMillis: 60_000,
      keepAlive: true,
      statement_timeout: options.statementTimeout,
      idle_in_transaction_session_timeout: options.statementTimeout,
      query_timeout: options.statementTimeout + 2_000,
      types: decodedTypes,
      onConnect: (client) => this.identify(client),
    };
    this.pool = new Pool(config);
    this.pool.on('error', () => undefined); // an idle connection ended; the pool has dropped it
  }

  /** Runs one statement by itself. */
  query<Row extends QueryResultRow>(statement: Statement): Promise<Row[]> {
    return this.connected((client) => queryOn<Row>(client, statement));
  }

  /** A read: tried once more when the connection had died unnoticed. Never for what writes. */
  async read<Row extends QueryResultRow>(statement: Statement): Promise<Row[]> {
    try {
      return await this.query<Row>(statement);
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      return this.query<Row>(statement);
    }
  }

  /** Lends a connection; one that fails at something else than its statement is thrown away. */
  async connected<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    let client: PoolClient | undefined;
    try {
      client = await this.pool.connect();
      const result = await work(client);
      client.release();
      return result;
    } catch (error) {
      const failure = databaseFailure(error);
      client?.release(failure instanceof Unavailable);
      throw failure;
    }
  }

  /** Whether a backend, as notifications name it, serves this pool. */
  owns(backend: number): boolean {
    return this.backends.has(backend);
  }

  /** Connections open, and callers waiting for one. */
  usage(): { readonly open: number; readonly waiting: number } {
    return { open: this.pool.totalCount, waiting: this.pool.waitingCount };
  }

  async close(): Promise<void> {
    if (!this.pool.ending) await this.pool.end();
  }

  private async identify(client: ClientBase): Promise<void> {
    // It may end while it is lent and no statement runs on it: the pool listens to idle ones only, and the next one tells.
    client.on('error', () => undefined);
    const [row] = await queryOn<{ primary: boolean; backend: number }>(client, {
      text: 'SELECT causeway_identify() AS primary, pg_backend_pid() AS backend',
    });
    if (!row?.primary) throw new Unavailable('the database is a standby; the store needs its primary');
    const { backend } = row;
    this.backends.add(backend);
    // The server may end a connection right behind an answer, when it is still lent; the next statement tells.
    client.on('error', () => undefined);
    client.once('end', () => this.backends.delete(backend));
  }
}

/** Runs a statement on a borrowed connection. */
export async function queryOn<Row extends QueryResultRow>(client: ClientBase, statement: Statement): Promise<Row[]> {
  const { rows } = await client.query<Row>({ ...statement, values: [...(statement.values ?? [])] });
  return rows;
}
