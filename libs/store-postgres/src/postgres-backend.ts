import {
  silentLogger,
  systemClock,
  type Clock,
  type LeaderLease,
  type LeaseKeeper,
  type Logger,
} from '@causeway/runtime';
import type { AgentLeaseStore, AuditLog, ProxySessionStore, SessionStore, StoreExport } from '@causeway/store';
import { migrate } from './database/migrate';
import { readyDatabase } from './database/ready-database';
import { ReadBatcher } from './database/read-batcher';
import { StoreDatabase } from './database/store-database';
import { RELEASE_CHANNEL } from './lease/lease-statements';
import { PostgresLease } from './lease/postgres-lease';
import { WorkerLeaseKeeper } from './lease/worker-lease-keeper';
import { NotifyListener } from './log/notify-listener';
import type { DatabaseServers } from './servers/database-servers';
import { isUnverified } from './servers/server-tls';
import { databaseServers } from './servers/server-urls';
import { WakeUpSignal } from './log/wake-up-signal';
import { PostgresAudit } from './audit/postgres-audit';
import { PostgresExport } from './backup/postgres-export';
import { PostgresAgentLeases } from './postgres-agent-leases';
import { PostgresProxySessions } from './postgres-proxy-sessions';
import { PostgresSessions } from './postgres-sessions';
import { PostgresStore } from './postgres-store';

/** Options for the database of a process; only `url` is required. */
export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`; of a primary and its standbys with several hosts, separated by commas. */
  readonly url: string;
  readonly clock?: Clock;
  readonly logger?: Logger;
  /** Maximum number of connections for reads and writes, default 10; four more listen and hold the lease. */
  readonly poolSize?: number;
  /** Timeout of a statement, ms; default 30 s. */
  readonly statementTimeout?: number;
  /** ms between reads of the log when nothing wakes a watch; default 2 s. */
  readonly pollEvery?: number;
  /** Timeout of `connect`, ms; default 60 s. */
  readonly startTimeout?: number;
  /** Whether to work on a database that a later version has migrated. */
  readonly tolerateNewer?: boolean;
  /** Ends the waits of `connect`. */
  readonly signal?: AbortSignal;
}

/** State of the connections at any time; for metrics and health. */
export interface PostgresStatus {
  readonly listening: boolean;
  /** The number of times that the listening connection was opened; more than one means that it broke. */
  readonly listenerConnections: number;
  /** Reason for which there is no listening connection, where one has failed; one line. */
  readonly failure: string | undefined;
  /** Open connections of the pool. */
  readonly open: number;
  /** Idle ones among them. */
  readonly idle: number;
  /** Callers that wait for a connection of the pool. */
  readonly waiting: number;
}

const LEASE_CONNECTIONS = 2;
const LEASE_STATEMENT_TIMEOUT = 3_000;

/** Composes everything that one database stores for a control plane, in one process. The constructor does no I/O. */
export class PostgresBackend {
  readonly store: PostgresStore;
  readonly sessions: SessionStore;
  readonly proxies: ProxySessionStore;
  readonly agentLeases: AgentLeaseStore;
  readonly audit: AuditLog;
  readonly backup: StoreExport;
  readonly lease: LeaderLease;
  private readonly postgresLease: PostgresLease;
  private readonly servers: DatabaseServers;
  private readonly database: StoreDatabase;
  private readonly leaseDatabase: StoreDatabase;
  private readonly wakeUp: WakeUpSignal;
  private readonly closing = new AbortController();
  private connecting: Promise<void> | undefined;
  private listener: NotifyListener | undefined;
  private readonly clock: Clock;
  private readonly logger: Logger;

  constructor(private readonly options: PostgresOptions) {
    const { url, clock = systemClock, logger = silentLogger, poolSize = 10, statementTimeout = 30_000 } = options;
    [this.clock, this.logger] = [clock, logger];
    const servers = databaseServers(url);
    this.servers = servers;
    this.database = new StoreDatabase({ servers, size: poolSize, statementTimeout, applicationName: 'causeway' });
    this.leaseDatabase = new StoreDatabase({
      servers,
      size: LEASE_CONNECTIONS,
      statementTimeout: LEASE_STATEMENT_TIMEOUT,
      applicationName: 'causeway lease',
    });
    this.wakeUp = new WakeUpSignal(clock);
    const { database, wakeUp } = this;
    const joint = new ReadBatcher(database);
    this.store = new PostgresStore({ database, joint, wakeUp, clock, logger, pollEvery: options.pollEvery ?? 2_000 });
    this.sessions = new PostgresSessions(database, joint);
    this.proxies = new PostgresProxySessions(database, joint);
    this.agentLeases = new PostgresAgentLeases(database, joint, wakeUp);
    this.audit = new PostgresAudit(database);
    this.backup = new PostgresExport(database);
    this.postgresLease = new PostgresLease(this.leaseDatabase);
    this.lease = this.postgresLease;
  }

  /**
   * Waits for the database, migrates it, opens the pools and begins to listen. Throws Unavailable with one line for the
   * operator when the database does not answer in time, is refused, or `signal` aborts.
   */
  async connect(signal?: AbortSignal): Promise<void> {
    const signals = [this.closing.signal, signal, this.options.signal].filter((one) => one !== undefined);
    this.connecting ??= this.open(AbortSignal.any(signals));
    await this.connecting;
  }

  /** Returns the keeper that renews the lease in a thread of its own until the event loop has stood still for `stallMs`. */
  leaseKeeper(stallMs: number): LeaseKeeper {
    const { lease, clock, logger, servers } = this;
    return new WorkerLeaseKeeper({ urls: servers.urls, lease, clock, logger, stallMs });
  }

  /** Hosts, ports and database; never the password. */
  get address(): string {
    return this.servers.address;
  }

  status(): PostgresStatus {
    const { listening, connections, failure } = this.listener?.status() ?? { listening: false, connections: 0 };
    return { listening, listenerConnections: connections, failure, ...this.database.usage() };
  }

  /** Ends watches and connections; also before and during `connect`, whose waits it ends. */
  async close(): Promise<void> {
    this.closing.abort();
    await this.connecting?.catch(() => undefined);
    await this.store.close();
    await Promise.all([this.listener?.close(), this.database.close(), this.leaseDatabase.close()]);
  }

  private async open(signal: AbortSignal): Promise<void> {
    const { startTimeout: timeout = 60_000, tolerateNewer = false } = this.options;
    const { servers, clock, logger, database, leaseDatabase } = this;
    if (servers.urls.some(isUnverified))
      logger.warn('the certificate of Postgres is not verified: use sslmode=verify-full', {
        setting: 'DATABASE_URL',
        sslmode: 'require',
      });
    await readyDatabase({ servers, clock, logger, timeout, signal }, async () => {
      await migrate({ servers, logger, tolerateNewer });
      await database.connect();
      await leaseDatabase.connect();
    });
    this.listener = new NotifyListener({
      servers,
      clock,
      logger,
      channels: {
        // This process's own writes wake the watches themselves, earlier than the notification.
        causeway_log: (backend) => (backend !== undefined && database.owns(backend) ? undefined : this.wakeUp.notify()),
        [RELEASE_CHANNEL]: () => this.postgresLease.released(),
      },
      afterSilence: () => void database.leaveSilent(),
    });
  }
}
