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
  type ControlPlaneCore,
} from '@causeway/control-plane';
import type { DnsSettings } from '@causeway/dns';
import { KdsZoneModule } from '@causeway/kds';
import { injectFrom } from '@causeway/runtime';
import { StoreModule } from '@causeway/store-postgres';
import { TelemetryModule } from '@causeway/telemetry';
import { zoneRanges } from './address-ranges';
import type { ZoneSettings } from './config';
import { ProxiesModule } from './proxies/proxies.module';
import { dnsModule } from './dns-options';
import { kdsOptions, type JoinedGlobal } from './global/kds-options';
import { zoneQuerySources } from './query-sources';
import type { SecretsSource } from './identity/secrets-key';
import { zoneTelemetry } from './telemetry';
import { WorkloadIdentityModule } from './identity/workload-identity.module';
import { xdsModule } from './proxies/xds-options';
import { ZoneLeader, ZoneLeaderModule } from './leader/zone-leader.module';

/** Checked settings of a zone. */
export interface ZonePlan {
  /** Undefined for a zone without a global. */
  readonly global: JoinedGlobal | undefined;
  readonly dns: DnsSettings;
  readonly secrets: SecretsSource;
}

/** Composes a zone's control plane of its parts, each after the parts that it depends on. They start in that order and stop in the reverse. */
@Module({})
export class ZoneModule {
  static forRoot(core: ControlPlaneCore<ZoneSettings>, { global, dns: config, secrets }: ZonePlan): DynamicModule {
    const facts = CoreModule.forRoot(core);
    const store = StoreModule.forRoot(storeOptions(core));
    const index = IndexModule.forRoot({ imports: [facts, store], zoneRanges: zoneRanges(core.settings) });
    const state = [facts, store, index];
    const access = AccessModule.forRoot({ imports: state });
    const admission = AdmissionModule.forRoot({ imports: [...state, access] });
    const audit = AuditModule.forRoot({ imports: state });
    const authentication = AuthenticationModule.forRoot({ imports: state });
    const users = [access, admission, audit, authentication];
    const shown = CertificatesModule.forRoot({ imports: state });
    const proxies = ProxiesModule.forRoot({ imports: state, core });
    const identity = WorkloadIdentityModule.forRoot({ imports: [...state, proxies], core, secrets });
    const kds = KdsZoneModule.forRootAsync({
      imports: [...state, identity, proxies],
      ...kdsOptions(core, global),
    });
    const zoneLeader = ZoneLeaderModule.forRoot({
      imports: [...state, authentication, kds, proxies, identity],
      core,
      addresses: global?.addresses ?? [],
      token: global?.token,
    });
    const leader = LeaderModule.forRootAsync({
      imports: [...state, zoneLeader],
      ...injectFrom({ leader: ZoneLeader }, ({ leader }) => leader.createTerm),
    });
    const xds = xdsModule({ imports: [...state, identity, kds, proxies], core });
    const dns = dnsModule({ imports: [...state, xds], core, config });
    const queries = QueriesModule.forRootAsync({
      imports: [...state, authentication, identity, zoneLeader, leader, dns, proxies, xds],
      ...zoneQuerySources(core),
    });
    const rest = restModule({ imports: [facts, access, authentication, audit, queries, admission, shown] });
    const grpc = grpcApiModule({ imports: [...state, access, authentication, audit, queries, admission, shown] });
    const telemetryOfAll = SharedTelemetryModule.forRoot({ imports: [...state, leader, audit, authentication, shown] });
    const telemetry = TelemetryModule.forRootAsync({
      imports: [telemetryOfAll, queries, identity, zoneLeader, dns, xds],
      ...zoneTelemetry(core, global?.token),
    });
    const control = [kds, proxies, identity, zoneLeader, leader];
    const served = [dns, xds, queries, rest, grpc, telemetry];
    return { module: ZoneModule, imports: [...state, ...users, shown, ...control, ...served] };
  }
}
