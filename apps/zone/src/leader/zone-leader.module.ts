import { Module, type DynamicModule } from '@nestjs/common';
import {
  AUTHENTICATION,
  INDEX,
  LeaderAwareWriter,
  maintainStore,
  MESHES,
  POLICIES,
  ROUTES,
  StoreBinding,
  tokenTasks,
  type PeriodicTask,
  type ControlPlaneCore,
  type LeaderTermFactory,
  type LeaderWork,
  type ModuleImports,
} from '@causeway/control-plane';
import {
  EnrolmentAdoption,
  EnrolmentMaintenance,
  IdentityPathReplicas,
  LeaseReaper,
  LeaseHealth,
  ProxyDirectory,
  policyCounts,
  poolReports,
  tombstoneRetention,
} from '@causeway/controllers';
import { LoopRunner, type RunnerStats, type ControlLoop } from '@causeway/loops';
import { AuthorityLifecycle, ZoneAuthority } from '@causeway/identity';
import {
  confirmPeerIncarnation,
  GLOBAL_PEER,
  sessionInsight,
  ZONE_SYNC_FACTORY,
  type ZoneSync,
  type ZoneSyncStatus,
} from '@causeway/kds';
import type { JsonObject, Resource } from '@causeway/resources';
import { provideFrom, type LeaderTerm, type Provided } from '@causeway/runtime';
import { POSTGRES_BACKEND } from '@causeway/store-postgres';
import { DialledHosts } from '@causeway/xds-translation';
import type { PendingIncarnation } from '@causeway/sync';
import type { ZoneSettings } from '../config';
import { GlobalLink } from '../global/global-link';
import { ZoneTrustEvidence } from '../identity/trust-evidence';
import { KeptZoneToken, ZONE_TOKEN_REPLICAS } from '../global/kept-zone-token';
import type { ZoneToken } from '../global/zone-token';
import { ZoneTokenRenewal } from '../global/zone-token-renewal';
import { createLoops } from './zone-loops';
import { DATAPLANE_TOKENS, SEALING_KEYS, ZONE_PROXY_TOKENS } from '../identity/workload-identity.module';

/** Dependencies of a zone's leader. */
const SOURCES = {
  backend: POSTGRES_BACKEND,
  index: INDEX,
  meshes: MESHES,
  routes: ROUTES,
  policies: POLICIES,
  proxies: ProxyDirectory,
  hosts: DialledHosts,
  binding: StoreBinding,
  createSync: ZONE_SYNC_FACTORY,
  authentication: AUTHENTICATION,
  authority: ZoneAuthority,
  evidence: ZoneTrustEvidence,
  dataplaneTokens: DATAPLANE_TOKENS,
  zoneTokens: ZONE_PROXY_TOKENS,
  writer: LeaderAwareWriter,
  sealing: SEALING_KEYS,
};

/** The dependencies of a zone's leader, with the facts of its control plane. */
interface ZoneLeaderOptions extends Provided<typeof SOURCES> {
  readonly core: ControlPlaneCore<ZoneSettings>;
  /** Addresses of the global; empty for a zone without one. */
  readonly addresses: readonly string[];
  /** Undefined for a zone without a global. */
  readonly token: ZoneToken | undefined;
}

/** Dependencies of a term. */
interface TermOptions extends ZoneLeaderOptions {
  readonly link: GlobalLink;
}

/** Interval of the checks of the zone token, ms. */
const TOKEN_INTERVAL = 1_000;
/** Interval of the checks for due steps of the certificate authority, ms. */
const AUTHORITY_INTERVAL = 1_000;
/** Time after the global has sent a new authority in which zones that do not report their proxies receive it, ms. */
const TRUST_MARGIN = 30_000;
/** Interval of the checks of the key that signs dataplane tokens, ms; reads the index only. */
const KEY_INTERVAL = 10_000;

/** Interval of the checks whether the session with the global is another than was written, ms. */
const LINK_INTERVAL = 1_000;

/** Interval of the checks for expired leases of agents, ms. */
const LEASE_INTERVAL = 1_000;

/** Interval of the checks for Dataplanes of an older version to enrol, ms; mostly one look-up in the index. */
const ENROLMENT_INTERVAL = 1_000;
/** Interval of the checks for obsolete enrolments, ms. */
const MAINTENANCE_INTERVAL = 30_000;

/** Interval of the checks for old sessions of proxies, ms. */
const PROXY_INTERVAL = 60_000;

