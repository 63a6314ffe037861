import {
  Inject,
  Module,
  type DynamicModule,
  type OnApplicationShutdown,
  type OnModuleInit,
  type Provider,
} from '@nestjs/common';
import {
  createDataplaneTokens,
  createZoneProxyTokens,
  type DataplaneTokens,
  type ZoneProxyTokens,
} from '@causeway/access';
import {
  INDEX,
  MESHES,
  retryWhileUnavailable,
  type ControlPlaneCore,
  type ModuleImports,
} from '@causeway/control-plane';
import { ProxyDirectory } from '@causeway/controllers';
import {
  Enrolments,
  MeshAuthorities,
  listRevokedIds,
  RotationRequests,
  WorkloadCertificates,
  ZoneAuthority,
  type SealingKeys,
} from '@causeway/identity';
import type { AuthorityAccess } from '@causeway/queries';
import { injectionToken, provideFrom } from '@causeway/runtime';
import { POSTGRES_BACKEND } from '@causeway/store-postgres';
import type { ZoneSettings } from '../config';
import { openSecrets, type SecretsSource } from './secrets-key';
import { ZoneTrustEvidence } from './trust-evidence';

/** The `DataplaneTokens` of this replica. */
export const DATAPLANE_TOKENS = injectionToken<DataplaneTokens>('DataplaneTokens');

/** The `ZoneProxyTokens` of this replica. */
export const ZONE_PROXY_TOKENS = injectionToken<ZoneProxyTokens>('ZoneProxyTokens');

/** The `SealingKeys` of this replica. */
export const SEALING_KEYS = injectionToken<SealingKeys>('SealingKeys');

/** Options of workload identity. */
export interface WorkloadIdentityOptions extends ModuleImports {
  readonly core: ControlPlaneCore<ZoneSettings>;
  readonly secrets: SecretsSource;
}

/** Operations on the authority: reading and rotation. */
export class RotationOperation implements AuthorityAccess {
  constructor(
    readonly authority: ZoneAuthority,
    readonly requests: RotationRequests,
    readonly evidence: ZoneTrustEvidence,
  ) {}
}

/** Checks at the start that the keys of secrets decrypt the stored secrets. */
class SealedKeyCheck implements OnModuleInit {
  constructor(
    private readonly authority: ZoneAuthority,
    private readonly core: ControlPlaneCore<ZoneSettings>,
  ) {}

  /** Rejects with one line if they do not: a replica with other keys could sign nothing. */
  async onModuleInit(): Promise<void> {
    const { shutdown: signal, clock, logger } = this.core;
    const problem = await retryWhileUnavailable(() => this.authority.keyProblem(), { clock, logger, signal });
    if (problem !== undefined)
      throw new Error(`CAUSEWAY_SECRETS_KEY: the stored key of the certificate authority cannot be opened: ${problem}`);
  }
}

/**
 * Provides workload identity in this zone: its certificate authority, certificates of workloads, and the tokens with
 * which they request them. One of each a process; every replica signs, the leader creates the authority
 * (`ZoneLeaderModule`).
 */
@Module({})
export class WorkloadIdentityModule implements OnApplicationShutdown {
  constructor(
    @Inject(DATAPLANE_TOKENS) private readonly dataplaneTokens: DataplaneTokens,
    @Inject(ZONE_PROXY_TOKENS) private readonly zoneTokens: ZoneProxyTokens,
    @Inject(Enrolments) private readonly enrolments: Enrolments,
  ) {}

  static forRoot({ imports, core, secrets }: WorkloadIdentityOptions): DynamicModule {
    const check = provideFrom(
      SealedKeyCheck,
      { authority: ZoneAuthority },
      ({ authority }) => new SealedKeyCheck(authority, core),
    );
    return {
      module: WorkloadIdentityModule,
      imports,
      providers: [
        provideFrom(SEALING_KEYS, {}, () => openSecrets(secrets, core.logger)),
        authorityProvider(core),
        check,
        certificatesProvider(core),
        enrolmentsProvider(core),
        ...rotationProviders(core),
        ...tokenProviders(core),
      ],
      exports: [
        Enrolments,
        ZoneAuthority,
        WorkloadCertificates,
        RotationOperation,
        ZoneTrustEvidence,
        DATAPLANE_TOKENS,
        ZONE_PROXY_TOKENS,
        SEALING_KEYS,
      ],
    };
  }

