import { Module, type DynamicModule, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import {
  INDEX,
  openCertificates,
  retryWhileUnavailable,
  type CertificateSource,
  type PeriodicTask,
  type ControlPlaneCore,
  type ModuleImports,
} from '@causeway/control-plane';
import { createZoneTokenService, type ServerCertificates, type ZoneTokenService } from '@causeway/access';
import { noAuthentication, type ZoneAuthenticator } from '@causeway/kds';
import type { ZoneAccess } from '@causeway/queries';
import type { Identity } from '@causeway/resources';
import { provideFrom } from '@causeway/runtime';
import type { IndexReader, ResourceStore } from '@causeway/store';
import { POSTGRES_BACKEND } from '@causeway/store-postgres';
import type { GlobalSettings } from './config';

/** Dependencies of the security of zones. */
interface SecurityOptions extends Omit<ControlPlaneCore<GlobalSettings>, 'index'> {
  readonly index: IndexReader;
  readonly store: ResourceStore;
  readonly source: CertificateSource;
}

/** Authentication of zones, and the global's own certificate for them (docs/design.md §5 Zone tokens, §6 Where they listen). */
export class ZoneSecurity implements OnModuleInit, OnApplicationShutdown {
  private readonly service: ZoneTokenService;
  private readonly requiresTokens: boolean;
  private opened: ServerCertificates | undefined;

  constructor(private readonly options: SecurityOptions) {
    this.service = createZoneTokenService(options);
    this.requiresTokens = options.settings.CAUSEWAY_KDS_AUTH === 'token';
  }

  /** Creates the first signing key and the first certificate if there are none, and warns of missing protection. */
  async onModuleInit(): Promise<void> {
    const { options } = this;
    warnOfInsecureSettings(options);
    const waiting = { ...options, signal: options.shutdown };
    await retryWhileUnavailable(() => this.service.tokens.ensureKey(), waiting);
    this.opened = await retryWhileUnavailable(() => openCertificates(options.source, options), waiting);
  }

  onApplicationShutdown(): void {
    this.service.close();
    this.opened?.close();
  }

  /** Authenticates zones by their tokens, or admits all if the settings say so. */
  get authenticator(): ZoneAuthenticator {
    return this.requiresTokens ? this.service.auth : noAuthentication;
  }

  /** Number of zone tokens that two holders tried to use, since the start. */
  get contestedTokens(): number {
    return this.service.renewals.contested;
  }

  /** Returns the certificates for zones; undefined if TLS is off. */
  certificates(): ServerCertificates | undefined {
    return this.opened;
  }

  /** Returns the token issuer and authority that REST serves. */
  zoneAccess(): ZoneAccess {
    const { tokens, invites } = this.service;
    return {
      issue: (order) => tokens.issue(order),
      list: () => tokens.list(),
      revoke: (id) => tokens.revoke(id),
      rotate: () => tokens.rotate(),
      authority: () => this.opened?.authority(),
      invites: {
        issue: (order) => invites.issue(order),
        list: () => invites.list(),
        revoke: (id) => invites.revoke(id),
        redeem: (invite) => invites.redeem(invite),
      },
    };
  }

  /** Deletes zone tokens and invites that expired long ago. */
  readonly purge: PeriodicTask = {
    failure: 'expired zone tokens could not be forgotten',
    run: async () => {
      await this.service.tokens.purge();
      await this.service.invites.purge();
    },
  };

  /** Returns warnings for an operator who deletes this resource. */
  deletionWarnings(id: Identity): readonly string[] {
    return this.requiresTokens ? this.service.deletionWarnings(id) : [];
  }

  /** Returns which stored keys and certificates are unusable; the program runs without them. */
  warnings(): readonly string[] {
    return [...this.service.faults(), ...[this.opened?.fault() ?? []].flat()];
  }
}

function warnOfInsecureSettings({ logger, settings }: SecurityOptions): void {
  const { CAUSEWAY_KDS_AUTH: auth, CAUSEWAY_KDS_TLS: tls } = settings;
  if (auth === 'none') {
    logger.warn('ZONES ARE NOT AUTHENTICATED: every client of this port is accepted as the zone that it claims to be', {
      setting: 'CAUSEWAY_KDS_AUTH=none',
    });
  }
  if (tls === 'off') {
    logger.warn('TLS is off: messages of zones, including tokens, can be read on the network', {
      setting: 'CAUSEWAY_KDS_TLS=off',
    });
  }
}

/** Options of the security of zones. */
export interface ZoneSecurityModuleOptions extends ModuleImports {
  readonly core: ControlPlaneCore<GlobalSettings>;
  readonly certificates: CertificateSource;
}

/** Zone tokens and certificates of the port to which zones connect. */
@Module({})
export class ZoneSecurityModule {
  static forRoot({ imports, core, certificates: source }: ZoneSecurityModuleOptions): DynamicModule {
    const provider = provideFrom(
      ZoneSecurity,
      { backend: POSTGRES_BACKEND, index: INDEX },
      ({ backend: { store }, index }) => new ZoneSecurity({ ...core, store, index, source }),
    );
    return { module: ZoneSecurityModule, imports, providers: [provider], exports: [ZoneSecurity] };
  }
}
