import type { FollowedTable, Follower } from '@causeway/store';

/** A derived table without content: a test announces what its followers hear. */
export class ListenedTable<Change> implements FollowedTable<Change> {
  hasLoaded = true;
  private readonly followers = new Set<Follower<Change>>();

  get followerCount(): number {
    return this.followers.size;
  }

  subscribe(follower: Follower<Change>): () => void {
    this.followers.add(follower);
    return () => void this.followers.delete(follower);
  }

  announce(change: Change): void {
    for (const follower of this.followers) follower.apply(change);
  }

  /** Announces that the table was filled anew. */
  reload(): void {
    for (const follower of this.followers) follower.reload();
  }
}
