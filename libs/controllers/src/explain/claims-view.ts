import { ClaimTable } from '@causeway/naming';
import { inSlices } from '@causeway/runtime';
import type { ResourceIndex } from '@causeway/store';
import { fillClaims, takeIntoClaims, type ZonePlane } from '../hostname/zone-claims';

/**
 * The claims of a zone for readers (explain, lists, dry runs), on any replica. Costs nothing until it is asked first,
 * which takes everything in, in slices; from then on it follows the index until `close`.
 */
export class ClaimsView {
  private current: ClaimTable | undefined;
  private filled: Promise<ClaimTable> | undefined;
  private unsubscribe: (() => void) | undefined;
  private closed = false;

  constructor(
    private readonly index: ResourceIndex,
    private readonly cp: ZonePlane,
  ) {}

  /** The claims as the index is when this resolves; read them at once, do not keep or change them. */
  async table(): Promise<ClaimTable> {
    for (;;) {
      const table = await (this.filled ??= this.fill().catch((error: unknown) => this.giveUp(error)));
      // Otherwise the index was read anew meanwhile.
      if (table === this.current || this.closed) return table;
    }
  }

  close(): void {
    this.closed = true;
    this.unsubscribe?.();
    this.unsubscribe = undefined;
    this.current = undefined;
  }

  /** Whoever asks next tries again. */
  private giveUp(error: unknown): never {
    [this.current, this.filled] = [undefined, undefined];
    throw error;
  }

  private async fill(): Promise<ClaimTable> {
    this.follow();
    const table = new ClaimTable(this.cp.zone);
    this.current = table;
    await inSlices(fillClaims(table, this.index, this.cp));
    table.forgetTouched();
    return table;
  }

  private follow(): void {
    this.unsubscribe ??= this.index.subscribe(({ reloaded, changes }) => {
      if (reloaded) [this.current, this.filled] = [undefined, undefined];
      if (!this.current) return;
      for (const change of changes) takeIntoClaims(this.current, change, this.cp);
      this.current.forgetTouched();
    });
  }
}
