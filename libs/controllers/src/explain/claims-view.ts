import type { ClaimTable } from '@causeway/naming';
import type { ResourceIndex } from '@causeway/store';
import { claimsFrom, takeIntoClaims, type ZonePlane } from '../hostname/zone-claims';

/**
 * The claims of a zone for readers (explain, lists, dry runs), on any replica. Costs nothing until it is asked first;
 * from then on it follows the index until `close`.
 */
export class ClaimsView {
  private current: ClaimTable | undefined;
  private unsubscribe: (() => void) | undefined;

  constructor(
    private readonly index: ResourceIndex,
    private readonly cp: ZonePlane,
  ) {}

  /** The claims as the index is now; read it at once, do not keep or change it. */
  get table(): ClaimTable {
    this.unsubscribe ??= this.index.subscribe(({ reloaded, changes }) => {
      if (reloaded) this.current = undefined;
      if (!this.current) return;
      for (const change of changes) takeIntoClaims(this.current, change, this.cp);
      this.current.takeTouched();
    });
    return (this.current ??= claimsFrom(this.index, this.cp));
  }

  close(): void {
    this.unsubscribe?.();
    this.unsubscribe = undefined;
    this.current = undefined;
  }
}
