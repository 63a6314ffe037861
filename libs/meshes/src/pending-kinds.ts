import { DefinitionJudge, MetaresourceDefinition, MAX_DECLARED_KINDS, type DefinitionParts } from '@causeway/kinds';
import { jsonEqual, type Kind, type KindSource, type Registry, type Resource } from '@causeway/resources';
import type { IndexReader } from '@causeway/store';

/**
 * The kinds as the documents of a batch leave them: a definition counts for what comes later. Of one batch as many new or changed definitions
 * count as can declare kinds; each costs a look at all definitions. A kind is the same object while its definition says the same.
 */
export class PendingKinds implements KindSource {
  private readonly judge = new DefinitionJudge();
  private readonly pending = new Map<string, DefinitionParts>();
  private readonly together: Registry;
  private changes = 0;
  private seen = -1;
  private judged: { readonly version: number; readonly kinds: readonly Kind[] } = { version: -1, kinds: [] };

  /** `known` has what the definitions of `index` declare. */
  constructor(
    private readonly known: Registry,
    private readonly index: Pick<IndexReader, 'get' | 'ofKind' | 'versionOf'>,
  ) {
    this.together = known.declaring(this);
  }

  /** The kinds for the next document. */
  get registry(): Registry {
    return this.pending.size === 0 ? this.known : this.together;
  }

  get version(): number {
    const seen = this.index.versionOf(MetaresourceDefinition.name);
    if (seen !== this.seen) this.changes += 1;
    this.seen = seen;
    return this.changes;
  }

  get kinds(): readonly Kind[] {
    const { version } = this;
    if (this.judged.version !== version) {
      const kinds = this.judge.judge(this.definitions()).flatMap(({ kind }) => (kind ? [kind] : []));
      this.judged = { version, kinds };
    }
    return this.judged.kinds;
  }

  /** Takes what a document is going to be stored as; other kinds than MetaresourceDefinition mean nothing here. */
  take({ id, labels, spec }: Pick<Resource, 'id' | 'labels' | 'spec'>): void {
    if (id.kind !== MetaresourceDefinition.name || this.pending.size === MAX_DECLARED_KINDS) return;
    const stored = this.index.get(id);
    if (stored && jsonEqual(stored.spec, spec)) return;
    this.pending.set(id.name, { id, labels, spec, creationOrder: stored?.creationOrder ?? 0 });
    this.changes += 1;
  }

  /** Begins the batch anew: no document has been taken. */
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
