/**
 * What a resource is called in the whole mesh; it never changes on its way through the zones (design.md §1).
 * Parts that a kind does not have are empty strings: `mesh` of a global kind, `namespace` of a kind without
 * namespaces, `zone` of what was made on the global and of kinds that no zone owns (Mesh, Namespace, Zone).
 */
export interface Identity {
  readonly kind: string;
  readonly mesh: string;
  readonly zone: string;
  readonly namespace: string;
  readonly name: string;
}

/** The identity of a resource of global scope, such as a Mesh or a Zone: it has no mesh, zone and namespace. */
export function globalIdentity(kind: string, name: string): Identity {
  return { kind, mesh: '', zone: '', namespace: '', name };
}

/** One string for an identity, unique and cheap to make; it is a map key, not something to show. */
export function identityKey(id: Identity): string {
  return `${id.kind}/${id.mesh}/${id.zone}/${id.namespace}/${id.name}`;
}

/** The identity behind a key made by `identityKey`; no part may hold a slash, which the name rules ensure. */
export function parseIdentityKey(key: string): Identity {
  const [kind = '', mesh = '', zone = '', namespace = '', name = ''] = key.split('/');
  return { kind, mesh, zone, namespace, name };
}

/** The zone in a key made by `identityKey`, without taking the rest apart. */
export function zoneOfKey(key: string): string {
  const start = key.indexOf('/', key.indexOf('/') + 1) + 1;
  return key.slice(start, key.indexOf('/', start));
}

/** Total order of identities by kind, mesh, zone, namespace, name; code points, not a locale. */
export function compareIdentities(a: Identity, b: Identity): number {
  return (
    compareText(a.kind, b.kind) ||
    compareText(a.mesh, b.mesh) ||
    compareText(a.zone, b.zone) ||
    compareText(a.namespace, b.namespace) ||
    compareText(a.name, b.name)
  );
}

/** Order of two strings by UTF-16 code unit: the same on every machine. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** How people read an identity: `MeshService east/default/redis` (zone, namespace, name; empty parts left out). */
export function describeIdentity(id: Identity): string {
  const parts = [id.zone, id.namespace, id.name].filter((part) => part !== '');
  return `${id.kind} ${parts.join('/')}`;
}
