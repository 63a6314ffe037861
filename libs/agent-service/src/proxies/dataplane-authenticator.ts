import type { X509Certificate } from 'node:crypto';
import { Unauthenticated, type DataplaneClaims, type DataplaneTokens } from '@causeway/access';
import { LEASED_BY, REGISTERED_BY } from '@causeway/controllers';
import type { DataplaneResource } from '@causeway/dataplanes';
import {
  findBindingProblem,
  readWorkload,
  type Enrolments,
  type JoiningCredential,
  type WorkloadBinding,
} from '@causeway/identity';
import { Conflict, Forbidden, NotFound, Unavailable, type Identity } from '@causeway/resources';
import type { Clock } from '@causeway/runtime';
import type { IndexReader } from '@causeway/store';
import type { PeerCertificates } from './peer-certificates';
import { findDataplane, quoteText } from './proxy-callers';
import type { AuthorisedWorkload, WorkloadCaller } from './workload-certificate-service';

/** Dependencies of a `DataplaneAuthenticator`. */
export interface DataplaneAuthenticatorOptions {
  readonly zone: string;
  readonly index: Pick<IndexReader, 'get'>;
  readonly dataplaneTokens: Pick<DataplaneTokens, 'verify'>;
  /** Verifies callers that present a workload certificate. */
  readonly peers: Pick<PeerCertificates, 'verify'>;
  /** Returns the SPIFFE ids of a stored Dataplane, that of its next certificate first; empty if it has none. */
  readonly listIds: (dataplane: Identity) => readonly string[];
  readonly enrolments: Pick<Enrolments, 'join' | 'authoriseCertificate'>;
  readonly clock: Pick<Clock, 'sleep'>;
}

/** Maximum time that a proxy waits for its enrolment before it is served, ms. */
const ENROLMENT_TIMEOUT = 1_000;

/** Dataplane that a caller claims to be. */
export interface NamedDataplane {
  readonly mesh: string;
  readonly name: string;
  readonly namespace?: string;
}

/** Credentials that a caller presents. */
export interface ShownCredentials {
  /** Empty if there is none. */
  readonly token: string;
  readonly certificate?: X509Certificate | undefined;
}
/** Verified claims, and the certificate or token that proves them. */
export type VerifiedClaims = Pick<DataplaneClaims, 'id' | 'binding' | 'expiresAt'> &
  Pick<ShownCredentials, 'certificate'> & { readonly token?: JoiningCredential };
/** Authenticates callers as Dataplanes of this zone, by a workload certificate or a dataplane token. */
export class DataplaneAuthenticator {
  constructor(private readonly options: DataplaneAuthenticatorOptions) {}

  /** Returns the authorised Dataplane. Rejects with Unauthenticated, Forbidden, NotFound, Unavailable. */
  async authoriseWorkload({ mesh, name, token, certificate }: WorkloadCaller): Promise<AuthorisedWorkload> {
    const { binding, token: joining } = await this.verify({ mesh, name }, { token, certificate });
    const dataplane = this.findBoundDataplane({ mesh, name }, binding);
    await this.enrol(dataplane, joining);
    return { dataplane: dataplane.id, binding };
  }

  /** Verifies the certificate; the token if there is no certificate, or if it is not trusted. */
  async verify(node: NamedDataplane, { token, certificate }: ShownCredentials): Promise<VerifiedClaims> {
    if (!certificate) return this.verifyToken(node, token);
    try {
      return { ...(await this.verifyCertificate(node, certificate)), certificate };
    } catch (error) {
      if (token === '') throw error;
      return this.verifyToken(node, token);
    }
  }

  /** A certificate is valid for the Dataplanes that have its SPIFFE id. */
  private async verifyCertificate(node: NamedDataplane, certificate: X509Certificate): Promise<VerifiedClaims> {
    const { peers, listIds, enrolments } = this.options;
    const { uri, enrolment, expiresAt } = peers.verify(certificate, node.mesh);
    const dataplane = this.stored(node);
    const ids = listIds(dataplane.id);
    const [id = 'nobody: no MeshIdentity selects it'] = ids;
    if (!ids.includes(uri)) throw new Forbidden(`the client certificate is of ${uri}, the Dataplane is ${id}`);
    const services = (await enrolments.authoriseCertificate(dataplane.id, enrolment))?.spec.services;
    const binding = { mesh: node.mesh, workload: readWorkload(dataplane), ...(services && { services }) };
    return { id: '', binding, expiresAt };
  }

  /** Enrols the machine that presented a token. A Dataplane without a machine was written by a user. */
  private async enrol({ id, labels }: DataplaneResource, token: JoiningCredential | undefined): Promise<void> {
    const isOfUser = labels[LEASED_BY] === undefined && labels[REGISTERED_BY] === undefined;
    if (token) await this.options.enrolments.join(id, token, isOfUser);
  }

  /** Enrols a machine; without a store the proxy is served all the same, without a certificate. */
  async tryEnrol(dataplane: DataplaneResource, token: JoiningCredential | undefined): Promise<void> {
    const isDone = this.enrol(dataplane, token).catch((error: unknown) => {
      if (!(error instanceof Unavailable || error instanceof Conflict)) throw error;
    });
    // Bounds the wait if the store does not answer at all.
    const waiting = new AbortController();
    await Promise.race([isDone, this.options.clock.sleep(ENROLMENT_TIMEOUT, waiting.signal)]).finally(() =>
      waiting.abort(),
    );
  }

  /** Rejects with Unauthenticated, Forbidden, Unavailable. */
  async verifyToken({ mesh }: Pick<NamedDataplane, 'mesh'>, token: string): Promise<VerifiedClaims> {
    if (token === '') throw new Unauthenticated('metadata "authorization": must have a dataplane token');
    const claims = await this.options.dataplaneTokens.verify(token);
    if (claims.binding.mesh === mesh) return { ...claims, token: claims };
    throw new Forbidden(
      `the dataplane token is of mesh ${quoteText(claims.binding.mesh)}, the proxy of ${quoteText(mesh)}`,
    );
  }

  /** Returns the stored Dataplane if the token is valid for it. */
  findBoundDataplane(node: NamedDataplane, binding: WorkloadBinding): DataplaneResource {
    const dataplane = this.stored(node);
    const problem = findBindingProblem(binding, dataplane);
    if (problem !== undefined) throw new Forbidden(`the dataplane token ${problem}`);
    return dataplane;
  }

  private stored(node: NamedDataplane): DataplaneResource {
    const dataplane = findDataplane(this.options, node);
    if (dataplane) return dataplane;
    throw new NotFound(`there is no Dataplane ${quoteText(node.name)} in mesh ${quoteText(node.mesh)} of this zone`);
  }
}
