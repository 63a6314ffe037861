import type { Identity, JsonValue, Resource } from '@causeway/resources';

/** Names under which Kuma stores certificates and keys of its authorities: no service gets these Secrets. */
const AUTHORITY_SECRET = /\.ca-(builtin|provided)-|-(root-ca|private-key)$/;

/**
 * Returns the Secrets that a name in a resource of a mesh can mean, in order of lookup: the global's, then those of
 * `zone`. `zone` is empty on the global.
 */
export function resolveSecretNames(
  get: (id: Identity) => Resource | undefined,
  zone: string,
  { mesh, name }: Pick<Identity, 'mesh' | 'name'>,
): readonly Resource[] {
  if (AUTHORITY_SECRET.test(name)) return [];
  return [...new Set(['', zone])].flatMap((of) => get({ kind: 'Secret', mesh, zone: of, namespace: '', name }) ?? []);
}

/** Status field of a Secret's copy that lists the users found in this zone when it was upgraded. */
export const RECORDED_USERS = 'usedBy';

/** Returns the users of a Secret: those in its spec or, for a copy without a list, those recorded at the upgrade. */
export function secretUsers({ spec, status }: Pick<Resource, 'spec' | 'status'>): JsonValue | undefined {
  return spec['usedBy'] ?? status?.[RECORDED_USERS];
}
