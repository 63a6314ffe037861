import { listAuthorityIds } from '@causeway/identity';
import { MeshTrust } from '@causeway/kinds';
import { compareText, isJsonArray, isJsonObject, shortened, type JsonObject, type Resource } from '@causeway/resources';
import type { IndexReader } from '@causeway/store';
import { getAcceptedTrust, type KnownProxy } from '../proxies/known-proxies';
import type { TrustResource } from './plan-trust';

/**
 * Authorities of one mesh that the connected proxies of a zone have accepted. It is `status.proxies` of the MeshTrusts that the zone publishes and
 * syncs to the global; the global writes it in `status.trust` of the Zone, which is synced to all zones.
 */
export interface TrustAcceptance {
  /** Ids of authorities that all of these proxies have accepted, sorted: for trust domains that have more than one. */
  readonly accepted: readonly string[];
  /** Proxies that lack one of them: the total, and the first names. */
  readonly missing: { readonly total: number; readonly items: readonly string[] };
}

/** The acceptance of one zone in one mesh. */
interface ZoneAcceptance extends TrustAcceptance {
  readonly mesh: string;
}

/** Limits of `status.trust`: a Zone is synced to every zone. */
const MAX_MESHES = 200;
const MAX_IDS = 1_000;
const MAX_NAMED = 3;
const MAX_NAME_LENGTH = 100;

/** The authorities by mesh: sorted ids, with the revision of the log since which connecting proxies are sent the authority. */
export type RotatingAuthorities = ReadonlyMap<string, ReadonlyMap<string, number>>;

/**
 * Returns the authorities of the trust domains for which the global passes on more than one: one of them may be new. An authority in `before` keeps
 * its revision. Linear in the MeshTrusts, and in the certificates of these domains.
 */
export function rotatingAuthorities(
  index: Pick<IndexReader, 'ofKind'>,
  before: RotatingAuthorities = new Map(),
): RotatingAuthorities {
  const byMesh = new Map<string, Map<string, number>>();
  for (const trust of index.ofKind(MeshTrust.name)) {
    if (trust.id.zone !== '' || !MeshTrust.is(trust)) continue;
    const ids = listAuthorities(trust);
    if (ids.length < 2) continue;
    const { mesh } = trust.id;
    const known = byMesh.get(mesh) ?? new Map<string, number>();
    byMesh.set(mesh, known);
    for (const id of ids)
      known.set(id, Math.min(known.get(id) ?? Infinity, before.get(mesh)?.get(id) ?? trust.revision));
  }
  const sorted = (ids: ReadonlyMap<string, number>) => [...ids].sort(([a], [b]) => compareText(a, b)).slice(0, MAX_IDS);
  return new Map([...byMesh].map(([mesh, ids]) => [mesh, new Map(sorted(ids))]));
}

/** Certificates are parsed once for each stored state. */
const parsed = new WeakMap<TrustResource, readonly string[]>();

function listAuthorities(trust: TrustResource): readonly string[] {
  const known = parsed.get(trust);
  if (known) return known;
  const pems = trust.spec.caBundles.map(({ pem }) => pem?.value ?? '');
  const isSingle = pems.join('').split('-----BEGIN CERTIFICATE-----').length < 3;
  const ids = isSingle ? [] : [...new Set(pems.flatMap(listAuthorityIds))];
  parsed.set(trust, ids);
  return ids;
}

/**
 * Returns the part of `rotating` that the connected proxies that request trust have accepted, by mesh; an egress counts in each of its meshes. An
 * authority that was first sent after `heardUpTo` is not accepted: a proxy may have connected before that and be unknown yet
 * (`ProxyDirectory.heardUpTo`). Linear in both.
 */
export function computeAcceptance(
  proxies: Iterable<KnownProxy>,
  rotating: RotatingAuthorities,
  heardUpTo: number,
): ReadonlyMap<string, TrustAcceptance> {
  const lacking = new Map<string, Set<string>>();
  const waiting = new Map<string, string[]>();
  for (const known of proxies)
    for (const [mesh, held] of getAcceptedTrust(known)) {
      const accepted = new Set(held);
      const missing = [...(rotating.get(mesh)?.keys() ?? [])].filter((id) => !accepted.has(id));
      if (missing.length === 0) continue;
      const ids = lacking.get(mesh) ?? new Set();
      lacking.set(mesh, ids);
      for (const id of missing) ids.add(id);
      const names = waiting.get(mesh) ?? [];
      waiting.set(mesh, names);
      names.push(known.proxy);
    }
  return new Map(
    [...rotating].map(([mesh, ids]) => {
      const without = lacking.get(mesh);
      const names = (waiting.get(mesh) ?? []).sort(compareText);
      const missing = { total: names.length, items: names.slice(0, MAX_NAMED).map(shortName) };
      const accepted = [...ids].flatMap(([id, since]) => (since <= heardUpTo && without?.has(id) !== true ? [id] : []));
      return [mesh, { accepted, missing }];
    }),
  );
}

/** Reports whether some of the authorities were first sent after `heardUpTo`. */
export function isUnheard(rotating: RotatingAuthorities, heardUpTo: number): boolean {
  return [...rotating.values()].some((ids) => [...ids.values()].some((since) => since > heardUpTo));
}

