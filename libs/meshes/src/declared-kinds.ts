import { coreKinds, DefinitionEvaluator, type EvaluatedDefinition } from '@causeway/kinds';
import { Registry, type Kind, type KindSource } from '@causeway/resources';
import type { IndexReader } from '@causeway/store';

const DEFINITIONS = 'MetaresourceDefinition';

/**
 * Kinds that the MetaresourceDefinitions of an index declare now. It subscribes to nothing: each read compares one
 * version number, and evaluates the definitions again if it differs.
 */
export class IndexedKinds implements KindSource {
  private readonly evaluate = new DefinitionEvaluator();
  private seen = -1;
  private changes = 0;
  private current: readonly Kind[] = [];
  private latest: readonly EvaluatedDefinition[] = [];

  constructor(private readonly index: Pick<IndexReader, 'ofKind' | 'getVersion'>) {}

  get version(): number {
    this.refresh();
    return this.changes;
  }

  get kinds(): readonly Kind[] {
    this.refresh();
    return this.current;
  }

  /** Every definition with its evaluation. */
  get evaluated(): readonly EvaluatedDefinition[] {
    this.refresh();
    return this.latest;
  }

  private refresh(): void {
    const version = this.index.getVersion(DEFINITIONS);
    if (version === this.seen) return;
    this.seen = version;
    this.latest = this.evaluate.evaluate(this.index.ofKind(DEFINITIONS));
    const kinds = this.latest.flatMap(({ kind }) => (kind ? [kind] : []));
    // A write of a status changes no kind.
    if (kinds.length === this.current.length && kinds.every((kind, i) => kind === this.current[i])) return;
    this.current = kinds;
    this.changes += 1;
  }
}

/** Returns the registry of an index: the kinds of the product and those that its definitions declare at each moment. */
export function getRegistry(index: Pick<IndexReader, 'ofKind' | 'getVersion'>): Registry {
  return new Registry(coreKinds.kinds, new IndexedKinds(index));
}
