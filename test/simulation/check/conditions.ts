import { findCondition, type JsonObject } from '@causeway/resources';
import { SyncCondition, type LostPolicy } from '@causeway/sync';
import type { Row, WatchedDisk } from '../engine/watched-disk';
import { connected, living, meshKey, zoneKey, type RestingMesh } from './convergence';
import { isOrigin, lostOf } from './history';

const LOST_REASONS: Readonly<Record<LostPolicy, string>> = {
  keep: 'Kept',
  depreferred: 'Depreferred',
  withdraw: 'Withdrawn',
};

/** Returns the sync conditions that are wrong or missing at rest; empty if all are right. */
export function misstated(mesh: RestingMesh): string[] {
  return [mesh.global, ...connected(mesh)].flatMap((disk) =>
    [...disk.rows].flatMap(([key, row]) =>
      row.deletedAt === undefined ? misstatedOf(row, disk, mesh).map((what) => `${disk.name}: ${key} ${what}`) : [],
    ),
  );
}

function misstatedOf(row: Row, disk: WatchedDisk, { away, registry }: RestingMesh): string[] {
  const { mesh, kind, zone } = row.id;
  const isCopy = !isOrigin(disk.name, row);
  const lost = isCopy && zone !== '' ? lostOf(living(disk, zoneKey(zone))) : undefined;
  const misses = registry.kind(kind)?.scope === 'mesh' && !living(disk, meshKey(mesh));
  return [
    ...judge(row, SyncCondition.originLost, lost && { reason: LOST_REASONS[lost.policy], names: lost.since }),
    ...judge(row, SyncCondition.meshMissing, misses ? { reason: 'NoSuchMesh', names: mesh } : undefined),
    ...judge(row, SyncCondition.rulesBroken, undefined),
    // Resources that the absent zone had not sent before it went are held until it is back.
    ...(zone === away && isCopy ? [] : judge(row, SyncCondition.held, undefined)),
  ];
}

/** Reason and names that a condition must show; undefined = it must not stand. */
type Wanted = { readonly reason: string; readonly names: string } | undefined;

function judge({ status }: Row, type: string, wanted: Wanted): string[] {
  const said = findCondition(status, type);
  if (wanted === undefined) return said ? [`says ${describe(said)}, which is not so`] : [];
  if (!said) return [`does not say ${type}, which is so`];
  const message = said['message'];
  const isRight =
    said['status'] === 'True' &&
    said['reason'] === wanted.reason &&
    typeof message === 'string' &&
    message.includes(wanted.names);
  return isRight ? [] : [`says ${describe(said)}, not ${wanted.reason} of ${wanted.names}`];
}

function describe({ type, status, reason, message }: JsonObject): string {
  return [type, status, reason, message].map(String).join(' ');
}
