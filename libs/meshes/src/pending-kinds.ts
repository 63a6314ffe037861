import { DefinitionEvaluator, MetaresourceDefinition, MAX_DECLARED_KINDS, type DefinitionParts } from '@causeway/kinds';
import { jsonEqual, type Kind, type KindSource, type Registry, type Resource } from '@causeway/resources';
import type { IndexReader } from '@causeway/store';

/**
 * The kinds after the documents of a batch: a definition applies to the documents after it. The number of new or changed definitions that count in
 * one batch is the number that can declare kinds; each costs a pass over all definitions. A kind stays the same object while its definition is
 * unchanged.
 */
export class PendingKinds implements KindSource {
  private readonly evaluate = new DefinitionEvaluator();
  private readonly pending = new Map<string, DefinitionParts>();
  private readonly together: Registry;
  private changes = 0;
  private seen = -1;
  private evaluated: { readonly version: number; readonly kinds: readonly Kind[] } = { version: -1, kinds: [] };

  /** `known`: the kinds that the definitions of `index` declare. */
  constructor(
    private readonly known: Registry,
    private readonly index: Pick<IndexReader, 'get' | 'ofKind' | 'getVersion'>,
  ) {
    this.together = known.declaring(this);
  }

  /** Registry for the next document. */
  get registry(): Registry {
    return this.pending.size === 0 ? this.known : this.together;
  }

  get version(): number {
    const seen = this.index.getVersion(MetaresourceDefinition.name);
    if (seen !== this.seen) this.changes += 1;
    this.seen = seen;
    return this.changes;
  }

  get kinds(): readonly Kind[] {
    const { version } = this;
    if (this.evaluated.version !== version) {
      const kinds = this.evaluate.evaluate(this.definitions()).flatMap(({ kind }) => (kind ? [kind] : []));
      this.evaluated = { version, kinds };
    }
    return this.evaluated.kinds;
  }

  /** Records the resource that a document will be stored as; kinds other than MetaresourceDefinition are ignored. */
  take({ id, labels, spec }: Pick<Resource, 'id' | 'labels' | 'spec'>): void {
    if (id.kind !== MetaresourceDefinition.name || this.pending.size === MAX_DECLARED_KINDS) return;
    const stored = this.index.get(id);
    if (stored && jsonEqual(stored.spec, spec)) return;
    this.pending.set(id.name, { id, labels, spec, creationOrder: stored?.creationOrder ?? 0 });
    this.changes += 1;
  }

  /** Starts the batch again: no document is recorded. */
  reset(): void {
    this.pending.clear();
    this.changes += 1;
  }

  private *definitions(): Generator<DefinitionParts> {
    for (const stored of this.index.ofKind(MetaresourceDefinition.name))
      if (!this.pending.has(stored.id.name)) yield stored;
    yield* this.pending.values();
  }
}
