import type { Registry } from '@causeway/resources';
import type { Row, WatchedDisk } from '../engine/watched-disk';
import { SYNC_LABEL } from '../mesh/user-writes';
import { sameContent } from './copies';
import { isOrigin } from './history';

/** The disks of a mesh. */
export interface Disks {
  readonly global: WatchedDisk;
  readonly zones: readonly WatchedDisk[];
}

/** I4: how what is held differs from what its origins have; empty when every copy is there and nothing else is. */
export function differences(disks: Disks, registry: Registry): string[] {
  return [
    ...compare(disks.global, expectedOnGlobal(disks, registry)),
    ...disks.zones.flatMap((zone) => compare(zone, expectedOnZone(zone, disks, registry))),
  ];
}

function expectedOnGlobal({ zones }: Disks, registry: Registry): Map<string, Row> {
  const up = (row: Row): boolean => registry.kind(row.id.kind)?.sync.up ?? false;
  return new Map(zones.flatMap((zone) => madeOn(zone).filter(([, row]) => up(row))));
}

function expectedOnZone(holder: WatchedDisk, { global, zones }: Disks, registry: Registry): Map<string, Row> {
  const down = (row: Row): string => registry.kind(row.id.kind)?.sync.down ?? 'nothing';
  const open = (zone: string): boolean => {
    const row = global.rows.get(`Zone////${zone}`);
    return row !== undefined && row.deletedAt === undefined && row.spec['enabled'] !== false;
  };
  const others = zones.filter((zone) => zone !== holder && open(zone.name));
  return new Map([
    ...madeOn(global).filter(([, row]) => down(row) !== 'nothing'),
    ...others.flatMap((zone) => madeOn(zone).filter(([, row]) => down(row) === 'everything')),
  ]);
}

/** What lives on a control plane, was made there and may leave it. */
function madeOn(disk: WatchedDisk): [string, Row][] {
  return [...disk.rows].filter(
    ([, row]) => row.deletedAt === undefined && isOrigin(disk.name, row) && row.labels[SYNC_LABEL] !== 'disabled',
  );
}

function compare(disk: WatchedDisk, expected: ReadonlyMap<string, Row>): string[] {
  const found: string[] = [];
  for (const [key, want] of expected) {
    const have = disk.rows.get(key);
    if (!have || have.deletedAt !== undefined) found.push(`${disk.name} lacks ${key}`);
    else if (!sameContent(have, want)) found.push(`${disk.name} holds another ${key} than its origin`);
  }
  for (const [key, row] of disk.rows) {
    if (row.deletedAt !== undefined || isOrigin(disk.name, row) || expected.has(key)) continue;
    found.push(`${disk.name} holds ${key}, which it should not`);
  }
  return found;
}