/** Work of a zone's leader for one term: control loops, the session with the global, maintenance of the store. */
class ZoneTerm implements LeaderWork {
  readonly loops: readonly ControlLoop[];
  private readonly runner: LoopRunner;
  private readonly authorities: AuthorityLifecycle;
  private readonly leases: LeaseReaper;
  private readonly adoption: EnrolmentAdoption;
  private readonly enrolments: EnrolmentMaintenance;
  private readonly replicas: IdentityPathReplicas;
  private current: ZoneSync | undefined;
  private isOver = false;

  constructor(
    private readonly options: TermOptions,
    private readonly term: LeaderTerm,
  ) {
    const { core, backend, index, authority, evidence } = options;
    this.authorities = new AuthorityLifecycle({
      authority,
      evidence,
      fence: term,
      store: backend.store,
      clock: core.clock,
      logger: core.logger,
      margin: TRUST_MARGIN,
    });
    const zone = core.settings.CAUSEWAY_ZONE_NAME;
    const health = new LeaseHealth(zone);
    this.leases = new LeaseReaper({
      ...core,
      zone,
      leases: backend.agentLeases,
      store: backend.store,
      index,
      term,
      health,
      length: core.settings.CAUSEWAY_AGENT_LEASE,
      hold: core.settings.CAUSEWAY_LEASE_HOLD / 100,
    });
    const { proxies } = options;
    const { store } = backend;
    this.adoption = new EnrolmentAdoption({ ...core, zone, index, store, proxies, term });
    const validity = core.settings.CAUSEWAY_WORKLOAD_CERT_VALIDITY;
    this.enrolments = new EnrolmentMaintenance({ ...core, zone, index, store, term, validity });
    const sync = options.createSync(term, (request) => this.runner.write(request));
    this.replicas = new IdentityPathReplicas({ store, proxies, term, clock: core.clock });
    const { replicas, authorities } = this;
    this.loops = createLoops(options, { authorities, health, sync, term, replicas });
    this.runner = new LoopRunner(this.loops, { ...core, store: backend.store, index, term });
    options.writer.useRunner(this.runner, term);
    this.current = sync;
  }

  get loopStats(): RunnerStats['loops'] {
    return this.runner.stats.loops;
  }

  policies(): ReadonlyMap<string, number> {
    return policyCounts(this.loops);
  }

  /** The certificate (PEM) of the authority that signs for workloads; undefined before the first check, and after the term. */
  get workloadAuthority(): string | undefined {
    return this.isOver ? undefined : this.authorities.signing;
  }

  /** The session with the global; undefined after the term, and for a zone without a global. */
  get sync(): ZoneSync | undefined {
    return this.current;
  }

  async run(): Promise<void> {
    const { core, backend, authentication, index, proxies } = this.options;
    const validity = core.settings.CAUSEWAY_WORKLOAD_CERT_VALIDITY;
    const retention = (): number => tombstoneRetention({ index, proxies, validity });
    const tasks = [
      ...tokenTasks({ ...core, store: backend.store, term: this.term }, authentication.tokens),
      ...this.identityTasks(),
      {
        failure: 'the state of the session with the global could not be written',
        every: LINK_INTERVAL,
        run: () => this.options.link.publish(this.term),
      },
      ...this.renewalTasks(),
      { failure: 'leases of agents could not be looked at', every: LEASE_INTERVAL, run: () => this.leases.turn() },
    ];
    try {
      const maintenance = maintainStore(core, backend, this.term, { tasks, retention });
      await Promise.all([this.runner.run(), this.sync?.run(), maintenance]);
    } finally {
      this.current = undefined;
      this.isOver = true;
    }
  }

  /** The zone token is renewed where there is a global. */
  private renewalTasks(): readonly PeriodicTask[] {
    const { core, backend, token, sealing: keys, proxies } = this.options;
    const { term, sync } = this;
    if (!token || !sync) return [];
    const { store } = backend;
    const kept = new KeptZoneToken({ store, keys, zone: core.settings.CAUSEWAY_ZONE_NAME, logger: core.logger });
    const replicas = new IdentityPathReplicas({ store, proxies, term, clock: core.clock, area: ZONE_TOKEN_REPLICAS });
    const areReplicasReady = (): boolean | undefined => replicas.areReady;
    const renewal = new ZoneTokenRenewal({ ...core, token, kept, sync, term, areReplicasReady });
    const run = async (): Promise<void> => {
      await replicas.turn();
      await renewal.turn();
    };
    return [{ failure: 'the zone token could not be looked at', every: TOKEN_INTERVAL, run }];
  }

  /** Returns the counts of agents' leases at this leader; undefined after the term. */
  leaseCounts(): LeaseReaper['counts'] | undefined {
    return this.isOver ? undefined : this.leases.counts;
  }

