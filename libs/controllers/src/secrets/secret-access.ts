import { namesUser, type SecretAnswer } from '@causeway/kinds';
import type { Identity, JsonValue, Resource } from '@causeway/resources';
import type { IndexReader } from '@causeway/store';
import { keptUsers } from './kept-references';

/** The names under which Kuma stores the certificates and keys of its authorities. */
const AUTHORITY_SECRET = /\.ca-(builtin|provided)-|-(root-ca|private-key)$/;

/** The status field of a Secret's copy with the users that this zone had when it was upgraded; the global's own list replaces it. */
export const KEPT_USERS = 'usedBy';
/** The status field of a MeshExternalService whose client key clients had when the zone was upgraded. */
export const KEPT_CLIENT_KEY = 'keptClientKey';

/** What one resource may take of the Secrets of its mesh. */
export interface SecretsOfUser {
  readonly secret: (name: string) => SecretAnswer;
  /** Whether clients that dial the service themselves may have the key of its client certificate. */
  readonly givesKey: (source: string) => boolean;
}

/** Secrets that a name may mean, in the order in which they are asked: the global's, then the zone's own. */
export function secretsNamed(
  index: Pick<IndexReader, 'get'>,
  zone: string,
  { mesh, name }: Pick<Identity, 'mesh' | 'name'>,
): readonly Resource[] {
  if (AUTHORITY_SECRET.test(name)) return [];
  const zones = zone === '' ? [''] : ['', zone];
  return zones.flatMap((of) => index.get({ kind: 'Secret', mesh, zone: of, namespace: '', name }) ?? []);
}

/** The users that a Secret lists, or, of a copy whose control plane knows no such list, those that were kept at the upgrade. */
export function usersOf({ spec, status }: Pick<Resource, 'spec' | 'status'>): JsonValue | undefined {
  return spec['usedBy'] ?? status?.[KEPT_USERS];
}

/**
 * To which resources of a zone the Secrets of the meshes are given: to those that a Secret lists, whoever wrote them and whatever way
 * they came. Until a leader of this version has written down what was in use before it (`upgraded`), that is in use too.
 */
export class SecretAccess {
  constructor(
    private readonly index: Pick<IndexReader, 'get'>,
    private readonly zone: string,
    private readonly upgraded: () => boolean,
  ) {}

  of({ id, spec, status }: Resource): SecretsOfUser {
    return {
      secret: (name) => this.answer(id, spec, name),
      givesKey: (source) => status?.[KEPT_CLIENT_KEY] === source || !this.upgraded(),
    };
  }

  private answer(user: Identity, spec: Resource['spec'], name: string): SecretAnswer {
    const found = secretsNamed(this.index, this.zone, { mesh: user.mesh, name }).find(
      (secret) => namesUser(usersOf(secret), user) || this.isKeptUnlisted(secret, user, spec),
    );
    const data = found?.spec['data'];
    if (typeof data === 'string') return { ok: true, data };
    // The same whether there is such a Secret: who may not use it learns nothing of it.
    return { ok: false, reason: `no Secret "${name}" of the mesh lists ${user.kind} "${user.name}" in spec.usedBy` };
  }

  private isKeptUnlisted(secret: Resource, user: Identity, spec: Resource['spec']): boolean {
    if (this.upgraded() || usersOf(secret) !== undefined) return false;
    const named = (name: string): Resource | undefined =>
      secretsNamed(this.index, this.zone, { mesh: user.mesh, name })[0];
    return keptUsers({ id: user, spec }, named).some((kept) => kept === secret);
  }
}
