import { createHash } from 'node:crypto';
import {
  identityKey,
  isJsonArray,
  isJsonObject,
  type Identity,
  type JsonValue,
  type Registry,
} from '@causeway/resources';

/** Resources of a zone that the operator excludes from the mesh (`Zone.spec.quarantine`). */
export interface Quarantine {
  /** The whole zone: it gets no session, and its copies stay on the global. */
  readonly all: boolean;
  /** Single resources, at most a hundred. */
  readonly resources: readonly Identity[];
  /** Returns whether this resource is quarantined. */
  includes(id: Identity): boolean;
  /**
   * Returns a short hash of the quarantined resources of a kind; empty if there are none. A state received under
   * another digest must be requested again.
   */
  digest(kind: string): string;
}

/** The reason with which a quarantined resource is rejected. */
export const QUARANTINED = 'quarantined by the operator';

/** Maximum in the schema of Zone; further ones in a store are ignored. */
const MAX_QUARANTINED = 100;

/** Reads the quarantine in the spec of the Zone `zone`; entries that cannot be read are ignored. */
export function readQuarantine(value: JsonValue | undefined, zone: string, registry: Registry): Quarantine {
  const { all, resources: named } = isJsonObject(value) ? value : {};
  const resources = (isJsonArray(named) ? named.slice(0, MAX_QUARANTINED) : []).flatMap((item) =>
    readIdentities(item, zone, registry),
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

/** Reports whether a resource is released, so that it must be requested from the zone again. */
export function releases(before: Quarantine, after: Quarantine): boolean {
  return (before.all && !after.all) || before.resources.some((id) => !after.includes(id));
}

/** An unknown kind may be a declared kind from earlier or later: declared kinds all have this shape. */
const DECLARED = { scope: 'mesh', namespaced: true } as const;

function readIdentities(item: JsonValue, zone: string, registry: Registry): readonly Identity[] {
  const { type, mesh, namespace, name } = isJsonObject(item) ? item : {};
  if (typeof type !== 'string' || typeof name !== 'string') return [];
  const kind = registry.kind(type) ?? { name: type, ...DECLARED };
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
