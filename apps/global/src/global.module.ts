import { Module, type DynamicModule } from '@nestjs/common';
import {
  ACCESS_POLICY,
  AccessModule,
  AdmissionModule,
  AuditModule,
  AUTHENTICATION,
  AuthenticationModule,
  CoreModule,
  grpcApiModule,
  INDEX,
  IndexModule,
  LeaderModule,
  MESHES,
  QUERIES,
  QueriesModule,
  CertificatesModule,
  restModule,
  POLICIES,
  ROUTES,
  SharedTelemetry,
  SharedTelemetryModule,
  StoreBinding,
  storeOptions,
  type CertificateSource,
  type ControlPlaneCore,
} from '@causeway/control-plane';
import type { SealingKeys } from '@causeway/identity';
import { GLOBAL_SYNC, KdsGlobalModule, withRelayedKinds } from '@causeway/kds';
import { type KumaOptions } from '@causeway/kuma';
import { POSTGRES_BACKEND, StoreModule } from '@causeway/store-postgres';
import { TelemetryModule } from '@causeway/telemetry';
import type { GlobalSettings } from './config';
import { kdsOptions } from './kds-options';
import { leaderTermFactory } from './leader-term';
import { globalQuerySources } from './query-sources';
import { globalTelemetry } from './telemetry';
import { ZoneSecurity, ZoneSecurityModule } from './zone-security.module';

/** Checked settings of a global. */
export interface GlobalPlan {
  readonly certificates: CertificateSource;
  /** The keys that seal secrets of the store; undefined where none are set. */
  readonly sealing: SealingKeys | undefined;
}

/** Dependencies of a leader's term, in the order of its factory. */
const LEADER_SOURCES = [
  POSTGRES_BACKEND,
  INDEX,
  AUTHENTICATION,
  ZoneSecurity,
  ACCESS_POLICY,
  MESHES,
  StoreBinding,
  ROUTES,
  POLICIES,
];

/** The global control plane: its parts, each with the parts that it stands on. They start in that order and end in the reverse. */
@Module({})
export class GlobalModule {
  static forRoot(core: ControlPlaneCore<GlobalSettings>, { certificates, sealing }: GlobalPlan): DynamicModule {
    const kuma: KumaOptions = { meshServicesMode: 'Everywhere', ...(sealing && { sealing }) };
    const facts = CoreModule.forRoot(core);
    const store = StoreModule.forRoot(storeOptions(core));
    const index = IndexModule.forRoot({ imports: [facts, store] });
    const state = [facts, store, index];
    const access = AccessModule.forRoot({ imports: state, registry: withRelayedKinds(core.registry) });
    const admission = AdmissionModule.forRoot({ imports: [...state, access] });
    const audit = AuditModule.forRoot({ imports: state });
    const authentication = AuthenticationModule.forRoot({ imports: state });
    const security = ZoneSecurityModule.forRoot({ imports: state, core, certificates });
    const shown = CertificatesModule.forRoot({ imports: state });
    const leader = LeaderModule.forRootAsync({
      imports: [...state, authentication, security, access],
      inject: LEADER_SOURCES,
      useFactory: leaderTermFactory(core, kuma),
    });
    const kds = KdsGlobalModule.forRootAsync({
      imports: [...state, security, access],
      inject: [POSTGRES_BACKEND, INDEX, ZoneSecurity, ACCESS_POLICY, MESHES],
      useFactory: kdsOptions(core, kuma),
    });
    const queries = QueriesModule.forRootAsync({
      imports: [...state, authentication, leader, kds, security],
      inject: [GLOBAL_SYNC, ZoneSecurity],
      useFactory: globalQuerySources,
    });
    const rest = restModule({ imports: [facts, access, authentication, audit, queries, admission, shown] });
    const grpc = grpcApiModule({ imports: [...state, access, authentication, audit, queries, admission, shown] });
    const telemetryOfAll = SharedTelemetryModule.forRoot({ imports: [...state, leader, audit, authentication, shown] });
    const telemetry = TelemetryModule.forRootAsync({
      imports: [telemetryOfAll, kds, queries, security],
      inject: [SharedTelemetry, GLOBAL_SYNC, QUERIES, ZoneSecurity],
      useFactory: globalTelemetry(core),
    });
    const users = [access, admission, audit, authentication];
    return {
      module: GlobalModule,
      imports: [...state, ...users, security, shown, leader, kds, queries, rest, grpc, telemetry],
    };
  }
}