  private identityTasks(): readonly PeriodicTask[] {
    const { dataplaneTokens, zoneTokens } = this.options;
    const { tokens } = dataplaneTokens;
    return [
      {
        failure: 'the certificate authority of workloads could not be looked at',
        every: AUTHORITY_INTERVAL,
        run: () => this.authorities.turn(),
      },
      {
        failure: 'the first signing key of dataplane tokens could not be made',
        every: KEY_INTERVAL,
        run: () => tokens.ensureKey(),
      },
      {
        failure: 'Dataplanes could not be enrolled',
        every: ENROLMENT_INTERVAL,
        run: () => this.adoption.turn(),
      },
      {
        failure: 'it could not be read which replicas know the forms of SPIFFE ids',
        every: ENROLMENT_INTERVAL,
        run: () => this.replicas.turn(),
      },
      {
        failure: 'enrolments could not be looked through',
        every: MAINTENANCE_INTERVAL,
        run: () => this.enrolments.turn(),
      },
      { failure: 'expired dataplane tokens could not be forgotten', run: () => tokens.purge() },
      { failure: 'expired zone tokens could not be forgotten', run: async () => zoneTokens.tokens?.purge() },
      {
        failure: 'sessions of proxies that are gone could not be forgotten',
        every: PROXY_INTERVAL,
        run: () => this.options.proxies.sweep(),
      },
    ];
  }
}

/** Creates the terms of a zone's leader, and answers for metrics and REST from the latest one. */
export class ZoneLeader {
  private latest: ZoneTerm | undefined;

  /** The session with the global, also while another replica leads. */
  readonly link: GlobalLink;

  constructor(private readonly options: ZoneLeaderOptions) {
    const { core, backend, addresses } = options;
    const { clock, logger } = core;
    this.link = new GlobalLink({ store: backend.store, clock, logger, session: () => this.session(), addresses });
  }

  readonly createTerm: LeaderTermFactory = (term) =>
    (this.latest = new ZoneTerm({ ...this.options, link: this.link }, term));

  /** Returns the usage of the address ranges; empty before this replica has led. */
  pools(): ReturnType<typeof poolReports> {
    return poolReports(this.latest?.loops ?? [], this.options.core.clock.now());
  }

  /** Returns undefined while another replica leads. */
  leases(): LeaseReaper['counts'] | undefined {
    return this.latest?.leaseCounts();
  }

  /** Returns the certificate (PEM) of the authority that signs for workloads; undefined while another replica leads. */
  workloadAuthority(): string | undefined {
    return this.latest?.workloadAuthority;
  }

  /** Accepts the global's new incarnation on behalf of the operator, whichever replica leads; undefined if none is pending. */
  async confirmGlobal(): Promise<PendingIncarnation | undefined> {
    const incarnation = await confirmPeerIncarnation(this.options.backend.store, GLOBAL_PEER);
    await this.latest?.sync?.checkConfirmation();
    return incarnation;
  }

  /** Returns this replica's facts about the zone's session, shown with the zone's own Zone. */
  findInsight({ id }: Resource): JsonObject | undefined {
    const { settings, clock } = this.options.core;
    const status = this.session();
    const { token } = this.options;
    if (!status || id.kind !== 'Zone' || id.name !== settings.CAUSEWAY_ZONE_NAME) return undefined;
    return { ...sessionInsight(status, clock.now(), settings.CAUSEWAY_ABSENCE_HOLD), ...(token && shownToken(token)) };
  }

  /** Returns the session with the global; undefined while another replica leads, and without a global. */
  session(): ZoneSyncStatus | undefined {
    return this.latest?.sync?.status();
  }
}

/** Returns the entry of the zone's insight about its token. */
function shownToken({ life, notRenewed }: ZoneToken): JsonObject {
  if (!life) return {};
  const { id = '', expiresAt, isRenewable: renewable } = life;
  return { token: { id, expiresAt, renewable, ...(notRenewed !== undefined && { notRenewed }) } };
}

/** Provides the work of a zone's leader. */
@Module({})
export class ZoneLeaderModule {
  static forRoot({
    imports,
    ...own
  }: ModuleImports & Pick<ZoneLeaderOptions, 'core' | 'addresses' | 'token'>): DynamicModule {
    const provider = provideFrom(ZoneLeader, SOURCES, (sources) => new ZoneLeader({ ...own, ...sources }));
    return { module: ZoneLeaderModule, imports, providers: [provider], exports: [ZoneLeader] };
  }
}
