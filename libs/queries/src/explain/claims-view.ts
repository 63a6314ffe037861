import { ClaimTable, parseGenerator } from '@causeway/naming';
import { isJsonObject, Label, type Resource } from '@causeway/resources';
import { inSlices, SingleFlight } from '@causeway/runtime';
import { followIndex, type IndexReader } from '@causeway/store';
import {
  applyToClaims,
  fillClaims,
  fillMeshes,
  NAMED_KINDS,
  type ClaimsOf,
  type ServedMeshes,
  type ZoneControlPlane,
} from '@causeway/controllers';

/**
 * The claim table of this zone for readers (explain, lists, dry runs), on any replica. It costs nothing until the first
 * `table` call, which fills it in slices; then it follows the index until `close`.
 */
export class ClaimsView {
  /** The table that follows the index; complete only if `isWhole`. */
  private current: ClaimTable | undefined;
  private isWhole = false;
  private readonly filling = new SingleFlight((signal) => this.fill(signal));
  private unsubscribe: (() => void) | undefined;
  private closed = false;
  private readonly of: ClaimsOf;

  constructor(
    private readonly index: IndexReader,
    cp: ZoneControlPlane,
    meshes?: ServedMeshes,
  ) {
    this.of = { cp, meshes };
  }

  /**
   * Resolves with the claims as of the index at that moment; read them immediately, do not keep or change them. Filling
   * continues while a caller waits for it. Rejects with the reason of the signal if that aborts first.
   */
  async table(signal: AbortSignal): Promise<ClaimTable> {
    for (;;) {
      if (this.current && this.isWhole) return this.current;
      const table = await this.filling.result(signal);
      // Otherwise the index was reloaded during the fill.
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
    const table = new ClaimTable(this.of.cp.zone);
    if (!this.closed) this.follow(table);
    try {
      await inSlices(fillClaims(table, this.index, this.of), signal);
    } catch (error) {
      // The next caller fills it again, and may have started already.
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
    this.unsubscribe ??= followIndex(this.index, {
      reload: () => this.forget(),
      apply: (changes) => {
        if (!this.current) return;
        for (const change of changes) applyToClaims(this.current, change, this.of);
        this.current.discardChanged();
      },
    });
  }
}

/** Resources on the global from which a zone's claims are computed. */
export interface HeldByGlobal {
  readonly index: IndexReader;
  readonly meshes?: ServedMeshes | undefined;
}

/**
 * Computes the claim table of zone `zone` on the global from its resources: those made in that zone, those made on the
 * global, and the MeshServices of all other enabled zones. Export rules and lost zones are ignored. Costs one pass over
 * all rows, which ends when `signal` aborts; for dry runs.
 */
export async function claimsOfZone(held: HeldByGlobal, zone: string, signal: AbortSignal): Promise<ClaimTable> {
  const table = new ClaimTable(zone);
  await inSlices(fillAsZone(table, held, zone), signal);
  table.discardChanged();
  return table;
}

function* fillAsZone(table: ClaimTable, { index, meshes }: HeldByGlobal, zone: string): Generator<unknown> {
  const disabled = disabledZones(index);
  fillMeshes(table, index, meshes);
  for (const generator of index.ofKind('HostnameGenerator')) {
    if (belongsTo(generator, zone)) table.upsertGenerator(parseGenerator(generator, generator.id.zone === zone));
  }
  for (const kind of NAMED_KINDS) {
    for (const service of index.ofKind(kind)) {
      const { id, labels, creationOrder } = service;
      const comes = kind === 'MeshService' ? id.zone === zone || !disabled.has(id.zone) : belongsTo(service, zone);
      const origin = id.zone === zone ? 'zone' : 'global';
      if (comes) table.upsertService({ id, creationOrder, labels: { ...labels, [Label.origin]: origin } });
      yield;
    }
  }
}

/** For kinds that the global does not relay: each zone has its own resources and the global's. */
function belongsTo({ id }: Resource, zone: string): boolean {
  return id.zone === zone || id.zone === '';
}

function disabledZones(index: IndexReader): ReadonlySet<string> {
  const zones = [...index.ofKind('Zone')];
  return new Set(zones.filter(({ spec }) => isJsonObject(spec) && spec['enabled'] === false).map(({ id }) => id.name));
}
