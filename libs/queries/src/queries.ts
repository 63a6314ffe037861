import type { DataplaneTokenRequest, IssuedDataplaneToken, IssuedUserToken, UserTokenRequest } from '@causeway/access';
import type { FollowedRoutes, Meshes } from '@causeway/meshes';
import type { ControlPlane, Registry } from '@causeway/resources';
import type { Clock } from '@causeway/runtime';
import type { AgentLeaseStore, AuditLog, IndexReader, ResourceStore, StoreExport } from '@causeway/store';
import { AuditQueries } from './audit/audit-queries';
import { BackupQueries } from './backup/backup-queries';
import { ConcurrencyLimit } from './concurrency-limit';
import { Discovery } from './discovery/discovery';
import type { InstanceSource } from './discovery/prometheus-targets';
import { Doctor } from './inspect/doctor';
import { HostnameQueries } from './inspect/hostname-queries';
import { HostnameResolution } from './inspect/hostname-resolution';
import type { Insights } from './inspect/insights';
import { Inspections } from './inspect/inspections';
import { LeaseQueries } from './inspect/leases';
import { ProxyQueries, type ProxySource } from './inspect/proxies';
import { ServerFacts, type ProgramFacts } from './inspect/server-facts';
import { ReadYourWrites } from './list/read-your-writes';
import { Lister } from './list/lister';
import { ResourceJson } from './list/resource-json';
import { ResourceQueries } from './list/resource-queries';
import { SortedIndex } from './list/sorted-index';
import { affectedStatus, type AffectingSource } from './list/affected-status';
import type { AccessFacts } from './policies/access-verdicts';
import { PolicyQueries } from './policies/policy-queries';
import { DEFAULT_WATCH_LIMITS, Watches, type WatchLimits } from './watch/watches';
import { RouteQueries } from './routes/route-queries';
import { OperatorDecisions, type SyncDecisions } from './zones/operator-decisions';
import { DATAPLANE_TOKEN_FORM, USER_TOKEN_FORM } from './tokens/token-forms';
import { TokenQueries, type TokenAccess } from './tokens/token-queries';
import { WorkloadAuthority, type AuthorityAccess } from './zones/workload-authority';
import { WorkloadQueries, type WorkloadAccess } from './workloads/workload-queries';
import { ZoneInvites, ZoneTokens, type ZoneAccess } from './zones/zone-tokens';

/** The bounds of queries. Durations in ms, sizes in bytes. */
export interface QueryLimits extends WatchLimits {
  /** Timeout for a query to wait for a revision, and for this process's own writes. */
  readonly revisionWait: number;
}

/** Default limits. */
const DEFAULT_QUERY_LIMITS: QueryLimits = { revisionWait: 10_000, ...DEFAULT_WATCH_LIMITS };

/** Limits of queries that may scan very much: tables of hostnames, explanations, consequences of dry runs. */
const EXPENSIVE = { running: 8, queued: 64 } as const;

/** Issuer of user tokens of this control plane. */
export type UserAccess = TokenAccess<UserTokenRequest, IssuedUserToken>;

/** Issuer of dataplane tokens of a zone. */
export type DataplaneAccess = TokenAccess<DataplaneTokenRequest, IssuedDataplaneToken>;

/** Issuers and revokers of this control plane; absent if it has none. */
export interface Issuers {
  /** Access to zone tokens: on a global, and in a zone without a global. */
  readonly zoneAccess?: ZoneAccess;
  /** Access to user tokens: on every control plane. */
  readonly userAccess?: UserAccess;
  /** In a zone. */
  readonly dataplaneAccess?: DataplaneAccess;
  /** In a zone. */
  readonly workloadAccess?: WorkloadAccess;
  /** In a zone. */
  readonly authorityAccess?: AuthorityAccess;
}

/** Facts about the Dataplanes of a zone. */
export interface DataplaneSources {
  readonly proxies?: ProxySource;
  readonly agentLeases?: Pick<AgentLeaseStore, 'page' | 'survey'>;
  readonly instances?: InstanceSource;
  /** Rules about callers. */
  readonly callers?: AccessFacts;
}

/** Sources of queries. */
export interface QuerySources {
  readonly registry: Registry;
  readonly cp: ControlPlane;
  readonly store: ResourceStore;
  readonly index: IndexReader;
  /** State of each mesh; from the same index. */
  readonly meshes: Meshes;
  /** The bound routes of this control plane; without them each query about routes binds its own. */
  readonly routes?: Pick<FollowedRoutes, 'table'>;
  /** The policies of this control plane over those routes; without them no query about policies is answered. */
  readonly policies?: AffectingSource;
  readonly audit: AuditLog;
  /** Absent if the store cannot be exported. */
  readonly backup?: StoreExport;
  readonly clock: Clock;
  readonly program: ProgramFacts;
  readonly limits?: Partial<QueryLimits>;
  readonly insights?: Insights;
  readonly issuers?: Issuers;
  /** In a zone. */
  readonly zone?: DataplaneSources;
  /** Present if this control plane is one of several. */
  readonly syncDecisions?: SyncDecisions;
}

