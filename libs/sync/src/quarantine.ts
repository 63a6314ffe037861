import { createHash } from 'node:crypto';
import {
  identityKey,
  isJsonArray,
  isJsonObject,
  type Identity,
  type JsonValue,
  type Registry,
} from '@causeway/resources';

/** What of a zone the operator keeps away from the mesh (`Zone.spec.quarantine`). */
export interface Quarantine {
  /** The whole zone: no session, and its copies stay on the global alone. */
  readonly all: boolean;
  /** The single resources, at most a hundred. */
  readonly resources: readonly Identity[];
  /** Whether this resource is named. */
  includes(id: Identity): boolean;
  /**
   * Which resources of a kind are named, as a short text; empty where none is. A state that was taken in under another
   * text is not the state that is wanted now.
   */
  digest(kind: string): string;
}

/** Why a resource that is quarantined is not taken in. */
export const QUARANTINED = 'quarantined by the operator';

/** More are never written by an operator (the schema of Zone); what stands beyond in a store is ignored. */
const MAX_QUARANTINED = 100;

/** Reads the quarantine in the spec of the Zone `zone`; whatever makes no sense is ignored. */
export function quarantineOf(value: JsonValue | undefined, zone: string, registry: Registry): Quarantine {
  const { all, resources: named } = isJsonObject(value) ? value : {};
  const resources = (isJsonArray(named) ? named.slice(0, MAX_QUARANTINED) : []).flatMap((item) =>
    identityOf(item, zone, registry),
  );
  const keys = new Set(resources.map(identityKey));
  return {
    all: all === true,
    resources,
    includes: (id) => keys.has(identityKey(id)),
    digest: (kind) => {
      const own = resources.filter((id) => id.kind === kind).map(identityKey);
      return own.length === 0
        ? ''
        : createHash('sha256').update(JSON.stringify(own.sort())).digest('base64url').slice(0, 16);
    },
  };
}

/** Whether something that was quarantined no longer is: the zone must be asked for it again. */
export function releases(before: Quarantine, after: Quarantine): boolean {
  return (before.all && !after.all) || before.resources.some((id) => !after.includes(id));
}

function identityOf(item: JsonValue, zone: string, registry: Registry): readonly Identity[] {
  const { type, mesh, namespace, name } = isJsonObject(item) ? item : {};
  const kind = typeof type === 'string' ? registry.kind(type) : undefined;
  if (!kind || typeof name !== 'string') return [];
  const part = (given: JsonValue | undefined, has: boolean): string =>
    has ? (typeof given === 'string' ? given : 'default') : '';
  const id = {
    kind: kind.name,
    mesh: part(mesh, kind.scope === 'mesh'),
    zone,
    namespace: part(namespace, kind.namespaced),
    name,
  };
  return [id];
}
