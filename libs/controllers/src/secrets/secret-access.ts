import { includesUser, secretReferences, resolveSecretNames, secretUsers, type SecretResult } from '@causeway/kinds';
import { identityKey, type Identity, type Resource, type ResourceKey } from '@causeway/resources';
import type { IndexReader } from '@causeway/store';
import { keptUsers } from './kept-references';

/** The status field of a MeshExternalService whose client key clients had when the zone was upgraded. */
export const KEPT_CLIENT_KEY = 'keptClientKey';

/** The Secrets of its mesh that one resource may use. */
export interface SecretsOfUser {
  readonly secret: (name: string) => SecretResult;
  /** Reports whether clients that dial the service directly may have the key of its client certificate. */
  readonly givesKey: (source: string) => boolean;
}

/**
 * Decides which resources of a zone may use the Secrets of the meshes: those that a Secret lists, whoever wrote them and however they arrived. Until
 * a leader of this version has recorded the earlier users (`upgraded`), those may use them too.
 */
export class SecretAccess {
  constructor(
    private readonly index: Pick<IndexReader, 'get' | 'ofKind'>,
    private readonly zone: string,
    private readonly upgraded: () => boolean,
  ) {}

  of({ id, spec, status }: Resource): SecretsOfUser {
    return {
      secret: (name) => this.answer(id, spec, name),
      givesKey: (source) => status?.[KEPT_CLIENT_KEY] === source || !this.upgraded(),
    };
  }

  /** Returns the keys of the resources of a kind that name a Secret. Linear in all resources of the kind: Secrets change rarely. */
  listUsers({ mesh, name }: Pick<Identity, 'mesh' | 'name'>, kind: string): readonly ResourceKey[] {
    return [...this.index.ofKind(kind)].flatMap(({ id, spec }) =>
      id.mesh === mesh && secretReferences(kind, spec).some(({ secret }) => secret === name) ? [identityKey(id)] : [],
    );
  }

  private named(mesh: string, name: string): readonly Resource[] {
    return resolveSecretNames((id) => this.index.get(id), this.zone, { mesh, name });
  }

  private answer(user: Identity, spec: Resource['spec'], name: string): SecretResult {
    const found = this.named(user.mesh, name).find(
      (secret) => includesUser(secretUsers(secret), user) || this.isKeptUnlisted(secret, user, spec),
    );
    const data = found?.spec['data'];
    if (typeof data === 'string') return { ok: true, data };
    // The same text whether the Secret exists or not: a resource without access learns nothing about it.
    return { ok: false, reason: `no Secret "${name}" of the mesh lists ${user.kind} "${user.name}" in spec.usedBy` };
  }

  private isKeptUnlisted(secret: Resource, user: Identity, spec: Resource['spec']): boolean {
    if (this.upgraded() || secretUsers(secret) !== undefined) return false;
    const named = (name: string): Resource | undefined => this.named(user.mesh, name)[0];
    return keptUsers({ id: user, spec }, named).some((kept) => kept === secret);
  }
}
