import { createHmac, timingSafeEqual } from 'node:crypto';
import type { StorePoint } from '@causeway/resources';
import type { ResourceStore } from '@causeway/store';
import type { ResumePoint } from './peer-state';

/**
 * Signs the resume points of this store for one peer, and verifies the points that the peer presents (extension
 * cw-resume). Only the store can sign: its key never leaves it.
 */
export class ResumePointSigner {
  constructor(
    private readonly key: string,
    private readonly peer: string,
  ) {}

  /** `peer` as for `PeerState.read`. Throws Unavailable. */
  static async read(store: Pick<ResourceStore, 'pointKey'>, peer: string): Promise<ResumePointSigner> {
    return new ResumePointSigner(await store.pointKey(), peer);
  }

  /** Returns the MAC of a point of a kind for this peer; base64url. */
  mac(kind: string, { incarnation, revision, view }: ResumePoint): string {
    const text = JSON.stringify([this.peer, kind, incarnation, revision, view]);
    return createHmac('sha256', this.key).update(text).digest('base64url');
  }

  /** Returns whether this store issued this point to the peer. Takes constant time for MACs of the right length. */
  isAuthentic(kind: string, point: ResumePoint): boolean {
    const [given, wanted] = [point.mac ?? '', this.mac(kind, point)].map((text) => Buffer.from(text, 'latin1'));
    return (
      given !== undefined && wanted !== undefined && given.length === wanted.length && timingSafeEqual(given, wanted)
    );
  }
}

/** A point that this store did not issue; it has no consequence for other peers. */
interface DoubtfulPoint {
  readonly kind: string;
  readonly revision: number;
}

/** The result of evaluating the resume points that a peer presents. */
export interface EvaluatedPoints {
  /** Points that the peer can resume from. */
  readonly points: ReadonlyMap<string, ResumePoint>;
  /** The peer holds a point that this store issued but no longer contains: the store was restored from a backup. */
  readonly isSetBack: boolean;
  /** The first point beyond the head that this store did not issue. */
  readonly doubtful?: DoubtfulPoint;
}

/**
 * Evaluates the points that a peer presents. Only a point of this incarnation beyond `head` that this store signed proves
 * that the store was restored from a backup (docs/design.md §2.7). Any other point beyond `head` is ignored, so the peer
 * gets the full state of that kind. A point up to `head` needs no signature: a false one harms only the peer itself.
 */
export function evaluateClaimedPoints(
  claimed: Iterable<readonly [string, ResumePoint]>,
  head: StorePoint,
  signer: ResumePointSigner,
): EvaluatedPoints {
  const points = new Map<string, ResumePoint>();
  let isSetBack = false;
  let doubtful: DoubtfulPoint | undefined;
  for (const [kind, point] of claimed) {
    if (point.incarnation !== head.incarnation || point.revision <= head.revision) points.set(kind, point);
    else if (signer.isAuthentic(kind, point)) isSetBack = true;
    else doubtful ??= { kind, revision: point.revision };
  }
  return { points, isSetBack, ...(doubtful ? { doubtful } : {}) };
}
