import {
  Inject,
  Module,
  type DynamicModule,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import type { RunnerStats } from '@causeway/loops';
import { createRedisLock } from '@causeway/leader-redis';
import type { LeadershipInsight } from '@causeway/queries';
import {
  createElection,
  injectionToken,
  type Injection,
  type LeaderElection,
  type LeaderStatus,
  type LeaderTerm,
} from '@causeway/runtime';
import { POSTGRES_BACKEND, type PostgresBackend } from '@causeway/store-postgres';
import { CORE, type ControlPlaneCore, type ModuleImports } from '../core.module';
import { StoreBinding } from '../state/index.module';

/** The `LeaderTermFactory` of the program. */
const LEADER_TERM_FACTORY = injectionToken<LeaderTermFactory>('LeaderTermFactory');

/** Creates everything that lives for one term of this replica as leader. */
export type LeaderTermFactory = (term: LeaderTerm) => LeaderWork;

/** Work of a leader for one term. */
export interface LeaderWork {
  /** Statistics of its control loops. */
  readonly loopStats: RunnerStats['loops'];
  /** Returns the number of policies by the reason of their condition `Enforced`. */
  policies(): ReadonlyMap<string, number>;
  /** Works until the term's signal aborts. */
  run(): Promise<void>;
}

/** The election among replicas, and its connection. */
interface Leadership {
  readonly election: LeaderElection;
  /** Whether Redis is connected; undefined if this replica uses none. */
  redisConnected(): boolean | undefined;
  readonly lockKey: string;
  close(): void;
}

/**
 * Takes part in the election from bootstrap on, without delaying the start, and runs the factory's work while leading.
 * The last term has ended, and the lock is released, before any listener closes.
 */
export class LeaderService implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy, OnApplicationShutdown {
  private leadership: Leadership | undefined;
  private candidacy: Promise<void> | undefined;
  private latest: LeaderWork | undefined;

  constructor(
    @Inject(CORE) private readonly core: ControlPlaneCore,
    @Inject(POSTGRES_BACKEND) private readonly backend: PostgresBackend,
    @Inject(StoreBinding) private readonly binding: StoreBinding,
    @Inject(LEADER_TERM_FACTORY) private readonly workOf: LeaderTermFactory,
  ) {}

  onModuleInit(): void {
    this.leadership = createLeadership(this.core, this.backend, this.binding.storeId);
  }

  onApplicationBootstrap(): void {
    // Not awaited: the REST port opens after this hook, whichever replica leads.
    this.candidacy = this.leadership?.election.run((term) => {
      this.latest = this.workOf(term);
      return this.latest.run();
    }, this.core.shutdown);
  }

  async onModuleDestroy(): Promise<void> {
    await this.candidacy;
  }

  onApplicationShutdown(): void {
    this.leadership?.close();
  }

  /** Returns the state of the election; undefined before the module has started. */
  status(): LeaderStatus | undefined {
    return this.leadership?.election.status();
  }

  /**
   * Returns the statistics of the control loops of the latest term, by their names; empty before this replica has led.
   */
  loops(): RunnerStats['loops'] {
    return this.latest?.loopStats ?? {};
  }

  /** Returns the number of policies by the reason of their condition `Enforced`; empty while another replica leads. */
  policies(): ReadonlyMap<string, number> {
    return (this.status()?.leading && this.latest?.policies()) || new Map<string, number>();
  }

  /** Whether Redis is connected; undefined if this replica uses none. */
  redisConnected(): boolean | undefined {
    return this.leadership?.redisConnected();
  }

  /** Whether the lock in Redis counts in the election; undefined if this replica uses none. */
  redisCounts(): boolean | undefined {
    return this.redisConnected() === undefined ? undefined : this.status()?.witness === 'lock';
  }

  /** Returns the election's state for the doctor; undefined before the module has started. */
  insight(): LeadershipInsight | undefined {
    const { leadership, core } = this;
    if (!leadership) return undefined;
    const { election, lockKey } = leadership;
    return { status: election.status(), lockKey, leaseMs: core.settings.CAUSEWAY_LEADER_LEASE };
  }
}

/** Factory of a program's leader work. */
export type LeaderModuleOptions = ModuleImports & Injection<LeaderTermFactory>;

/** The election among the replicas of a control plane. */
@Module({})
export class LeaderModule {
  static forRootAsync({ imports, inject, useFactory }: LeaderModuleOptions): DynamicModule {
    return {
      module: LeaderModule,
      imports,
      providers: [{ provide: LEADER_TERM_FACTORY, inject, useFactory }, LeaderService],
      exports: [LeaderService],
    };
  }
}

/**
 * Creates the election of docs/design.md §3: with the lock in Redis if there is one (or if `CAUSEWAY_LEADER_BACKEND`
 * requires it), and always with the lease in Postgres. The key in Redis contains the id of the store, so that any
 * number of control planes may share one server.
 */
function createLeadership(
  { settings, instance, clock, logger }: ControlPlaneCore,
  backend: PostgresBackend,
  storeId: string,
): Leadership {
  const options = {
    lease: backend.lease,
    keeper: backend.leaseKeeper(settings.CAUSEWAY_LEADER_STALL),
    holder: instance,
    leaseMs: settings.CAUSEWAY_LEADER_LEASE,
    clock,
    logger,
  };
  const url = redisUrl(settings);
  const lockKey = `causeway:leader:${storeId}`;
  if (url === undefined)
    return { election: createElection(options), lockKey, redisConnected: () => undefined, close: () => undefined };
  const lock = createRedisLock({ url, key: lockKey, logger });
  return {
    election: createElection({ ...options, lock }),
    lockKey,
    redisConnected: () => lock.connected(),
    close: () => lock.close(),
  };
}

/** Returns the URL of the Redis with the leader lock; undefined if only the lease in Postgres decides. */
function redisUrl({
  CAUSEWAY_LEADER_BACKEND: backend,
  REDIS_URL: url,
}: ControlPlaneCore['settings']): string | undefined {
  return backend === 'postgres' ? undefined : url;
}
