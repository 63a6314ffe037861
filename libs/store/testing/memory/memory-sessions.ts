import { compareText } from '@causeway/resources';
import type { SessionOpening, SessionRequest, SessionStore, SessionRecord, WholeMark } from '../../src/session-store';
import { findMoment, promised, type MemoryDisk } from './memory-disk';

/** An epoch lower than all others. */
const UNKNOWN_EPOCH = -1;

/** The step between epochs of one incarnation above which an epoch is implausible. */
const LARGEST_STEP = 1_000_000;

/** Sessions of zones on a memory disk. */
export class MemorySessions implements SessionStore {
  constructor(private readonly disk: MemoryDisk) {}

  open(request: SessionRequest): Promise<SessionOpening> {
    return promised(() => openSession(this.disk, request));
  }

  adopt(zone: string, storeId: string): Promise<boolean> {
    return promised(() => {
      const standing = this.disk.sessions.get(zone);
      if (!standing || standing.storeId === storeId) return false;
      const [up, down] = [standing.up, standing.down];
      const ended = storeId === '' ? { up, down } : { up: Math.max(up, down) + 1, down: Math.max(up, down) + 1 };
      const epoch = storeId === '' ? standing.epoch : UNKNOWN_EPOCH;
      this.disk.sessions.set(zone, { ...standing, storeId, epoch, ...ended });
      return true;
    });
  }

  resetEpoch(zone: string): Promise<number | undefined> {
    return promised(() => {
      const standing = this.disk.sessions.get(zone);
      if (!standing) return undefined;
      const ended = Math.max(standing.up, standing.down) + 1;
      this.disk.sessions.set(zone, { ...standing, epoch: UNKNOWN_EPOCH, up: ended, down: ended });
      return standing.epoch;
    });
  }

  forget(zone: string, session: number): Promise<boolean> {
    return promised(() => {
      const standing = this.disk.sessions.get(zone);
      if (!standing || Math.max(standing.up, standing.down) !== session) return false;
      this.disk.sessions.delete(zone);
      this.disk.wholes.delete(zone);
      this.disk.sessionFloor = Math.max(this.disk.sessionFloor, session);
      return true;
    });
  }

  markWhole(marks: readonly WholeMark[]): Promise<void> {
    return promised(() => {
      const { sessions, wholes, clock, newest } = this.disk;
      for (const { zone, session, incomplete } of marks) {
        if (sessions.get(zone)?.up !== session) continue;
        const before = wholes.get(zone);
        const except = new Map(incomplete.map((kind) => [kind, findMoment(before, kind)]));
        const order = Math.max(before?.order ?? 0, clock.now() * 1_000 + 1, newest.order + 1);
        wholes.set(zone, { order, except });
      }
    });
  }

  session(zone: string): Promise<SessionRecord | undefined> {
    return promised(() => this.disk.sessions.get(zone));
  }

  sessions(): Promise<readonly SessionRecord[]> {
    return promised(() => [...this.disk.sessions.values()].sort((a, b) => compareText(a.zone, b.zone)));
  }
}

function openSession(disk: MemoryDisk, request: SessionRequest): SessionOpening {
  const { zone, storeId, incarnation, epoch, instance, direction = 'both' } = request;
  const standing = disk.sessions.get(zone);
  if (standing && standing.storeId !== '' && storeId !== '' && standing.storeId !== storeId) {
    return { type: 'other-store', boundTo: standing.storeId };
  }
  if (standing && standing.incarnation === incarnation && epoch < standing.epoch) {
    return { type: 'older', epoch: standing.epoch };
  }
  if (standing?.incarnation === incarnation && standing.epoch >= 0 && epoch > standing.epoch + LARGEST_STEP) {
    return { type: 'doubtful', epoch: standing.epoch };
  }
  const { up = disk.sessionFloor, down = disk.sessionFloor } = standing ?? {};
  const session = Math.max(up, down) + 1;
  disk.sessions.set(zone, {
    zone,
    storeId: storeId === '' ? (standing?.storeId ?? '') : storeId,
    incarnation,
    epoch,
    instance,
    up: direction === 'down' ? up : session,
    down: direction === 'up' ? down : session,
    openedAt: disk.clock.now(),
  });
  if (!standing) return { type: 'opened', session };
  return { type: 'opened', session, previous: { session: Math.max(up, down), incarnation: standing.incarnation } };
}
