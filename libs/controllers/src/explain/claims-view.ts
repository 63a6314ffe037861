import { ClaimTable } from '@causeway/naming';
import { inSlices, SingleFlight } from '@causeway/runtime';
import type { IndexReader } from '@causeway/store';
import { fillClaims, applyToClaims, type ZoneControlPlane } from '../hostname/zone-claims';

/**
 * The claims of a zone for readers (explain, lists, dry runs), on any replica. Costs nothing until it is asked first,
 * which takes everything in, in slices; from then on it follows the index until `close`.
 */
export class ClaimsView {
  /** What follows the index: all of it, or what has been taken in so far. */
  private current: ClaimTable | undefined;
  private isWhole = false;
  private readonly filling = new SingleFlight((signal) => this.fill(signal));
  private unsubscribe: (() => void) | undefined;
  private closed = false;

  constructor(
    private readonly index: IndexReader,
    private readonly cp: ZoneControlPlane,
  ) {}

  /**
   * The claims as the index is when this resolves; read them at once, do not keep or change them. Taking everything in
   * goes on for as long as somebody waits for it; rejects with the signal's reason when that aborts before.
   */
  async table(signal: AbortSignal): Promise<ClaimTable> {
    for (;;) {
      if (this.current && this.isWhole) return this.current;
      const table = await this.filling.result(signal);
      // Otherwise the index was read anew meanwhile.
      if (table === this.current || this.closed) return table;
    }
  }

  close(): void {
    this.closed = true;
    this.unsubscribe?.();
    this.unsubscribe = undefined;
    this.forget();
  }

  private async fill(signal: AbortSignal): Promise<ClaimTable> {
    const table = new ClaimTable(this.cp.zone);
    if (!this.closed) this.follow(table);
    try {
      await inSlices(fillClaims(table, this.index, this.cp), signal);
    } catch (error) {
      // Whoever asks next tries again, and may have begun already.
      if (this.current === table) this.forget();
      throw error;
    }
    table.discardChanged();
    if (this.current === table) this.isWhole = true;
    return table;
  }

  private forget(): void {
    [this.current, this.isWhole] = [undefined, false];
  }

  private follow(table: ClaimTable): void {
    [this.current, this.isWhole] = [table, false];
    this.unsubscribe ??= this.index.subscribe(({ reloaded, changes }) => {
      if (reloaded) this.forget();
      if (!this.current) return;
      for (const change of changes) applyToClaims(this.current, change, this.cp);
      this.current.discardChanged();
    });
  }
}