  onApplicationShutdown(): void {
    this.dataplaneTokens.close();
    this.zoneTokens.close();
    this.enrolments.close();
  }
}

/** Provides the certificate authority of the zone. */
function authorityProvider({ clock, logger, settings }: ControlPlaneCore<ZoneSettings>): Provider {
  return provideFrom(
    ZoneAuthority,
    { backend: POSTGRES_BACKEND, keys: SEALING_KEYS },
    ({ backend: { store }, keys }) =>
      new ZoneAuthority({
        store,
        keys,
        zone: settings.CAUSEWAY_ZONE_NAME,
        clock,
        logger,
        validity: settings.CAUSEWAY_WORKLOAD_CERT_VALIDITY,
        slack: settings.CAUSEWAY_CLOCK_SKEW,
      }),
  );
}

/** Provides the certificates of workloads, which every replica signs. */
function certificatesProvider({ settings, clock }: ControlPlaneCore<ZoneSettings>): Provider {
  const { CAUSEWAY_ZONE_NAME: zone, CAUSEWAY_WORKLOAD_CERT_VALIDITY: validity } = settings;
  const sources = { index: INDEX, signer: ZoneAuthority, keys: SEALING_KEYS, meshes: MESHES };
  return provideFrom(WorkloadCertificates, sources, ({ index, signer, keys, meshes }) => {
    const meshAuthorities = new MeshAuthorities(index, keys);
    const isRevoked = (mesh: string, uri: string): boolean =>
      listRevokedIds(index, { mesh, zone }, meshes.state(mesh)?.access?.revoked ?? []).includes(uri);
    return new WorkloadCertificates({ index, signer, meshAuthorities, isRevoked, clock, validity });
  });
}

/** Provides the enrolments of hosts. */
function enrolmentsProvider({ cp, clock, logger, settings }: ControlPlaneCore<ZoneSettings>): Provider {
  const validity = settings.CAUSEWAY_WORKLOAD_CERT_VALIDITY;
  return provideFrom(
    Enrolments,
    { backend: POSTGRES_BACKEND, index: INDEX, meshes: MESHES },
    ({ backend: { store }, index, meshes }) =>
      new Enrolments({
        cp,
        store,
        index,
        clock,
        logger,
        validity,
        takesKumaTokens: (mesh) => meshes.state(mesh)?.parameters.dataplaneTokens === 'Kuma',
      }),
  );
}

/** Provides requests and evidence of a rotation of the authority. */
function rotationProviders(core: ControlPlaneCore<ZoneSettings>): readonly Provider[] {
  const { cp, clock, settings } = core;
  const isFederated = cp.role === 'zone' && cp.federated;
  const zone = settings.CAUSEWAY_ZONE_NAME;
  return [
    provideFrom(
      ZoneTrustEvidence,
      { index: INDEX, proxies: ProxyDirectory },
      (sources) => new ZoneTrustEvidence({ ...sources, zone, isFederated }),
    ),
    provideFrom(
      RotationOperation,
      { backend: POSTGRES_BACKEND, authority: ZoneAuthority, evidence: ZoneTrustEvidence },
      ({ backend: { store }, authority, evidence }) =>
        new RotationOperation(authority, new RotationRequests(store, clock), evidence),
    ),
  ];
}

/** Provides the tokens that authenticate proxies. */
function tokenProviders(core: ControlPlaneCore<ZoneSettings>): readonly Provider[] {
  const sources = { backend: POSTGRES_BACKEND, index: INDEX };
  return [
    provideFrom(DATAPLANE_TOKENS, sources, ({ backend: { store }, index }) =>
      createDataplaneTokens({ ...core, store, index }),
    ),
    provideFrom(ZONE_PROXY_TOKENS, sources, ({ backend: { store }, index }) =>
      createZoneProxyTokens({ ...core, store, index }),
    ),
  ];
}
