import type { FieldPath, Violation } from './violation';

/**
 * Identity of a resource in the whole mesh; it is the same in every zone (docs/design.md §1). Parts that a kind does
 * not have are empty strings: `mesh` of a global kind, `namespace` of a kind without namespaces, `zone` of resources
 * created on the global and of kinds that no zone owns (Mesh, Namespace, Zone).
 */
export interface Identity {
  readonly kind: string;
  readonly mesh: string;
  readonly zone: string;
  readonly namespace: string;
  readonly name: string;
}

/** Returns the identity of a resource of global scope, such as a Mesh or a Zone: it has no mesh, zone and namespace. */
export function globalIdentity(kind: string, name: string): Identity {
  return { kind, mesh: '', zone: '', namespace: '', name };
}

/**
 * A unique text for an identity, `kind/mesh/zone/namespace/name`: a map key, not for display. Only `identityKey`
 * formats it, and only `parseIdentityKey` parses it.
 */
export type ResourceKey = `${string}/${string}/${string}/${string}/${string}`;

/** Returns the key of an identity in constant time. */
export function identityKey(id: Identity): ResourceKey {
  return `${id.kind}/${id.mesh}/${id.zone}/${id.namespace}/${id.name}`;
}

/** Whether external text has the form of a key. */
export function isResourceKey(text: string): text is ResourceKey {
  return text.split('/').length === 5;
}

/** Returns the identity in a key made by `identityKey`. The name rules ensure that no part contains a slash. */
export function parseIdentityKey(key: ResourceKey): Identity {
  const [kind = '', mesh = '', zone = '', namespace = '', name = ''] = key.split('/');
  return { kind, mesh, zone, namespace, name };
}

/** Returns the zone in a key made by `identityKey`, without parsing the other parts. */
export function zoneOfKey(key: ResourceKey): string {
  const start = key.indexOf('/', key.indexOf('/') + 1) + 1;
  return key.slice(start, key.indexOf('/', start));
}

/** Total order of identities by kind, mesh, zone, namespace, name, independent of the locale. */
export function compareIdentities(a: Identity, b: Identity): number {
  return (
    compareText(a.kind, b.kind) ||
    compareText(a.mesh, b.mesh) ||
    compareText(a.zone, b.zone) ||
    compareText(a.namespace, b.namespace) ||
    compareText(a.name, b.name)
  );
}

/** Order of two strings by UTF-16 code unit, equal on every machine. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Formats an identity for messages: `MeshService east/default/redis` (zone, namespace, name; without empty parts). */
export function describeIdentity(id: Identity): string {
  const parts = [id.zone, id.namespace, id.name].filter((part) => part !== '');
  return `${id.kind} ${parts.join('/')}`;
}

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LABEL_1035 = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;

/** True for an RFC 1035 label of at most 63 characters: a name that Kuma and DNS accept. */
export function isDnsLabel(name: string): boolean {
  return name.length <= 63 && LABEL_1035.test(name);
}

const LABEL_1123 = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/** Returns violations if a namespace is not an RFC 1123 label: it is also the value of a label and part of hostnames. */
export function checkNamespace(namespace: string, at: FieldPath): Violation[] {
  if (namespace.length <= 63 && LABEL_1123.test(namespace)) return [];
  return [
    at.violation(
      `must be lower-case letters, digits and '-', at most 63, starting and ending with a letter or digit; got "${namespace}"`,
    ),
  ];
}

/** Returns violations of the rule for resource names. */
export function checkName(name: string, at: FieldPath): Violation[] {
  if (name === '') return [at.violation('must not be empty', 'required')];
  if (name.length > 253)
    return [at.violation(`must not be longer than 253 characters, has ${name.length}`, 'too-long')];
  if (!SUBDOMAIN.test(name)) {
    return [
      at.violation(
        `must be an RFC 1123 subdomain: lower-case letters, digits, '-' and '.', starting and ending with a letter or digit; got "${name}"`,
        'wrong-form',
      ),
    ];
  }
  return [];
}
