import { hostname } from 'node:os';
import { createAuthority, createServerCertificate, type ServerCertificates } from '@causeway/access';
import type { ControlPlaneCore } from './core.module';
import { FileCertificates } from './file-certificates';

/** How the gRPC API proves itself to clients: TLS with the operator's files, with a certificate of this start, or not at all. */
export class GrpcCertificates {
  private opened: ServerCertificates | undefined;

  constructor(private readonly core: ControlPlaneCore) {}

  /** What clients are shown; undefined where TLS is off. Throws where the files cannot be used. */
  async open(): Promise<void> {
    const { settings, clock, logger } = this.core;
    const { CAUSEWAY_GRPC_TLS_CERT_FILE: certificateFile, CAUSEWAY_GRPC_TLS_KEY_FILE: keyFile } = settings;
    const wanted = settings.CAUSEWAY_GRPC_TLS ?? (isLoopback(settings.CAUSEWAY_BIND_ADDRESS) ? 'off' : 'on');
    if (certificateFile !== undefined && keyFile !== undefined && settings.CAUSEWAY_GRPC_TLS !== 'off') {
      this.opened = new FileCertificates({ certificateFile, keyFile, clock, logger });
    } else if (certificateFile !== undefined || keyFile !== undefined) {
      throw new Error(
        'CAUSEWAY_GRPC_TLS_CERT_FILE and CAUSEWAY_GRPC_TLS_KEY_FILE must be given together, and CAUSEWAY_GRPC_TLS must not be off',
      );
    } else if (wanted === 'on') {
      this.opened = await certificateOfThisStart(this.core);
      logger.warn('clients of the gRPC API cannot verify this certificate: it is made anew at each start', {
        settings: 'CAUSEWAY_GRPC_TLS_CERT_FILE, CAUSEWAY_GRPC_TLS_KEY_FILE',
      });
    }
  }

  /** What clients are shown; undefined where TLS is off. */
  current(): ServerCertificates | undefined {
    return this.opened;
  }

  close(): void {
    this.opened?.close();
  }
}

async function certificateOfThisStart({ settings, clock }: ControlPlaneCore): Promise<ServerCertificates> {
  const { CAUSEWAY_BIND_ADDRESS: bound } = settings;
  const now = clock.now();
  const authority = await createAuthority(now);
  const own = ['0.0.0.0', '::'].includes(bound) ? [] : [bound];
  const names = [...new Set([...own, hostname(), 'localhost', '127.0.0.1', '::1'])];
  const certificate = await createServerCertificate(authority, { names, now });
  return {
    current: () => certificate,
    authority: () => authority.certificate,
    fault: () => undefined,
    onChange: () => () => undefined,
    close: () => undefined,
  };
}

/** True for addresses that only this machine reaches. */
export function isLoopback(address: string): boolean {
  return address === 'localhost' || address === '::1' || address.startsWith('127.');
}