/** Everything that interfaces translate: one object per process, so that all interfaces share limits and caches. */
export interface Queries {
  readonly resources: ResourceQueries;
  /** Default mesh of requests: the expected one (row T000-14). */
  readonly defaultMesh: string;
  readonly watches: Watches;
  readonly inspections: Inspections;
  readonly proxies: ProxyQueries;
  readonly leases: LeaseQueries;
  readonly hostnames: HostnameQueries;
  readonly resolution: HostnameResolution;
  readonly routes: RouteQueries;
  readonly policies: PolicyQueries;
  readonly discovery: Discovery;
  readonly doctor: Doctor;
  readonly server: ServerFacts;
  readonly decisions: OperatorDecisions;
  readonly zoneTokens: ZoneTokens;
  readonly zoneInvites: ZoneInvites;
  readonly userTokens: TokenQueries<UserTokenRequest, IssuedUserToken>;
  readonly dataplaneTokens: TokenQueries<DataplaneTokenRequest, IssuedDataplaneToken>;
  readonly workloads: WorkloadQueries;
  readonly workloadAuthority: WorkloadAuthority;
  readonly audit: AuditQueries;
  readonly backups: BackupQueries;
  /** Interfaces record their writes here, so that reads show them. */
  readonly readYourWrites: ReadYourWrites;
  readonly json: ResourceJson;
  /** Ends all watches and stops following the index. */
  readonly close: () => void;
}

/** Builds the queries of a process; they follow the index until `close`. */
export function createQueries(sources: QuerySources): Queries {
  const { registry, cp, store, index, meshes, routes, policies, clock, insights = {} } = sources;
  const { issuers = {}, zone = {} } = sources;
  const { userAccess, zoneAccess } = issuers;
  const at = { cp, index, meshes };
  const limits = { ...DEFAULT_QUERY_LIMITS, ...sources.limits };
  const readYourWrites = new ReadYourWrites(index, store, { clock, timeout: limits.revisionWait });
  const sorted = new SortedIndex(index);
  const lister = new Lister(index, sorted);
  const expensive = new ConcurrencyLimit(EXPENSIVE);
  const resources = new ResourceQueries({ ...at, registry, lister, readYourWrites });
  const watches = new Watches({ index, meshes, store, lister, readYourWrites, clock, limits });
  const hostnames = new HostnameQueries({ ...at, readYourWrites, resources, insights, expensive });
  const { affected, stop } = affectedStatus(index, meshes.owner, sources.policies);
  const stops = [readYourWrites.follow(), sorted.follow(), stop];
  return {
    resources,
    defaultMesh: meshes.owner.expectedName,
    watches,
    inspections: new Inspections({ index, resources, insights, expensive }),
    proxies: new ProxyQueries(zone.proxies),
    leases: new LeaseQueries(zone.agentLeases, store),
    hostnames,
    resolution: new HostnameResolution(index, hostnames),
    routes: new RouteQueries({ ...at, readYourWrites, hostnames, expensive, routes, policies, callers: zone.callers }),
    policies: new PolicyQueries({ meshes, resources, readYourWrites, expensive, policies }),
    discovery: new Discovery({ ...at, readYourWrites, expensive, instances: zone.instances }),
    doctor: new Doctor({ ...at, registry, store, insights, clock, userTokens: userAccess, zoneTokens: zoneAccess }),
    server: new ServerFacts({ registry, cp, index, program: sources.program }),
    decisions: new OperatorDecisions(sources.syncDecisions ?? {}),
    zoneTokens: new ZoneTokens(zoneAccess),
    zoneInvites: new ZoneInvites(zoneAccess),
    userTokens: new TokenQueries(USER_TOKEN_FORM, userAccess),
    dataplaneTokens: new TokenQueries(DATAPLANE_TOKEN_FORM, issuers.dataplaneAccess),
    workloads: new WorkloadQueries(issuers.workloadAccess, index),
    workloadAuthority: new WorkloadAuthority(issuers.authorityAccess, clock),
    audit: new AuditQueries(sources.audit, registry),
    backups: new BackupQueries(sources),
    readYourWrites,
    json: new ResourceJson(registry, affected),
    close: () => {
      watches.close();
      for (const stop of stops) stop();
    },
  };
}
