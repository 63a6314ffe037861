import { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Unavailable } from '@causeway/resources';
import pg, { type ClientBase, type PoolClient, type PoolConfig, type QueryResultRow } from 'pg';
import { DataSource, type EntityTarget, type ObjectLiteral, type QueryRunner, type Repository } from 'typeorm';
import type { DatabaseServers } from '../servers/database-servers';
import { databaseFailure } from './database-failure';
import { storeEntities } from './entities';

export interface StoreDatabaseOptions {
  readonly servers: DatabaseServers;
  /** Maximum number of connections. */
  readonly size: number;
  /** Timeout of a statement, ms; the driver gives up a little later. */
  readonly statementTimeout: number;
  readonly applicationName: string;
}

/** One statement. A statement with a name is parsed once a connection. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly unknown[];
}

/** Type of 64-bit integers in Postgres. */
const INT8 = 20;
const IDLE_TIMEOUT = 60_000;
const CONNECT_TIMEOUT = 10_000;
/** The time after which a borrowed connection without traffic is closed, once other connections of its server failed, ms. */
const END_TIMEOUT = 5_000;

/**
 * A TypeORM DataSource on the primary: its pool is the only pool. Each new connection first checks that it reached no
 * standby, and which incarnation of the store it serves (docs/design.md §2.7). Failures of the connection or the server
 * are thrown as Unavailable; TypeORM's own error, which holds the statement and its parameters, never leaves this class.
 */
export class StoreDatabase {
  private readonly source: DataSource;
  /** The pool of the DataSource, once it is connected. */
  private pool: pg.Pool | undefined;
  private readonly backends = new Set<number>();
  private readonly open = new Set<pg.Client>();
  private readonly inUse = new Set<pg.Client>();
  private readonly ending = new AbortController();
  private lent = 0;
  private closing = false;
  private allReturned: (() => void) | undefined;

  private readonly servers: DatabaseServers;

  constructor({ servers, size, statementTimeout, applicationName }: StoreDatabaseOptions) {
    this.servers = servers;
    const types = new pg.TypeOverrides();
    types.setTypeParser(INT8, Number); // revisions, epochs and instants stay far below 2^53
    this.source = new DataSource({
      type: 'postgres',
      driver: pg,
      url: servers.url,
      applicationName,
      entities: storeEntities,
      poolSize: size,
      connectTimeoutMS: Math.min(CONNECT_TIMEOUT, statementTimeout),
      installExtensions: false,
      poolErrorHandler: () => undefined, // an idle connection ended, and the pool has dropped it
      extra: {
        Client: servers.ClientClass,
        idleTimeoutMillis: IDLE_TIMEOUT,
        keepAlive: true,
        statement_timeout: statementTimeout,
        idle_in_transaction_session_timeout: statementTimeout,
        query_timeout: statementTimeout + 2_000,
        types,
        onConnect: (client) => this.identify(client),
      } satisfies PooledConfig,
    });
  }

  /** Opens the pool. Throws Unavailable when the database cannot serve now; may then be called again. */
  async connect(): Promise<void> {
    if (this.source.isInitialized) return;
    try {
      await this.source.initialize();
      this.pool = getPool(this.source);
      this.pool.on('acquire', (client) => this.inUse.add(client));
      this.pool.on('release', (_, client) => this.inUse.delete(client));
    } catch (error) {
      await this.source.driver.disconnect().catch(() => undefined);
      throw databaseFailure(error);
    }
  }

  /** Runs one statement on its own. */
  query<Row extends QueryResultRow>(statement: Statement): Promise<Row[]> {
    return this.connected((client) => queryOn<Row>(client, statement));
  }

  /** Runs a statement that only reads: a second time when the connection had died unnoticed. */
  read<Row extends QueryResultRow>(statement: Statement): Promise<Row[]> {
    return twice(() => this.query<Row>(statement));
  }

  /**
   * Lends a connection. One whose work failed as Unavailable is dropped: it may hold an unanswered statement. The
   * connection comes from the pool itself: a query runner around each statement costs up to a tenth of a read.
   */
  async connected<T>(work: (client: ClientBase) => Promise<T>): Promise<T> {
    let client: PoolClient | undefined;
    const pool = this.borrow();
    try {
      client = await pool.connect();
      const result = await work(client);
      client.release();
      return result;
    } catch (error) {
      const failure = databaseFailure(error);
      client?.release(failure instanceof Unavailable);
      throw failure;
    } finally {
      this.giveBack();
    }
  }

