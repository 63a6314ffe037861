import { X509Certificate } from 'node:crypto';
import type { DataplaneResource } from '@causeway/dataplanes';
import {
  Forbidden,
  globalIdentity,
  isJsonArray,
  isJsonObject,
  Label,
  shortened,
  Unavailable,
  type Identity,
  type JsonObject,
} from '@causeway/resources';
import { errorText } from '@causeway/runtime';
import type { IndexReader } from '@causeway/store';
import { openSealedText, SEALED_LABEL } from './sealed-secret';
import type { SealingKeys } from './sealing-keys';
import { listServedServices, findServicesProblem, type WorkloadBinding } from './workload-binding';
import { signCertificate, type CertificateTemplate } from './x509';
import type { SignedCertificate } from './zone-authority';

type Index = Pick<IndexReader, 'get'>;

/** Certificate of the authority of a whole mesh (`Mesh.mtls` of Kuma 2.14). */
export interface MeshAuthority {
  /** Mesh, whose name is the trust domain. */
  readonly mesh: string;
  readonly backend: string;
  /** PEM. */
  readonly certificate: string;
}

interface MeshSignedCertificate extends SignedCertificate {
  /** First SPIFFE id. */
  readonly uri: string;
  readonly meshAuthority: string;
}

/** Key and end of a certificate. */
type MeshCertificateTemplate = Omit<CertificateTemplate, 'uri' | 'otherUris'>;

/**
 * Signs certificates of Dataplanes as Kuma does: services as SPIFFE ids, tags as `kuma://<tag>/<value>`. Throws
 * Forbidden for the service of zone egresses, Unavailable if the key is not here, does not open or cannot sign.
 */
interface MeshSigner {
  sign(dataplane: DataplaneResource, order: MeshCertificateTemplate): Promise<MeshSignedCertificate>;
  /** Signs for a zone's egress in the mesh, with the service `zone-egress`, which no Dataplane can have. */
  signEgress(order: MeshCertificateTemplate): Promise<MeshSignedCertificate>;
}

/** Service of zone egresses in Kuma's certificates. */
const EGRESS_SERVICE = 'zone-egress';

/** Secrets of a `builtin` backend, by Kuma's names. */
export interface MeshAuthoritySecrets {
  readonly certificate: Identity;
  readonly key: Identity;
}

/** Maximum number of names in a certificate; more than a Dataplane can have. */
const MAX_NAMES = 1_024;

/** Returns the Secrets of a backend's certificate and key. */
export function meshAuthoritySecrets(mesh: string, backend: string): MeshAuthoritySecrets {
  const named = (part: string): Identity => ({
    ...globalIdentity('Secret', `${mesh}.ca-builtin-${part}-${backend}`),
    mesh,
  });
  return { certificate: named('cert'), key: named('key') };
}

/** Whether it is the Secret of a mesh authority's private key, which can impersonate every service. */
export function isMeshAuthorityKey({ kind, mesh, name }: Pick<Identity, 'kind' | 'mesh' | 'name'>): boolean {
  return kind === 'Secret' && name.startsWith(`${mesh}.ca-builtin-key-`);
}

/** Returns the `builtin` backend that a Mesh has enabled; undefined if it has none, or one of another type. */
export function findEnabledBackend(spec: JsonObject | undefined): string | undefined {
  const mtls = spec?.['mtls'];
  if (!isJsonObject(mtls)) return undefined;
  const { enabledBackend: name, backends } = mtls;
  if (typeof name !== 'string' || name === '' || !isJsonArray(backends)) return undefined;
  const found = backends.find((backend) => isJsonObject(backend) && backend['name'] === name);
  return isJsonObject(found) && found['type'] === 'builtin' ? name : undefined;
}

/** Returns the authority of a mesh; undefined if `Mesh.mtls` is off, and before its certificate was received. */
export function findMeshAuthority(index: Index, mesh: string): MeshAuthority | undefined {
  const backend = findEnabledBackend(index.get(globalIdentity('Mesh', mesh))?.spec);
  if (backend === undefined) return undefined;
  const data = index.get(meshAuthoritySecrets(mesh, backend).certificate)?.spec['data'];
  const certificate = typeof data === 'string' ? Buffer.from(data, 'base64').toString('utf8') : '';
  return certificate.trim() === '' ? undefined : { mesh, backend, certificate };
}

/** Returns the SPIFFE ids in Kuma's certificate of a Dataplane: one per service. */
export function listKumaSpiffeIds(dataplane: DataplaneResource): readonly string[] {
  return listServedServices(dataplane).map((service) => `spiffe://${dataplane.id.mesh}/${service}`);
}

