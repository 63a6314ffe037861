import type { Identity, JsonValue, Resource } from '@causeway/resources';

/** The names under which Kuma stores the certificates and keys of its authorities: given to no service. */
const AUTHORITY_SECRET = /\.ca-(builtin|provided)-|-(root-ca|private-key)$/;

/**
 * The Secrets that a name in a resource of a mesh may mean, in the order in which they are asked: the global's, then those of `zone`, which
 * is empty on the global.
 */
export function secretsNamed(
  get: (id: Identity) => Resource | undefined,
  zone: string,
  { mesh, name }: Pick<Identity, 'mesh' | 'name'>,
): readonly Resource[] {
  if (AUTHORITY_SECRET.test(name)) return [];
  return [...new Set(['', zone])].flatMap((of) => get({ kind: 'Secret', mesh, zone: of, namespace: '', name }) ?? []);
}

/** The status field of a Secret's copy with the users that this zone found when it was upgraded. */
export const KEPT_USERS = 'usedBy';

/** The users of a Secret: those that it lists, or, of a copy that came without a list, those that were kept at the upgrade. */
export function secretUsers({ spec, status }: Pick<Resource, 'spec' | 'status'>): JsonValue | undefined {
  return spec['usedBy'] ?? status?.[KEPT_USERS];
}
