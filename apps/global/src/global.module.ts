import { Module, type DynamicModule } from '@nestjs/common';
import {
  AccessModule,
  AdmissionModule,
  AuditModule,
  AuthenticationModule,
  CoreModule,
  grpcApiModule,
  IndexModule,
  LeaderModule,
  QueriesModule,
  CertificatesModule,
  restModule,
  SharedTelemetryModule,
  storeOptions,
  type CertificateSource,
  type ControlPlaneCore,
} from '@causeway/control-plane';
import type { SealingKeys } from '@causeway/identity';
import { KdsGlobalModule, withRelayedKinds } from '@causeway/kds';
import { type KumaOptions } from '@causeway/kuma';
import { StoreModule } from '@causeway/store-postgres';
import { TelemetryModule } from '@causeway/telemetry';
import type { GlobalSettings } from './config';
import { kdsOptions } from './kds-options';
import { leaderTermFactory } from './leader-term';
import { globalQuerySources } from './query-sources';
import { globalTelemetry } from './telemetry';
import { ZoneSecurityModule } from './zone-security.module';

/** Checked settings of a global. */
export interface GlobalPlan {
  readonly certificates: CertificateSource;
  /** Keys that seal secrets in the store; undefined if none are set. */
  readonly sealing: SealingKeys | undefined;
}

/** The global control plane: its modules, each with the modules that it imports. They start in that order and stop in reverse. */
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
      ...leaderTermFactory(core, kuma),
    });
    const kds = KdsGlobalModule.forRootAsync({
      imports: [...state, security, access],
      ...kdsOptions(core, kuma),
    });
    const queries = QueriesModule.forRootAsync({
      imports: [...state, authentication, leader, kds, security],
      ...globalQuerySources,
    });
    const rest = restModule({ imports: [facts, access, authentication, audit, queries, admission, shown] });
    const grpc = grpcApiModule({ imports: [...state, access, authentication, audit, queries, admission, shown] });
    const telemetryOfAll = SharedTelemetryModule.forRoot({ imports: [...state, leader, audit, authentication, shown] });
    const telemetry = TelemetryModule.forRootAsync({
      imports: [telemetryOfAll, kds, queries, security],
      ...globalTelemetry(core),
    });
    const users = [access, admission, audit, authentication];
    return {
      module: GlobalModule,
      imports: [...state, ...users, security, shown, leader, kds, queries, rest, grpc, telemetry],
    };
  }
}