/**
 * Returns why a credential does not prove the services of a Dataplane for which it is valid; undefined if it does.
 * Writers of Dataplanes choose their tags, so it needs the claim "Tags" with the services, or "Workload" for a service
 * named like the workload (docs/reference/kuma-interop.md).
 */
export function findServiceProblem(
  { tags, workload, services }: WorkloadBinding,
  dataplane: DataplaneResource,
): string | undefined {
  if (services !== undefined) return findServicesProblem(services, dataplane);
  if (tags?.[Label.service] !== undefined) return undefined;
  if (workload === undefined)
    return `must have the claim "Workload", or "Tags" with ${Label.service}: certificates of Mesh.mtls name services`;
  const other = listServedServices(dataplane).find((service) => service !== workload);
  if (other === undefined) return undefined;
  const [claimed, held] = [workload, other].map((text) => JSON.stringify(shortened(text, 200)));
  return `must have the claim "Tags" with ${Label.service}: "Workload" is ${claimed}, the Dataplane has the service ${held}`;
}

/** Signs for workloads with the authority of their mesh, if this control plane has its key (under a Kuma global). */
export class MeshAuthorities {
  constructor(
    private readonly index: Index,
    private readonly keys: SealingKeys,
  ) {}

  /** Returns the signer of a mesh; undefined if `Mesh.mtls` is off or its authority is unknown here. */
  findSigner(mesh: string): MeshSigner | undefined {
    const authority = findMeshAuthority(this.index, mesh);
    if (!authority) return undefined;
    const egress = [[Label.service, new Set([EGRESS_SERVICE])]] as const;
    return {
      sign: async (dataplane, order) => this.sign(authority, listCertificateNames(dataplane), order),
      signEgress: (order) => this.sign(authority, { uris: [egressUri(mesh)], tags: egress }, order),
    };
  }

  private async sign(
    { mesh, backend, certificate }: MeshAuthority,
    { uris: [uri = '', ...others], tags }: CertificateNames,
    order: MeshCertificateTemplate,
  ): Promise<MeshSignedCertificate> {
    const tagged = [...tags].flatMap(([tag, values]) => [...values].sort().map((value) => `kuma://${tag}/${value}`));
    const otherUris = [...others, ...tagged].slice(0, MAX_NAMES);
    try {
      const pair = { certificate, privateKey: this.privateKey(mesh, backend) };
      const signed = await signCertificate(pair, { ...order, uri, otherUris });
      const notAfter = Date.parse(new X509Certificate(signed).validTo);
      return { chain: `${signed}${certificate.trim()}\n`, notAfter, uri, meshAuthority: certificate };
    } catch (error) {
      if (error instanceof Unavailable) throw error;
      throw new Unavailable(`the authority of mesh ${mesh} cannot sign: ${errorText(error)}`, { cause: error });
    }
  }

  private privateKey(mesh: string, backend: string): string {
    const secret = this.index.get(meshAuthoritySecrets(mesh, backend).key);
    if (!secret) throw new Unavailable(`the key of the authority of mesh ${mesh} is not in this zone`);
    const { id, labels, spec } = secret;
    if (labels[SEALED_LABEL] === undefined) {
      const data = spec['data'];
      return Buffer.from(typeof data === 'string' ? data : '', 'base64').toString('utf8');
    }
    const opened = openSealedText(this.keys, id, spec);
    if (!opened.ok)
      throw new Unavailable(`the key of the authority of mesh ${mesh} cannot be opened: ${opened.reason}`);
    return opened.text;
  }
}

/** Names in a certificate of `Mesh.mtls`: SPIFFE ids, at least one, and tags with their values. */
interface CertificateNames {
  readonly uris: readonly string[];
  readonly tags: Iterable<readonly [tag: string, values: ReadonlySet<string>]>;
}

function listCertificateNames(dataplane: DataplaneResource): CertificateNames {
  const { name, mesh } = dataplane.id;
  const uris = listKumaSpiffeIds(dataplane);
  if (uris.length === 0) throw new Unavailable(`Dataplane ${name} has no service that Mesh.mtls names`);
  if (uris.includes(egressUri(mesh)))
    throw new Forbidden(`Dataplane ${name} has the service ${EGRESS_SERVICE}, which is that of zone egresses`);
  return { uris, tags: listTagValues(dataplane.spec) };
}

function egressUri(mesh: string): string {
  return `spiffe://${mesh}/${EGRESS_SERVICE}`;
}

/** Returns the values of each tag of a Dataplane, sorted by tag. */
function listTagValues({ networking }: DataplaneResource['spec']): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  const tagged = [...(networking.inbound ?? []), ...(networking.gateway ? [networking.gateway] : [])];
  for (const { tags = {} } of tagged)
    for (const [tag, value] of Object.entries(tags)) found.set(tag, (found.get(tag) ?? new Set()).add(value));
  return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}
