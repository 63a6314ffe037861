import { coreKinds, DefinitionJudge, type JudgedDefinition } from '@causeway/kinds';
import { Registry, type Kind, type KindSource } from '@causeway/resources';
import type { IndexReader } from '@causeway/store';

const DEFINITIONS = 'MetaresourceDefinition';

/**
 * The kinds that the MetaresourceDefinitions of an index declare now. It subscribes to nothing: each look compares one number, and
 * definitions are judged anew when it differs.
 */
export class DeclaredKinds implements KindSource {
  private readonly judge = new DefinitionJudge();
  private seen = -1;
  private changes = 0;
  private current: readonly Kind[] = [];
  private latest: readonly JudgedDefinition[] = [];

  constructor(private readonly index: Pick<IndexReader, 'ofKind' | 'versionOf'>) {}

  get version(): number {
    this.look();
    return this.changes;
  }

  get kinds(): readonly Kind[] {
    this.look();
    return this.current;
  }

  /** Every definition, and what it comes to. */
  get judged(): readonly JudgedDefinition[] {
    this.look();
    return this.latest;
  }

  private look(): void {
    const version = this.index.versionOf(DEFINITIONS);
    if (version === this.seen) return;
    this.seen = version;
    this.latest = this.judge.judge(this.index.ofKind(DEFINITIONS));
    const kinds = this.latest.flatMap(({ kind }) => (kind ? [kind] : []));
    // A write of a status changes no kind.
    if (kinds.length === this.current.length && kinds.every((kind, i) => kind === this.current[i])) return;
    this.current = kinds;
    this.changes += 1;
  }
}

/** The kinds of the product, and those that the definitions of this index declare at each moment. */
export function getRegistry(index: Pick<IndexReader, 'ofKind' | 'versionOf'>): Registry {
  return new Registry(coreKinds.kinds, new DeclaredKinds(index));
}
