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
  revokedIdsIn,
  RotationRequests,
  WorkloadCertificates,
  ZoneAuthority,
  type SealingKeys,
} from '@causeway/identity';
import type { Meshes } from '@causeway/meshes';
import type { AuthorityAccess } from '@causeway/queries';
import type { IndexReader } from '@causeway/store';
import { POSTGRES_BACKEND, type PostgresBackend } from '@causeway/store-postgres';
import type { ZoneSettings } from './config';
import { openSecrets, type SecretsSource } from './secrets-key';
import { ZoneTrustEvidence } from './trust-evidence';

/** The `DataplaneTokens` of this replica. */
export const DATAPLANE_TOKENS = Symbol('DataplaneTokens');

/** The `ZoneProxyTokens` of this replica. */
export const ZONE_PROXY_TOKENS = Symbol('ZoneProxyTokens');

/** The `SealingKeys` of this replica. */
export const SEALING_KEYS = Symbol('SealingKeys');

/** Options of workload identity. */
export interface WorkloadIdentityOptions extends ModuleImports {
  readonly core: ControlPlaneCore<ZoneSettings>;
  readonly secrets: SecretsSource;
}

/** Operations on the authority: reading and rotating it. */
export class RotationOperation implements AuthorityAccess {
  constructor(
    readonly authority: ZoneAuthority,
    readonly requests: RotationRequests,
    readonly evidence: ZoneTrustEvidence,
  ) {}
}

/** Checks at the start that the keys of secrets open what is stored. */
class SealedKeyCheck implements OnModuleInit {
  constructor(
    private readonly authority: ZoneAuthority,
    private readonly core: ControlPlaneCore<ZoneSettings>,
  ) {}

  /** Rejects with one line where they do not: a replica with other keys could sign nothing. */
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
    const { settings, logger, clock } = core;
    const validity = settings.CAUSEWAY_WORKLOAD_CERT_VALIDITY;
    return {
      module: WorkloadIdentityModule,
      imports,
      providers: [
        { provide: SEALING_KEYS, useFactory: () => openSecrets(secrets, logger) },
        authorityProvider(core),
        {
          provide: SealedKeyCheck,
          inject: [ZoneAuthority],
          useFactory: (authority: ZoneAuthority) => new SealedKeyCheck(authority, core),
        },
        {
          provide: WorkloadCertificates,
          inject: [INDEX, ZoneAuthority, SEALING_KEYS, MESHES],
          useFactory: (index: IndexReader, signer: ZoneAuthority, keys: SealingKeys, meshes: Meshes) => {
            const meshAuthorities = new MeshAuthorities(index, keys);
            const zone = settings.CAUSEWAY_ZONE_NAME;
            const isRevoked = (mesh: string, uri: string): boolean =>
              revokedIdsIn(index, { mesh, zone }, meshes.state(mesh)?.access?.revoked ?? []).includes(uri);
            return new WorkloadCertificates({ index, signer, meshAuthorities, isRevoked, clock, validity });
          },
        },
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

/** The certificate authority of the zone. */
function authorityProvider({ clock, logger, settings }: ControlPlaneCore<ZoneSettings>): Provider {
  return {
    provide: ZoneAuthority,
    inject: [POSTGRES_BACKEND, SEALING_KEYS],
    useFactory: ({ store }: PostgresBackend, keys: SealingKeys) =>
      new ZoneAuthority({
        store,
        keys,
        zone: settings.CAUSEWAY_ZONE_NAME,
        clock,
        logger,
        validity: settings.CAUSEWAY_WORKLOAD_CERT_VALIDITY,
        slack: settings.CAUSEWAY_CLOCK_SKEW,
      }),
  };
}

/** Provides the enrolments of machines. */
function enrolmentsProvider({ cp, clock, logger, settings }: ControlPlaneCore<ZoneSettings>): Provider {
  const validity = settings.CAUSEWAY_WORKLOAD_CERT_VALIDITY;
  return {
    provide: Enrolments,
    inject: [POSTGRES_BACKEND, INDEX, MESHES],
    useFactory: ({ store }: PostgresBackend, index: IndexReader, meshes: Meshes) =>
      new Enrolments({
        cp,
        store,
        index,
        clock,
        logger,
        validity,
        takesKumaTokens: (mesh) => meshes.state(mesh)?.parameters.dataplaneTokens === 'Kuma',
      }),
  };
}

/** Provides requests and evidence of a rotation of the authority. */
function rotationProviders(core: ControlPlaneCore<ZoneSettings>): readonly Provider[] {
  const { cp, clock, settings } = core;
  const isFederated = cp.role === 'zone' && cp.federated;
  return [
    {
      provide: ZoneTrustEvidence,
      inject: [INDEX, ProxyDirectory],
      useFactory: (index: IndexReader, proxies: ProxyDirectory) =>
        new ZoneTrustEvidence({ index, proxies, zone: settings.CAUSEWAY_ZONE_NAME, isFederated }),
    },
    {
      provide: RotationOperation,
      inject: [POSTGRES_BACKEND, ZoneAuthority, ZoneTrustEvidence],
      useFactory: ({ store }: PostgresBackend, authority: ZoneAuthority, evidence: ZoneTrustEvidence) =>
        new RotationOperation(authority, new RotationRequests(store, clock), evidence),
    },
  ];
}

/** The tokens by which proxies show who they are. */
function tokenProviders(core: ControlPlaneCore<ZoneSettings>): readonly Provider[] {
  return [
    {
      provide: DATAPLANE_TOKENS,
      inject: [POSTGRES_BACKEND, INDEX],
      useFactory: ({ store }: PostgresBackend, index: IndexReader) => createDataplaneTokens({ ...core, store, index }),
    },
    {
      provide: ZONE_PROXY_TOKENS,
      inject: [POSTGRES_BACKEND, INDEX],
      useFactory: ({ store }: PostgresBackend, index: IndexReader) => createZoneProxyTokens({ ...core, store, index }),
    },
  ];
}