/** The acceptance without a rotation. */
export const NOTHING_ROTATES: TrustAcceptance = { accepted: [], missing: { total: 0, items: [] } };

/** Returns the form in a status. */
export function renderAcceptance({ accepted, missing: { total, items } }: TrustAcceptance): JsonObject {
  return { accepted: [...accepted], ...(total > 0 ? { missing: { total, items: [...items] } } : {}) };
}

/** Reads the acceptance that a zone reports in the status of a MeshTrust; undefined if it is absent or unreadable. */
function statedAcceptance({ status }: Pick<Resource, 'status'>): TrustAcceptance | undefined {
  return decodeAcceptance(status?.['proxies']);
}

/** Returns `status.trust` of a Zone from the zone's MeshTrusts: the first of a mesh counts; above the limit the first meshes. */
export function planZoneTrust(trusts: Iterable<Resource>): readonly JsonObject[] {
  const byMesh = new Map<string, TrustAcceptance>();
  for (const trust of trusts) {
    const stated = statedAcceptance(trust);
    if (stated && !byMesh.has(trust.id.mesh)) byMesh.set(trust.id.mesh, stated);
  }
  let left = MAX_IDS;
  const sorted = [...byMesh].sort(([a], [b]) => compareText(a, b)).slice(0, MAX_MESHES);
  return sorted.map(([mesh, stated]) => {
    const accepted = stated.accepted.slice(0, left);
    left -= accepted.length;
    return { mesh, ...renderAcceptance({ ...stated, accepted }) };
  });
}

/** Reads the acceptance of a zone's proxies from the Zone that the global wrote. */
function zoneAcceptances({ status }: Pick<Resource, 'status'>): readonly ZoneAcceptance[] {
  const entries = status?.['trust'];
  return (isJsonArray(entries) ? entries.slice(0, MAX_MESHES) : []).flatMap((entry) => {
    const stated = decodeAcceptance(entry);
    const mesh = isJsonObject(entry) ? entry['mesh'] : undefined;
    return stated && typeof mesh === 'string' ? [{ ...stated, mesh }] : [];
  });
}

/** Decodes an acceptance; its size is bounded whatever a zone sends. */
function decodeAcceptance(value: unknown): TrustAcceptance | undefined {
  if (!isJsonObject(value) || !isJsonArray(value['accepted'])) return undefined;
  const accepted = value['accepted'].slice(0, MAX_IDS).filter((id) => typeof id === 'string' && isAuthorityId(id));
  const missing = isJsonObject(value['missing']) ? value['missing'] : {};
  const { total, items } = missing;
  const names = (isJsonArray(items) ? items.slice(0, MAX_NAMED) : []).filter((name) => typeof name === 'string');
  const count = typeof total === 'number' && Number.isSafeInteger(total) && total > 0 ? total : 0;
  return { accepted: accepted.map(String), missing: { total: count, items: names.map(shortName) } };
}

function isAuthorityId(id: string): boolean {
  return /^[0-9a-f]{32}$/.test(id);
}

function shortName(name: unknown): string {
  return shortened(String(name), MAX_NAME_LENGTH, '…');
}

/** The zones that have not learned of new authorities. */
export interface ZonesWithout {
  /** Sorted texts for an operator: zones whose proxies have not accepted all of them. */
  readonly missing: readonly string[];
  /** Zones without a report about their proxies in one of the meshes, sorted: their acknowledgements are unknown. */
  readonly unheard: readonly string[];
}

/**
 * Returns the zones other than `zone` whose proxies have not accepted all authorities `ids` in all of `meshes`, from the state that the global sent
 * to this zone. Disabled zones do not count. Linear in the zones and meshes.
 */
export function zonesWithout(
  index: Pick<IndexReader, 'ofKind'>,
  { zone, meshes }: { readonly zone: string; readonly meshes: ReadonlySet<string> },
  ids: readonly string[],
): ZonesWithout {
  const missing: string[] = [];
  const unheard: string[] = [];
  for (const other of index.ofKind('Zone')) {
    const { name } = other.id;
    if (name === zone || other.spec['enabled'] === false) continue;
    const stated = new Map(zoneAcceptances(other).map((each) => [each.mesh, each]));
    if ([...meshes].some((mesh) => !stated.has(mesh))) unheard.push(name);
    for (const mesh of meshes) {
      const found = stated.get(mesh);
      if (found && !ids.every((id) => found.accepted.includes(id))) missing.push(describe(other, mesh, found));
    }
  }
  return { missing: missing.sort(compareText), unheard: unheard.sort(compareText) };
}

function describe({ id, status }: Resource, mesh: string, { missing: { total, items } }: TrustAcceptance): string {
  const lost = status?.['lost'] === undefined ? '' : ' (lost)';
  const more = total > items.length ? ` and ${total - items.length} more` : '';
  const who = total === 0 ? 'has not received it' : `not accepted by ${items.join(', ')}${more}`;
  return `zone ${id.name}${lost}, mesh ${mesh}: ${who}`;
}
