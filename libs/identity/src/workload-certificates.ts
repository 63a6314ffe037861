import { Dataplane, MeshIdentity } from '@causeway/kinds';
import { Forbidden, goDurationMs, Invalid, NotFound, Unavailable, type Identity } from '@causeway/resources';
import type { Clock } from '@causeway/runtime';
import type { IndexReader } from '@causeway/store';
import { findEnrolment, isEnrolmentInForce } from './stored-enrolments';
import { findEgressIdentity } from './egress-identity';
import { readPresetPath } from './identity-paths';
import { findBindingProblem, findWorkloadProblem, type WorkloadBinding } from './workload-binding';
import { findServiceProblem, type MeshAuthorities } from './mesh-authority';
import { selectIdentity, isSignedHere, resolveSpiffeId, type MeshIdentityResource } from './workload-id';
import { checkCsr } from './x509';
import { CERTIFICATE_VALIDITY, type CertificateIssuer, type SignedCertificate } from './zone-authority';

/** Minimum validity, ms: shorter certificates would be renewed permanently. */
const SHORTEST_VALIDITY = 10_000;

/** Request for the certificate of one Dataplane. */
export interface CertificateRequest {
  readonly dataplane: Identity;
  /** Verified binding of the caller's token. */
  readonly binding: WorkloadBinding;
  /** PEM. */
  readonly csr: string;
}

/** Request for the certificate of a zone's egress in one mesh. */
export interface EgressCertificateRequest {
  readonly mesh: string;
  readonly zone: string;
  /** PEM. */
  readonly csr: string;
}

/** Certificate of a workload. */
export interface WorkloadCertificate extends SignedCertificate {
  /** SPIFFE id; with a mesh's own authority the first of several. */
  readonly uri: string;
  /** Certificate of the mesh's authority (`Mesh.mtls`) that signed it; absent for the zone's own. */
  readonly meshAuthority?: string;
}

/** Dependencies of `WorkloadCertificates`. */
export interface WorkloadCertificateOptions {
  readonly index: Pick<IndexReader, 'get' | 'ofKind'>;
  readonly signer: CertificateIssuer;
  /** Returns whether a SPIFFE id of a mesh is revoked: no certificate is issued for it. */
  readonly isRevoked?: (mesh: string, uri: string) => boolean;
  /** Signs for Dataplanes without a MeshIdentity, in meshes with `Mesh.mtls`. */
  readonly meshAuthorities?: MeshAuthorities;
  readonly clock: Pick<Clock, 'now'>;
  /** Maximum validity of certificates, ms; default: 24 h. */
  readonly validity?: number;
}

/**
 * Issues certificates for the keys of workloads, at every replica. The id comes from the stored Dataplane and its
 * MeshIdentity; the CSR only provides the key.
 */
export class WorkloadCertificates {
  constructor(private readonly options: WorkloadCertificateOptions) {}

  /**
   * Throws NotFound (no Dataplane), Forbidden (token not bound to its workload, not enrolled, no MeshIdentity, id
   * revoked), Invalid (bad CSR, or a template without an id), Unavailable (the signer cannot sign).
   */
  async issue({ dataplane: id, binding, csr }: CertificateRequest): Promise<WorkloadCertificate> {
    const { index, signer, meshAuthorities, isRevoked, clock, validity = CERTIFICATE_VALIDITY } = this.options;
    const dataplane = index.get(id);
    if (!dataplane || !Dataplane.is(dataplane))
      throw new NotFound(`there is no Dataplane ${id.name} in mesh ${id.mesh}`);
    const identity = selectIdentity(dataplane, this.identities());
    const ofMesh = identity ? undefined : meshAuthorities?.findSigner(id.mesh);
    const problem = ofMesh
      ? (findBindingProblem(binding, dataplane) ?? findServiceProblem(binding, dataplane))
      : findWorkloadProblem(binding, dataplane);
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
        `mesh ${mesh} has no authority for the egress of this zone: neither a MeshIdentity nor Mesh.mtls`,
      );
    const { uri } = id;
    const now = clock.now();
    const order = { now, notAfter: now + validity, publicKey: await readPublicKey(csr) };
    if (id.authority === 'zone') return { ...(await signer.sign({ ...order, uri })), uri };
    const authority = meshAuthorities?.findSigner(mesh);
    if (!authority) throw new Unavailable(`the authority of mesh ${mesh} is not in this zone`);
    return authority.signEgress(order);
  }

  private identities(): readonly MeshIdentityResource[] {
    return [...this.options.index.ofKind(MeshIdentity.name)].filter((one) => MeshIdentity.is(one));
  }
}

/** Returns the validity: a MeshIdentity may only shorten that of the zone, on which rotation and tombstones rely. */
function computeValidity({ spec: { provider } }: MeshIdentityResource, longest: number): number {
  const expiry = goDurationMs(provider.bundled?.certificateParameters?.expiry ?? '');
  return expiry === undefined ? longest : Math.min(longest, Math.max(SHORTEST_VALIDITY, expiry));
}

async function readPublicKey(csr: string): Promise<Buffer> {
  const checked = await checkCsr(csr);
  if (!checked.ok) throw new Invalid([checked.violation]);
  return checked.publicKey;
}
