import type { X509Certificate } from 'node:crypto';
import { Unauthenticated, type DataplaneClaims, type DataplaneTokens } from '@causeway/access';
import { LEASED_BY, REGISTERED_BY } from '@causeway/controllers';
import type { DataplaneResource } from '@causeway/dataplanes';
import {
  bindingProblem,
  readWorkload,
  type Enrolments,
  type JoiningCredential,
  type WorkloadBinding,
} from '@causeway/identity';
import { Conflict, Forbidden, NotFound, Unavailable, type Identity } from '@causeway/resources';
import type { Clock } from '@causeway/runtime';
import type { IndexReader } from '@causeway/store';
import type { PeerCertificates } from './peer-certificates';
import { dataplaneNamed, quoted } from './proxy-callers';
import type { AuthorisedWorkload, WorkloadCaller } from './workload-certificate-service';

/** Inputs of the checks of callers. */
export interface DataplaneAuthenticatorOptions {
  readonly zone: string;
  readonly index: Pick<IndexReader, 'get'>;
  readonly dataplaneTokens: Pick<DataplaneTokens, 'verify'>;
  /** For callers that show the certificate of their workload. */
  readonly peers: Pick<PeerCertificates, 'verify'>;
  /** The SPIFFE ids by which a stored Dataplane is known, that of its next certificate first; none where it has none. */
  readonly listIds: (dataplane: Identity) => readonly string[];
  readonly enrolments: Pick<Enrolments, 'join' | 'certified'>;
  readonly clock: Pick<Clock, 'sleep'>;
}

/** How long a proxy waits for its enrolment before it is served, ms. */
const ENROLMENT_TIMEOUT = 1_000;

/** The Dataplane that a caller says it is of. */
export interface NamedDataplane {
  readonly mesh: string;
  readonly name: string;
  readonly namespace?: string;
}

/** The credentials that a caller shows. */
export interface ShownCredentials {
  /** Empty where there is none. */
  readonly token: string;
  readonly certificate?: X509Certificate | undefined;
}
/** Verified claims, and the certificate or the token that they come from. */
export type VerifiedClaims = Pick<DataplaneClaims, 'id' | 'binding' | 'expiresAt'> &
  Pick<ShownCredentials, 'certificate'> & { readonly token?: JoiningCredential };
/** Proves that callers are of a Dataplane of this zone: by the certificate of their workload, or by a dataplane token that holds for it. */
export class DataplaneAuthenticator {
  constructor(private readonly options: DataplaneAuthenticatorOptions) {}

  /** The stored Dataplane that a certificate or a token holds for. Rejects with Unauthenticated, Forbidden, NotFound, Unavailable. */
  async authoriseWorkload({ mesh, name, token, certificate }: WorkloadCaller): Promise<AuthorisedWorkload> {
    const { binding, token: joining } = await this.verify({ mesh, name }, { token, certificate });
    const dataplane = this.bound({ mesh, name }, binding);
    await this.enrol(dataplane, joining);
    return { dataplane: dataplane.id, binding };
  }

  /** By the certificate; by the token where there is none, or where it is not believed. */
  async verify(node: NamedDataplane, { token, certificate }: ShownCredentials): Promise<VerifiedClaims> {
    if (!certificate) return this.verifyToken(node, token);
    try {
      return { ...(await this.verifiedCertificate(node, certificate)), certificate };
    } catch (error) {
      if (token === '') throw error;
      return this.verifyToken(node, token);
    }
  }

  /** A certificate holds for the Dataplanes whose id it has. */
  private async verifiedCertificate(node: NamedDataplane, certificate: X509Certificate): Promise<VerifiedClaims> {
    const { peers, listIds, enrolments } = this.options;
    const { uri, enrolment, expiresAt } = peers.verify(certificate, node.mesh);
    const dataplane = this.stored(node);
    const ids = listIds(dataplane.id);
    const [id = 'nobody: no MeshIdentity selects it'] = ids;
    if (!ids.includes(uri)) throw new Forbidden(`the client certificate is of ${uri}, the Dataplane is ${id}`);
    const services = (await enrolments.certified(dataplane.id, enrolment))?.spec.services;
    const binding = { mesh: node.mesh, workload: readWorkload(dataplane), ...(services && { services }) };
    return { id: '', binding, expiresAt };
  }

  /** Enrols the machine of a Dataplane that showed a token. A Dataplane that no machine registered was written by a user. */
  private async enrol({ id, labels }: DataplaneResource, token: JoiningCredential | undefined): Promise<void> {
    const isOfUser = labels[LEASED_BY] === undefined && labels[REGISTERED_BY] === undefined;
    if (token) await this.options.enrolments.join(id, token, isOfUser);
  }

  /** The same before its proxy is served: one that cannot be enrolled for want of the store is served all the same, without a certificate. */
  async enrolSoon(dataplane: DataplaneResource, token: JoiningCredential | undefined): Promise<void> {
    const isDone = this.enrol(dataplane, token).catch((error: unknown) => {
      if (!(error instanceof Unavailable || error instanceof Conflict)) throw error;
    });
    // Where the store does not answer at all, nobody waits for it.
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
    throw new Forbidden(`the dataplane token is of mesh ${quoted(claims.binding.mesh)}, the proxy of ${quoted(mesh)}`);
  }

  /** The stored Dataplane, if the token holds for it. */
  bound(node: NamedDataplane, binding: WorkloadBinding): DataplaneResource {
    const dataplane = this.stored(node);
    const problem = bindingProblem(binding, dataplane);
    if (problem !== undefined) throw new Forbidden(`the dataplane token ${problem}`);
    return dataplane;
  }

  private stored(node: NamedDataplane): DataplaneResource {
    const dataplane = dataplaneNamed(this.options, node);
    if (dataplane) return dataplane;
    throw new NotFound(`there is no Dataplane ${quoted(node.name)} in mesh ${quoted(node.mesh)} of this zone`);
  }
}
