import { X509Certificate } from 'node:crypto';
import { Module, type DynamicModule, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { isLoopback, sharedAuthority, type ServerCertificates } from '@causeway/access';
import type { IndexReader } from '@causeway/store';
import { provideFrom } from '@causeway/runtime';
import { POSTGRES_BACKEND, type PostgresBackend } from '@causeway/store-postgres';
import { certificateSource, openCertificates, type CertificateSource, type TlsSettings } from './certificates';
import { CORE, type ControlPlaneCore, type ModuleImports } from '../core.module';
import type { SharedSettings } from '../settings/settings';
import { INDEX } from '../state/index.module';
import { retryWhileUnavailable } from '../state/retry-while-unavailable';

/** Returns the source of the certificate of REST; ends the program with one line if settings contradict each other. */
export function restCertificateSource(settings: SharedSettings): CertificateSource {
  return sourceForUsers(settings, {
    prefix: 'CAUSEWAY_REST_TLS',
    tls: settings.CAUSEWAY_REST_TLS,
    certificateFile: settings.CAUSEWAY_REST_TLS_CERT_FILE,
    keyFile: settings.CAUSEWAY_REST_TLS_KEY_FILE,
  });
}

/**
 * Returns the source of the certificate of the gRPC API; ends the program with one line if settings contradict each
 * other.
 */
export function grpcCertificateSource(settings: SharedSettings): CertificateSource {
  return sourceForUsers(settings, {
    prefix: 'CAUSEWAY_GRPC_TLS',
    tls: settings.CAUSEWAY_GRPC_TLS,
    certificateFile: settings.CAUSEWAY_GRPC_TLS_CERT_FILE,
    keyFile: settings.CAUSEWAY_GRPC_TLS_KEY_FILE,
  });
}

/** TLS settings of a port; `bindAddress` if it differs from that of REST. */
export type PortTls = Pick<TlsSettings, 'prefix' | 'certificateFile' | 'keyFile'> & {
  readonly tls: 'on' | 'off' | undefined;
  readonly bindAddress?: string;
};

/** Returns the source of the certificate of a port: TLS is on by default except on loopback, and if a certificate is given. */
export function sourceForUsers(settings: SharedSettings, port: PortTls): CertificateSource {
  const { CAUSEWAY_REST_TLS_NAMES: names } = settings;
  const { bindAddress = settings.CAUSEWAY_BIND_ADDRESS } = port;
  const wanted = !isLoopback(bindAddress) || port.certificateFile !== undefined || port.keyFile !== undefined;
  return certificateSource({ ...port, tls: port.tls ?? (wanted ? 'on' : 'off'), names, bindAddress });
}

/** Certificates of one port, available once the module has started. */
export class PortCertificates implements OnModuleInit, OnApplicationShutdown {
  private opened: ServerCertificates | undefined;

  constructor(
    private readonly core: ControlPlaneCore,
    private readonly store: PostgresBackend['store'],
    private readonly index: IndexReader,
    private readonly port: { readonly name: string; readonly source: CertificateSource; readonly bindAddress?: string },
  ) {}

  /** Creates the first authority if there is none and no files replace it, and warns of missing protection. */
  async onModuleInit(): Promise<void> {
    const { core, store, index } = this;
    const { clock, logger, settings, shutdown: signal } = core;
    const { name: port, source, bindAddress = settings.CAUSEWAY_BIND_ADDRESS } = this.port;
    const waiting = { clock, logger, signal };
    this.opened = await retryWhileUnavailable(() => openCertificates(source, { ...core, store, index }), waiting);
    const authority = this.opened?.authority();
    if (authority !== undefined)
      logger.info(
        'the port shows a certificate of an authority of this control plane: clients must have that authority',
        {
          port,
          sha256: new X509Certificate(authority).fingerprint256,
        },
      );
    if (!this.opened && !isLoopback(bindAddress))
      logger.warn('TLS is off: requests of users, including tokens, can be read on the network', { port });
  }

  onApplicationShutdown(): void {
    this.opened?.close();
  }

  /** Name of the listener. */
  get name(): string {
    return this.port.name;
  }

  /** Returns the certificates; undefined if TLS is off. */
  certificates(): ServerCertificates | undefined {
    return this.opened;
  }

  /**
   * Returns the authority of this port; without TLS, that of the other ports without files. Undefined if it is unknown
   * here.
   */
  authority(): string | undefined {
    const { core, index, port } = this;
    return port.source.type === 'off' ? sharedAuthority(index, core.cp, core.clock) : this.opened?.authority();
  }

  /** Returns why the certificate in use is not the configured one. */
  warnings(): readonly string[] {
    const fault = this.opened?.fault();
    return fault === undefined ? [] : [`${this.port.name}: ${fault}`];
  }
}

/** Certificates of REST. */
export class RestCertificates extends PortCertificates {}

/** Certificates of the gRPC API. */
export class GrpcCertificates extends PortCertificates {}

/** Provides the certificates of the interfaces for users. */
@Module({})
export class CertificatesModule {
  static forRoot({ imports }: ModuleImports): DynamicModule {
    const sources = { core: CORE, backend: POSTGRES_BACKEND, index: INDEX };
    const rest = provideFrom(RestCertificates, sources, ({ core, backend: { store }, index }) => {
      return new RestCertificates(core, store, index, { name: 'REST', source: restCertificateSource(core.settings) });
    });
    const grpc = provideFrom(GrpcCertificates, sources, ({ core, backend: { store }, index }) => {
      return new GrpcCertificates(core, store, index, { name: 'gRPC', source: grpcCertificateSource(core.settings) });
    });
    return {
      module: CertificatesModule,
      imports,
      providers: [rest, grpc],
      exports: [RestCertificates, GrpcCertificates],
    };
  }
}
