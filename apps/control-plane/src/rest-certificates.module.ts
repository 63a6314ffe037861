import { X509Certificate } from 'node:crypto';
import { Module, type DynamicModule, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { ServerCertificates } from '@causeway/access';
import { isLoopback } from '@causeway/rest';
import type { IndexReader } from '@causeway/store';
import { POSTGRES_BACKEND, type PostgresBackend } from '@causeway/store-postgres';
import { certificateSource, openCertificates, type CertificateSource } from './certificates';
import { CORE, type ControlPlaneCore, type ModuleImports, type SharedSettings } from './core.module';
import { INDEX } from './index.module';
import { retryWhileUnavailable } from './retry-while-unavailable';

/** Where the certificate of REST comes from; ends the program with one line when settings do not fit together. */
export function restCertificateSource(settings: SharedSettings): CertificateSource {
  const { CAUSEWAY_BIND_ADDRESS: bindAddress } = settings;
  const { CAUSEWAY_REST_TLS_CERT_FILE: certificateFile, CAUSEWAY_REST_TLS_KEY_FILE: keyFile } = settings;
  const wanted = !isLoopback(bindAddress) || certificateFile !== undefined || keyFile !== undefined;
  const tls = settings.CAUSEWAY_REST_TLS ?? (wanted ? 'on' : 'off');
  const names = settings.CAUSEWAY_REST_TLS_NAMES;
  return certificateSource({ prefix: 'CAUSEWAY_REST_TLS', tls, certificateFile, keyFile, names, bindAddress });
}

/** The certificates of REST, there once the module has started. */
export class RestCertificates implements OnModuleInit, OnApplicationShutdown {
  private opened: ServerCertificates | undefined;

  constructor(
    private readonly core: ControlPlaneCore,
    private readonly store: PostgresBackend['store'],
    private readonly index: IndexReader,
  ) {}

  /** Makes the first authority where none is and files do not replace it, and warns of what is left open. */
  async onModuleInit(): Promise<void> {
    const { core, store, index } = this;
    const { clock, logger, settings, shutdown: signal } = core;
    const source = restCertificateSource(settings);
    this.opened = await retryWhileUnavailable(() => openCertificates(source, { ...core, store, index }), {
      ...{ clock, logger, signal },
    });
    const authority = this.opened?.authority();
    if (authority !== undefined)
      logger.info('clients verify REST by an authority', { sha256: new X509Certificate(authority).fingerprint256 });
    if (!this.opened && !isLoopback(settings.CAUSEWAY_BIND_ADDRESS))
      logger.warn('what users send, tokens too, can be read on the way', { setting: 'CAUSEWAY_REST_TLS=off' });
  }

  onApplicationShutdown(): void {
    this.opened?.close();
  }

  /** Undefined where TLS is off. */
  certificates(): ServerCertificates | undefined {
    return this.opened;
  }

  /** Why the certificate shown is not the configured one. */
  warnings(): readonly string[] {
    const fault = this.opened?.fault();
    return fault === undefined ? [] : [fault];
  }
}

/** What REST, and other interfaces for users, show their clients. */
@Module({})
export class RestCertificatesModule {
  static forRoot({ imports }: ModuleImports): DynamicModule {
    return {
      module: RestCertificatesModule,
      imports,
      providers: [
        {
          provide: RestCertificates,
          inject: [CORE, POSTGRES_BACKEND, INDEX],
          useFactory: (core: ControlPlaneCore, { store }: PostgresBackend, index: IndexReader) =>
            new RestCertificates(core, store, index),
        },
      ],
      exports: [RestCertificates],
    };
  }
}
