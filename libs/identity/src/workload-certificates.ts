import { Dataplane, MeshIdentity } from '@causeway/kinds';
import { Forbidden, goDurationMs, Invalid, NotFound, Unavailable, type Identity } from '@causeway/resources';
import type { Clock } from '@causeway/runtime';
import type { IndexReader } from '@causeway/store';
import { findEnrolment, isEnrolmentInForce } from './enrolments';
import { findEgressIdentity } from './egress-identity';
import { readPresetPath } from './identity-paths';
import { bindingProblem, workloadProblem, type WorkloadBinding } from './workload-binding';
import { serviceProblem, type MeshAuthorities } from './mesh-authority';
import { identityFor, isSignedHere, resolveSpiffeId, type MeshIdentityResource } from './workload-id';
import { checkCsr } from './x509';
import { CERTIFICATE_VALIDITY, type CertificateIssuer, type SignedCertificate } from './zone-authority';

/** Shorter ones would be renewed all the time, ms. */
const SHORTEST_VALIDITY = 10_000;

/** A request for the certificate of one Dataplane. */
export interface CertificateRequest {
  readonly dataplane: Identity;
  /** Verified binding of the caller's token. */
  readonly binding: WorkloadBinding;
  /** PEM. */
  readonly csr: string;
}

/** A request for the certificate of a zone's egress in one mesh. */
export interface EgressCertificateRequest {
  readonly mesh: string;
  readonly zone: string;
  /** PEM. */
  readonly csr: string;
}

/** A certificate of a workload. */
export interface WorkloadCertificate extends SignedCertificate {
  /** The SPIFFE id; by the authority of a mesh the first of several. */
  readonly uri: string;
  /** The certificate of the authority of the mesh (`Mesh.mtls`) that signed; absent for the zone's own. */
  readonly meshAuthority?: string;
}

/** Dependencies of `WorkloadCertificates`. */
export interface WorkloadCertificateOptions {
  readonly index: Pick<IndexReader, 'get' | 'ofKind'>;
  readonly signer: CertificateIssuer;
  /** Whether a SPIFFE id of a mesh is revoked: it gets no certificate. */
  readonly isRevoked?: (mesh: string, uri: string) => boolean;
  /** For Dataplanes without a MeshIdentity, of meshes with `Mesh.mtls`. */
  readonly meshAuthorities?: MeshAuthorities;
  readonly clock: Pick<Clock, 'now'>;
  /** Maximum validity of certificates, ms; 24 h by default. */
  readonly validity?: number;
}

/**
 * Issues certificates for the keys of workloads, at every replica. The id comes from the stored Dataplane and its
 * MeshIdentity; of the CSR only the key counts.
 */
export class WorkloadCertificates {
  constructor(private readonly options: WorkloadCertificateOptions) {}

  /**
   * Throws NotFound without the Dataplane, Forbidden where the token is not bound to its workload, it is not enrolled, no MeshIdentity
   * applies or the id is revoked, Invalid for a bad CSR or a template that gives no id, Unavailable where the signer cannot sign.
   */
  async issue({ dataplane: id, binding, csr }: CertificateRequest): Promise<WorkloadCertificate> {
    const { index, signer, meshAuthorities, isRevoked, clock, validity = CERTIFICATE_VALIDITY } = this.options;
    const dataplane = index.get(id);
    if (!dataplane || !Dataplane.is(dataplane))
      throw new NotFound(`there is no Dataplane ${id.name} in mesh ${id.mesh}`);
    const identity = identityFor(dataplane, this.identities());
    const ofMesh = identity ? undefined : meshAuthorities?.authority(id.mesh);
    const problem = ofMesh
      ? (bindingProblem(binding, dataplane) ?? serviceProblem(binding, dataplane))
      : workloadProblem(binding, dataplane);
    if (problem !== undefined) throw new Forbidden(`the dataplane token ${problem}`);
    const enrolment = findEnrolment(index, id);
    if (!enrolment && isEnrolmentInForce(index, id.zone)) throw new Forbidden(`Dataplane ${id.name} is not enrolled`);
    const enrolled = enrolment && { enrolment: enrolment.uid };
    const now = clock.now();
    if (ofMesh) {
      const publicKey = await readPublicKey(csr);
      return ofMesh.sign(dataplane, { now, notAfter: now + validity, publicKey, ...enrolled });
    }
    if (!identity) throw new Forbidden(`no MeshIdentity of mesh ${id.mesh} selects Dataplane ${id.name}`);
    const { provider } = identity.spec;
    if (!isSignedHere(provider))
      throw new Forbidden(
        `MeshIdentity ${identity.id.name} has another authority than this zone's: provider ${provider.type}`,
      );
    const found = resolveSpiffeId(dataplane, identity, readPresetPath(index, id).signs);
    if (!found.ok) throw new Invalid(found.violations);
    const { uri } = found.id;
    if (isRevoked?.(id.mesh, uri)) throw new Forbidden(`the settings of mesh ${id.mesh} revoke ${uri}`);
    const notAfter = now + computeValidity(identity, validity);
    return { ...(await signer.sign({ now, notAfter, uri, publicKey: await readPublicKey(csr), ...enrolled })), uri };
  }

  /**
   * Issues the certificate of the zone's egress in one mesh; the caller has verified that it is the egress. Throws
   * Forbidden if no authority here signs for it (`findEgressIdentity`), Invalid for a bad CSR, Unavailable if the
   * signer cannot sign.
   */
  async issueToEgress({ mesh, zone, csr }: EgressCertificateRequest): Promise<WorkloadCertificate> {
    const { index, signer, meshAuthorities, clock, validity = CERTIFICATE_VALIDITY } = this.options;
    const id = findEgressIdentity(index, { mesh, zone });
    if (!id)
      throw new Forbidden(
        `in mesh ${mesh} nobody signs for the egress of this zone: no MeshIdentity, and no Mesh.mtls`,
      );
    const { uri } = id;
    const now = clock.now();
    const order = { now, notAfter: now + validity, publicKey: await readPublicKey(csr) };
    if (id.authority === 'zone') return { ...(await signer.sign({ ...order, uri })), uri };
    const authority = meshAuthorities?.authority(mesh);
    if (!authority) throw new Unavailable(`the authority of mesh ${mesh} is not here`);
    return authority.signEgress(order);
  }

  private identities(): readonly MeshIdentityResource[] {
    return [...this.options.index.ofKind(MeshIdentity.name)].filter((one) => MeshIdentity.is(one));
  }
}

/** A MeshIdentity may shorten the validity of the zone: rotation and tombstones count on no certificate that lives longer. */
function computeValidity({ spec: { provider } }: MeshIdentityResource, longest: number): number {
  const expiry = goDurationMs(provider.bundled?.certificateParameters?.expiry ?? '');
  return expiry === undefined ? longest : Math.min(longest, Math.max(SHORTEST_VALIDITY, expiry));
}

async function readPublicKey(csr: string): Promise<Buffer> {
  const checked = await checkCsr(csr);
  if (!checked.ok) throw new Invalid([checked.violation]);
  return checked.publicKey;
}
