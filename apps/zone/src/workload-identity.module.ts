import { Inject, Module, type DynamicModule, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { createDataplaneTokens, type DataplaneTokens } from '@causeway/access';
import { INDEX, retryWhileUnavailable, type ControlPlaneCore, type ModuleImports } from '@causeway/control-plane';
import { MeshAuthorities, WorkloadCertificates, ZoneAuthority, type SealingKeys } from '@causeway/identity';
import type { IndexReader } from '@causeway/store';
import { POSTGRES_BACKEND, type PostgresBackend } from '@causeway/store-postgres';
import type { ZoneSettings } from './config';
import { openSecrets, type SecretsSource } from './secrets-key';

/** The `DataplaneTokens` of this replica. */
export const DATAPLANE_TOKENS = Symbol('DataplaneTokens');

/** The `SealingKeys` of this replica. */
export const SEALING_KEYS = Symbol('SealingKeys');

/** What the identities of workloads are configured by. */
export interface WorkloadIdentityOptions extends ModuleImports {
  readonly core: ControlPlaneCore<ZoneSettings>;
  readonly secrets: SecretsSource;
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
 * Who workloads are in this zone: its certificate authority, certificates of workloads, and the tokens by which they ask
 * for them. One of each a process; every replica signs, the leader makes the authority (`ZoneLeaderModule`).
 */
@Module({})
export class WorkloadIdentityModule implements OnApplicationShutdown {
  constructor(@Inject(DATAPLANE_TOKENS) private readonly tokens: DataplaneTokens) {}

  static forRoot({ imports, core, secrets }: WorkloadIdentityOptions): DynamicModule {
    const { cp, settings, logger, clock } = core;
    const validity = settings.CAUSEWAY_WORKLOAD_CERT_VALIDITY;
    return {
      module: WorkloadIdentityModule,
      imports,
      providers: [
        { provide: SEALING_KEYS, useFactory: () => openSecrets(secrets, logger) },
        {
          provide: ZoneAuthority,
          inject: [POSTGRES_BACKEND, SEALING_KEYS],
          useFactory: ({ store }: PostgresBackend, keys: SealingKeys) =>
            new ZoneAuthority({ store, keys, zone: cp.role === 'zone' ? cp.zone : '', clock, logger, validity }),
        },
        {
          provide: SealedKeyCheck,
          inject: [ZoneAuthority],
          useFactory: (authority: ZoneAuthority) => new SealedKeyCheck(authority, core),
        },
        {
          provide: WorkloadCertificates,
          inject: [INDEX, ZoneAuthority, SEALING_KEYS],
          useFactory: (index: IndexReader, signer: ZoneAuthority, keys: SealingKeys) => {
            const meshAuthorities = new MeshAuthorities(index, keys);
            return new WorkloadCertificates({ index, signer, meshAuthorities, clock, validity });
          },
        },
        {
          provide: DATAPLANE_TOKENS,
          inject: [POSTGRES_BACKEND, INDEX],
          useFactory: ({ store }: PostgresBackend, index: IndexReader) =>
            createDataplaneTokens({ ...core, store, index }),
        },
      ],
      exports: [ZoneAuthority, WorkloadCertificates, DATAPLANE_TOKENS, SEALING_KEYS],
    };
  }

  onApplicationShutdown(): void {
    this.tokens.close();
  }
}
