import type { Commit, Row } from '../engine/watched-disk';
import type { Report } from './violation';

/** I8 and the half of I6 and I7 that sessions hold: what commits has the right to when it does. */
export function checkRights({ disk, writer, request, changes }: Commit, report: Report): void {
  if (writer === '') return;
  const { fence, session } = request;
  const { epoch, holder } = disk.leader;
  if (fence && (fence.epoch !== epoch || fence.holder !== holder)) {
    report('I8', `${writer} wrote for epoch ${fence.epoch} of ${fence.holder} in epoch ${epoch} of ${holder}`);
  }
  if (session) {
    const standing = disk.sessions.get(session.zone)?.up;
    if (standing !== session.session) {
      report('I7', `${writer} wrote for session ${session.session} of ${session.zone}, where ${standing} stands`);
    }
  }
  if (changes.length === 0) return;
  if (disk.name !== 'global') {
    if (!fence) report('I8', `${writer} wrote ${keysOf(changes)} without a fence`);
    return;
  }
  const sweeps = session !== undefined && disk.sessions.get(session.zone)?.instance === 'deleted';
  for (const { key, before, after } of changes) {
    const { zone } = after.id;
    const isStatus = before !== undefined && before.deletedAt === undefined && isOnlyStatus(before, after);
    if (!fence && (sweeps || (!session && (isStatus || zone !== '')))) {
      report('I8', `${writer} wrote ${key} without a fence`);
    }
    if (session ? session.zone !== zone : zone !== '' && !isStatus) {
      report('I6', `${writer} wrote ${key} for zone ${session?.zone ?? '?'}`);
    }
  }
}

/** Whether a leader changed only the status of a resource of another writer. */
function isOnlyStatus(before: Row, after: Row): boolean {
  return before.uid === after.uid && before.generation === after.generation && before.deletedAt === after.deletedAt;
}

function keysOf(changes: Commit['changes']): string {
  return changes.map(({ key }) => key).join(', ');
}
