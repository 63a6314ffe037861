import { createHmac, timingSafeEqual } from 'node:crypto';
import type { StorePoint } from '@causeway/resources';
import type { ResourceStore } from '@causeway/store';
import type { ResumePoint } from './peer-state';

/**
 * Signs the resume points that one peer is given of this store's state, and knows them again when the peer shows them
 * (cw-resume). Nobody else can make one: the key never leaves the store.
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

  /** The MAC that says that this peer was given this point of a kind; base64url. */
  mac(kind: string, { incarnation, revision, view }: ResumePoint): string {
    const text = JSON.stringify([this.peer, kind, incarnation, revision, view]);
    return createHmac('sha256', this.key).update(text).digest('base64url');
  }

  /** Whether this store has given the peer this point; takes the same time for every MAC of the right length. */
  isAuthentic(kind: string, point: ResumePoint): boolean {
    const [given, wanted] = [point.mac ?? '', this.mac(kind, point)].map((text) => Buffer.from(text, 'latin1'));
    return (
      given !== undefined && wanted !== undefined && given.length === wanted.length && timingSafeEqual(given, wanted)
    );
  }
}

/** A claim of a peer that its store's state bears out in no way; nothing follows from it for others. */
export interface DoubtfulPoint {
  readonly kind: string;
  readonly revision: number;
}

/** What the points that a peer shows of our state mean. */
export interface JudgedPoints {
  /** Those that can be resumed from. */
  readonly points: ReadonlyMap<string, ResumePoint>;
  /** The peer holds what this store issued and has lost: the store was set back. */
  readonly isSetBack: boolean;
  /** The first of those beyond our head that this store did not issue. */
  readonly doubtful?: DoubtfulPoint;
}

/**
 * Judges what a peer shows: only a point of our life beyond `head` that this store signed proves that the store was set
 * back (design.md §2.7). Any other beyond `head` is left out, so that the peer gets the whole state of that kind. One
 * that is not beyond it needs no signature: a lie about it harms only the peer.
 */
export function judgeClaimedPoints(
  claimed: Iterable<readonly [string, ResumePoint]>,
  head: StorePoint,
  signer: ResumePointSigner,
): JudgedPoints {
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