  /** Reads through the repository of an entity: a second time when the connection had died unnoticed. */
  find<Row extends ObjectLiteral, T>(
    entity: EntityTarget<Row>,
    read: (rows: Repository<Row>) => Promise<T>,
  ): Promise<T> {
    return twice(() => this.change(entity, read));
  }

  /** Writes through the repository of an entity, once: a write whose answer was lost may have happened. */
  change<Row extends ObjectLiteral, T>(
    entity: EntityTarget<Row>,
    work: (rows: Repository<Row>) => Promise<T>,
  ): Promise<T> {
    return this.withRunner((runner) => work(runner.manager.getRepository(entity)));
  }

  /** Reports whether this pool owns the server process with this id, as notifications name it. */
  owns(backend: number): boolean {
    return this.backends.has(backend);
  }

  /** Returns the numbers of open connections, of idle ones, and of callers that wait for one. */
  usage(): { readonly open: number; readonly idle: number; readonly waiting: number } {
    const { totalCount: open = 0, idleCount: idle = 0, waitingCount: waiting = 0 } = this.pool ?? {};
    return { open, idle, waiting };
  }

  /**
   * Closes connections to a server that vanished without an error, as another connection detected: idle ones at once, borrowed ones after a while
   * without traffic. Their statements then throw Unavailable, long before the statement timeout.
   */
  async leaveSilent(): Promise<void> {
    const before = [...this.open];
    for (const client of before) if (!this.inUse.has(client)) client.connection.stream.destroy();
    const heard = before.filter((client) => this.inUse.has(client)).map((client) => [client, heardBy(client)] as const);
    await pause(END_TIMEOUT, undefined, { signal: this.ending.signal }).catch(() => undefined);
    if (this.closing) return;
    for (const [client, bytes] of heard)
      if (this.open.has(client) && heardBy(client) === bytes) client.connection.stream.destroy();
  }

  /** Ends the pool after the statements under way; later ones throw Unavailable. */
  async close(): Promise<void> {
    if (this.closing) return;
    this.closing = true;
    this.ending.abort();
    if (this.lent > 0) await new Promise<void>((resolve) => (this.allReturned = resolve));
    if (this.source.isInitialized) await this.source.destroy();
  }

  /** A query runner keeps its connection when a statement fails, so a failed one is ended and the pool drops it. */
  private async withRunner<T>(work: (runner: QueryRunner) => Promise<T>): Promise<T> {
    this.borrow();
    const runner = this.source.createQueryRunner();
    let connection: unknown;
    try {
      connection = await runner.connect();
      return await work(runner);
    } catch (error) {
      const failure = databaseFailure(error);
      if (failure instanceof Unavailable && connection instanceof pg.Client) connection.end().catch(() => undefined);
      throw failure;
    } finally {
      await runner.release();
      this.giveBack();
    }
  }

  private borrow(): pg.Pool {
    if (this.closing) throw new Unavailable('the store is closed');
    if (!this.pool) throw new Error('the database is used before it was connected');
    this.lent++;
    return this.pool;
  }

  private giveBack(): void {
    if (--this.lent === 0) this.allReturned?.();
  }

  private async identify(client: pg.Client): Promise<void> {
    // The server may end the connection while it is lent and no statement runs; the next statement fails then.
    client.on('error', () => undefined);
    const [row] = await queryOn<{ primary: boolean; backend: number }>(client, {
      text: 'SELECT causeway_identify() AS primary, pg_backend_pid() AS backend',
    });
    if (!row?.primary) {
      this.servers.doubt();
      throw new Unavailable('the database is a standby; the store needs its primary');
    }
    const { backend } = row;
    this.backends.add(backend);
    this.open.add(client);
    client.once('end', () => {
      this.backends.delete(backend);
      this.open.delete(client);
    });
  }
}

/** The pool creates connections of this class and awaits `onConnect`; its types do not declare that. */
type PooledConfig = Omit<PoolConfig, 'onConnect'> & {
  readonly Client: typeof pg.Client;
  readonly onConnect: (client: pg.Client) => Promise<void>;
};

/** Runs a statement on a borrowed connection. */
export async function queryOn<Row extends QueryResultRow>(client: ClientBase, statement: Statement): Promise<Row[]> {
  const { rows } = await client.query<Row>({ ...statement, values: [...(statement.values ?? [])] });
  return rows;
}

/** Returns the number of bytes that a connection has received from its server. */
function heardBy({ connection: { stream } }: pg.Client): number {
  return stream instanceof Socket ? stream.bytesRead : 0;
}

async function twice<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    return read();
  }
}

function getPool({ driver }: DataSource): pg.Pool {
  if ('master' in driver && driver.master instanceof pg.Pool) return driver.master;
  throw new Error('TypeORM has no pool of the driver pg');
}
