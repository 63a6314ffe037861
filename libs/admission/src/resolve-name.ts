import { toAccessTarget, type CallerRights } from '@causeway/access';
import { wireName } from '@causeway/naming';
import {
  compareIdentities,
  compareText,
  describeIdentity,
  NotFound,
  ownZone,
  type ControlPlane,
  type Identity,
  type Kind,
  type Resource,
} from '@causeway/resources';
import type { IndexReader } from '@causeway/store';

/** Name of one resource in a request: from the URL in REST, from arguments in the CLI. */
export interface NameQuery {
  readonly kind: Kind;
  /** For kinds of mesh scope; the caller fills in a default for an absent mesh, so that none is unnamed. */
  readonly mesh?: string;
  /** For namespaced kinds; absent = `default`, and any namespace for a wire name. */
  readonly namespace?: string;
  /** Zone of origin; empty = the global; absent = made on this control plane. */
  readonly zone?: string;
  readonly name: string;
}

/** Returns the identity of a query with a plain name (docs/design.md §1). */
export function identityNamed(query: NameQuery, cp: ControlPlane): Identity {
  const { kind, name } = query;
  return {
    kind: kind.name,
    mesh: kind.scope === 'mesh' ? (query.mesh ?? '') : '',
    zone: query.zone ?? (kind.sync.zoneInIdentity ? ownZone(cp) : ''),
    namespace: kind.namespaced ? (query.namespace ?? 'default') : '',
    name,
  };
}

/**
 * Returns the resource that a query names: by plain name among those made here (or in the zone of the query), else by its name on the KDS wire.
 * Throws NotFound, whose message lists the zones that have the plain name: the result never depends on how many other zones have one. With `rights`
 * it throws AccessDenied unless the caller may get the named resource, whether it exists or not, and lists only resources that the caller may get.
 */
export function resolveName(index: IndexReader, cp: ControlPlane, query: NameQuery, rights?: CallerRights): Resource {
  const named = identityNamed(query, cp);
  const found = index.get(named) ?? visible(resolveWireName(index, query), rights);
  rights?.check('get', toAccessTarget(found?.id ?? named));
  if (found) return found;
  throw notFound(index, cp, query, rights && ((id) => rights.may('get', toAccessTarget(id))));
}

/** A wire name is not resolved for a caller that may not get the resource. */
function visible(wired: Resource | undefined, rights: CallerRights | undefined): Resource | undefined {
  return wired && rights?.may('get', toAccessTarget(wired.id)) !== false ? wired : undefined;
}

/** Returns the resource whose name on the KDS wire is `query.name`, if any (docs/reference/kds-wire.md §4.1). */
export function resolveWireName(index: IndexReader, query: NameQuery): Resource | undefined {
  if (!/-[bcdfghjklmnpqrstvwxz2456789]{16}$/.test(query.name)) return undefined;
  const prefix = query.name.slice(0, -17);
  for (const resource of index.ofKind(query.kind.name)) {
    if (!resource.id.name.startsWith(prefix) || !isAmong(resource, query)) continue;
    const { kind, mesh, name } = resource.id;
    if (wireName({ kind, mesh, name, labels: resource.labels }) === query.name) return resource;
  }
  return undefined;
}

/**
 * Returns the error for an unknown name; its message lists the zones and namespaces that have the name, as far as the
 * caller may see them.
 */
export function notFound(
  index: IndexReader,
  cp: ControlPlane,
  query: NameQuery,
  isVisible: (id: Identity) => boolean = () => true,
): NotFound {
  const id = identityNamed(query, cp);
  const sought = `${describeIdentity(id)}${id.mesh === '' ? '' : ` of mesh ${id.mesh}`}`;
  const isElsewhere = (one: Identity): boolean => one.name === id.name && one.mesh === id.mesh && isVisible(one);
  const elsewhere = [...index.ofKind(id.kind)].filter((r) => isElsewhere(r.id));
  if (elsewhere.length === 0) return new NotFound(`${sought} does not exist`);
  const places = elsewhere
    .map((r) => r.id)
    .sort(compareIdentities)
    .slice(0, 10)
    .map(formatScope);
  return new NotFound(
    `${sought} does not exist; this name exists with ${[...new Set(places)].sort(compareText).join(', ')}`,
  );
}

function formatScope(id: Identity): string {
  const zone = `zone=${id.zone}${id.zone === '' ? ' (the global)' : ''}`;
  return id.namespace === '' || id.namespace === 'default' ? zone : `${zone}&namespace=${id.namespace}`;
}

function isAmong(resource: Resource, query: NameQuery): boolean {
  const { id } = resource;
  if (query.kind.scope === 'mesh' && id.mesh !== (query.mesh ?? '')) return false;
  if (query.kind.namespaced && query.namespace !== undefined && id.namespace !== query.namespace) return false;
  return query.zone === undefined || id.zone === query.zone;
}
