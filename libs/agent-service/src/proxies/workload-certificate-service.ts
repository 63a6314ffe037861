import type { X509Certificate } from 'node:crypto';
import { Unauthenticated } from '@causeway/access';
import type { WorkloadBinding } from '@causeway/identity';
import { WorkloadCertificateServiceService, type SignRequest, type SignResponse } from '@causeway/proto-gen';
import { DomainError, FieldPath, Invalid, shortened, type Identity, type Violation } from '@causeway/resources';
import { errorText, TokenBuckets, type Clock, type Logger } from '@causeway/runtime';
import { status, type sendUnaryData, type Server, type ServerUnaryCall } from '@grpc/grpc-js';
import type { ConnectionCredentials } from '@causeway/xds-server';
import type { TrustDomain } from '@causeway/xds-translation';
import type { CertificateSigner } from './certificate-signer';
import { dataplaneProxyId } from './proxy-views';

/** Caller, and the Dataplane for which it requests a certificate. */
export interface WorkloadCaller {
  readonly mesh: string;
  /** Name, or `name.namespace`. */
  readonly name: string;
  /** Dataplane token; empty if there is none. */
  readonly token: string;
  /** Certificate of the caller's TLS handshake, unverified. */
  readonly certificate?: X509Certificate;
}

/** Stored Dataplane, and the binding of the token that is valid for it. */
export interface AuthorisedWorkload {
  readonly dataplane: Identity;
  readonly binding: WorkloadBinding;
}

export interface WorkloadCertificateServiceOptions {
  readonly signer: CertificateSigner;
  /** Rejects with Unauthenticated, Forbidden, NotFound, Unavailable. */
  readonly authorise: (caller: WorkloadCaller) => Promise<AuthorisedWorkload>;
  /** Returns the authorities that workloads of a mesh trust. */
  readonly trust: (mesh: string) => readonly TrustDomain[];
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Rate of certificates for one Dataplane at one replica. A fleet behind one Dataplane shares it. */
const RATE = { perSecond: 0.5, burst: 20 };
/** Maximum number of concurrent calls: each verifies two signatures and creates one. */
const MAX_CONCURRENT = 32;
const MAX_NAME_LENGTH = 512;
/** Maximum length of an error text, which is sent in a header. */
const MAX_TEXT = 1_000;

const CODES: Readonly<Record<DomainError['type'], status>> = {
  NotFound: status.NOT_FOUND,
  Conflict: status.UNAVAILABLE,
  Invalid: status.INVALID_ARGUMENT,
  Forbidden: status.PERMISSION_DENIED,
  Unavailable: status.UNAVAILABLE,
};

/** More calls than are served. */
class Exhausted extends Error {}

/** `WorkloadCertificateService/Sign`: certificates for agents and programs without an ADS stream. */
export class WorkloadCertificateServer {
  private readonly rates: TokenBuckets;
  private underWay = 0;

  constructor(private readonly options: WorkloadCertificateServiceOptions) {
    this.rates = new TokenBuckets(RATE, options.clock);
  }

  /** Adds the service to a server; `streams`: credentials of the server's connections. */
  readonly addTo = (server: Server, streams: ConnectionCredentials): void => {
    server.addService(WorkloadCertificateServiceService, {
      sign: (call: ServerUnaryCall<SignRequest, SignResponse>, done: sendUnaryData<SignResponse>) =>
        void this.answer(call, streams).then(
          (response) => done(null, response),
          (error: unknown) => done({ code: this.toStatusCode(error), details: this.formatError(error) }),
        ),
    });
  };

  private async answer(
    { request, metadata }: ServerUnaryCall<SignRequest, SignResponse>,
    connections: ConnectionCredentials,
  ): Promise<SignResponse> {
    if (this.underWay >= MAX_CONCURRENT)
      throw new Exhausted(`this control plane signs ${MAX_CONCURRENT} certificates already`);
    this.underWay += 1;
    try {
      const certificate = connections.findCertificate(metadata);
      const token = tokenIn(metadata.get('authorization')[0]);
      return await this.sign(request, { token, ...(certificate && { certificate }) }, () =>
        connections.markAuthenticated(metadata),
      );
    } finally {
      this.underWay -= 1;
    }
  }

  private async sign(
    { mesh, dataplane: name, csr }: SignRequest,
    shown: Pick<WorkloadCaller, 'token' | 'certificate'>,
    authenticated: () => void,
  ): Promise<SignResponse> {
    const { signer, authorise, trust } = this.options;
    const violations = [...nameProblems('mesh', mesh), ...nameProblems('dataplane', name)];
    if (csr === '') violations.push(FieldPath.at('csr').violation('must not be empty', 'required'));
    if (violations.length > 0) throw new Invalid(violations);
    if (shown.token === '' && !shown.certificate)
      throw new Unauthenticated('metadata "authorization": must have a dataplane token');
    const { dataplane, binding } = await authorise({ mesh, name, ...shown });
    authenticated();
    const wait = this.rates.take(dataplaneProxyId(dataplane));
    if (wait !== undefined)
      throw new Exhausted(`too many certificates for Dataplane ${name}: one more in ${Math.ceil(wait / 1_000)} s`);
    const { chain, uri, notAfter, renewAt } = await signer.sign({ type: 'dataplane', dataplane, binding }, csr);
    return {
      certificateChain: chain,
      spiffeId: uri,
      trustBundles: trust(mesh).map((domain) => ({ trustDomain: domain.name, certificates: domain.pem })),
      notAfter,
      renewAt: Math.floor(renewAt),
    };
  }

  private toStatusCode(error: unknown): status {
    if (error instanceof Exhausted) return status.RESOURCE_EXHAUSTED;
    if (error instanceof Unauthenticated) return status.UNAUTHENTICATED;
    return error instanceof DomainError ? CODES[error.type] : status.INTERNAL;
  }

  private formatError(error: unknown): string {
    if (this.toStatusCode(error) !== status.INTERNAL) return shortened(errorText(error), MAX_TEXT, '…');
    this.options.logger.error('a certificate could not be signed', {
      error: error instanceof Error ? (error.stack ?? error.message) : errorText(error),
    });
    return 'internal error; the log of the control plane has it';
  }
}

function nameProblems(field: string, value: string): Violation[] {
  const at = FieldPath.at(field);
  if (value === '') return [at.violation('must not be empty', 'required')];
  if (value.length <= MAX_NAME_LENGTH) return [];
  return [at.violation(`must have at most ${MAX_NAME_LENGTH} characters, has ${value.length}`, 'too-long')];
}

function tokenIn(authorization: string | Buffer | undefined): string {
  return String(authorization ?? '')
    .replace(/^bearer +/i, '')
    .trim();
}
