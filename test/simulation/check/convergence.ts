import { compareOrders, jsonEqual, type Registry } from '@causeway/resources';
import type { LostRule } from '@causeway/sync';
import { readLostRule } from '@causeway/sync/testing';
import type { Row, WatchedDisk } from '../engine/watched-disk';
import { SYNC_LABEL } from '../mesh/user-writes';
import { sameContent } from './copies';
import { isOpen, isOrigin, lostOf } from './history';
import { isRanked } from './orders';
import { INSIGHTS } from './lost-zones';

/** The disks of a mesh. */
interface Disks {
  readonly global: WatchedDisk;
  readonly zones: readonly WatchedDisk[];
}

/** A mesh at rest. */
export interface RestingMesh extends Disks {
  readonly registry: Registry;
  /** A zone that is cut off from the global. */
  readonly away: string | undefined;
  /** Rule for zones whose Zone has none. */
  readonly lost: LostRule;
}

/** I4: returns the differences between held copies and their origins; empty if every copy is there and nothing else is. */
export function differences(mesh: RestingMesh): string[] {
  const { global, zones } = mesh;
  return [
    ...zones.flatMap((zone) => differenceOfZone(zone, mesh)),
    ...compare(global, expectedOnGlobal(mesh), mesh),
    ...connected(mesh).flatMap((zone) => compare(zone, expectedOnZone(zone, mesh), mesh)),
  ];
}

/** Zones that the global can reach. */
export function connected({ zones, away }: Pick<RestingMesh, 'zones' | 'away'>): readonly WatchedDisk[] {
  return zones.filter(({ name }) => name !== away);
}

/** A present zone has a Zone and is not lost; an absent one that ever had a session is lost, by its rule. */
function differenceOfZone({ name }: WatchedDisk, mesh: RestingMesh): string[] {
  const { global, away, lost } = mesh;
  const row = living(global, zoneKey(name));
  if (!row) return name === away ? [] : [`global lacks the Zone of ${name}, which is connected`];
  const isKnown = global.sessions.has(name) || global.metadata.has(`${INSIGHTS}\0${name}`);
  const isLost = name === away && isKnown;
  const want = isLost ? readLostRule(row.spec['lost'], lost).policy : undefined;
  const said = lostOf(row);
  if (said?.policy !== want)
    return [`global says of zone ${name} ${said?.policy ?? 'not lost'}, not ${want ?? 'that'}`];
  return connected(mesh).flatMap((zone) => {
    const told = lostOf(living(zone, zoneKey(name)));
    return jsonEqual(told && { ...told }, said && { ...said }) ? [] : [`${zone.name} takes zone ${name} for another`];
  });
}

function expectedOnGlobal({ global, away, registry, zones }: RestingMesh): Map<string, Row> {
  const up = (row: Row): boolean => registry.kind(row.id.kind)?.sync.up ?? false;
  const made = connected({ zones, away }).flatMap((zone) => madeOn(zone).filter(([, row]) => up(row)));
  // It keeps the resources of an absent zone as long as there is a Zone.
  const kept = away !== undefined && living(global, zoneKey(away)) ? copiesOf(away, global) : [];
  return new Map([...made, ...kept]);
}

function expectedOnZone(holder: WatchedDisk, { global, zones, away, registry }: RestingMesh): Map<string, Row> {
  const goes = ({ id }: Row, range: 'any' | 'everything'): boolean => {
    const kind = registry.kind(id.kind);
    const down = kind?.sync.down ?? 'nothing';
    if (range === 'any' ? down === 'nothing' : (down === 'exported' ? 'everything' : down) !== range) return false;
    return kind?.scope === 'global' || living(global, meshKey(id.mesh)) !== undefined;
  };
  const others = zones.filter(({ name }) => {
    const zone = living(global, zoneKey(name));
    return name !== holder.name && zone !== undefined && isOpen(zone);
  });
  const made = (zone: WatchedDisk): [string, Row][] =>
    zone.name === away ? copiesOf(zone.name, global) : madeOn(zone);
  return new Map([
    ...madeOn(global).filter(([, row]) => goes(row, 'any')),
    ...others.flatMap((zone) => made(zone).filter(([, row]) => goes(row, 'everything'))),
  ]);
}

/** The resources of a control plane that were made there and may be synced. */
function madeOn(disk: WatchedDisk): [string, Row][] {
  return [...disk.rows].filter(
    ([, row]) => row.deletedAt === undefined && isOrigin(disk.name, row) && row.labels[SYNC_LABEL] !== 'disabled',
  );
}

function copiesOf(zone: string, disk: WatchedDisk): [string, Row][] {
  return [...disk.rows].filter(([, row]) => row.deletedAt === undefined && row.id.zone === zone);
}

function compare(
  disk: WatchedDisk,
  expected: ReadonlyMap<string, Row>,
  { away, registry, global }: RestingMesh,
): string[] {
  const found: string[] = [];
  for (const [key, want] of expected) {
    const have = living(disk, key);
    if (!have) found.push(`${disk.name} lacks ${key}`);
    else if (!sameContent(have, want) && !(want.id.zone === away && isNewer(have, want)))
      found.push(`${disk.name} holds another ${key} than its origin`);
    else if (want.id.zone !== away && isRanked(want, registry))
      found.push(...misranked(disk, key, { have, want, global }));
  }
  for (const [key, row] of disk.rows) {
    if (row.deletedAt !== undefined || isOrigin(disk.name, row) || expected.has(key)) continue;
    found.push(`${disk.name} holds ${key}, which it should not`);
  }
  return found;
}

/** A global that was set back may know less than a zone knows of an absent zone: newer state stays (I7). */
function isNewer(have: Row, want: Row): boolean {
  return have.origin.incarnation === want.origin.incarnation && have.origin.revision > want.origin.revision;
}

/** Returns the row of a disk under a key; undefined if it is deleted. */
export function living(disk: WatchedDisk, key: string): Row | undefined {
  const row = disk.rows.get(key);
  return row?.deletedAt === undefined ? row : undefined;
}

export function zoneKey(name: string): string {
  return `Zone////${name}`;
}

export function meshKey(name: string): string {
  return `Mesh////${name}`;
}

/** All rank by the order that counts on the global. The zone of origin may take itself for younger, never for older. */
function misranked(
  disk: WatchedDisk,
  key: string,
  { have, want, global }: { readonly have: Row; readonly want: Row; readonly global: WatchedDisk },
): string[] {
  const counted = living(global, key)?.creationOrder ?? 0;
  if (disk === global && compareOrders(counted, want.creationOrder) > 0)
    return [`the origin ranks ${key} by ${want.creationOrder}, the global by ${counted}`];
  if (have.creationOrder === counted) return [];
  return [`${disk.name} ranks ${key} by ${have.creationOrder}, the global by ${counted}`];
}
