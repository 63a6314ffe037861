import { MetaresourceDefinition, type EvaluatedDefinition } from '@causeway/kinds';
import { IndexedKinds } from '@causeway/meshes';
import { identityKey, withCondition, type Condition } from '@causeway/resources';
import type { IndexChange, IndexReader } from '@causeway/store';
import { KeyedLoop, NO_KEYS, type KeyedReconciler, type Keys, type ReconcileResult } from '@causeway/loops';

const KIND = MetaresourceDefinition.name;

/**
 * Writes on each MetaresourceDefinition whether it declares its kind here (docs/reference/policies.md): `Accepted`, or the reason why not. A
 * definition that comes, changes or goes may free or take the name of any other, so it costs a scan of all.
 */
class DefinitionsReconciler implements KeyedReconciler {
  readonly name = 'definitions';
  private declared: { readonly of: IndexReader; readonly kinds: IndexedKinds } | undefined;
  private seen: readonly EvaluatedDefinition[] | undefined;
  private byKey: ReadonlyMap<string, EvaluatedDefinition> = new Map();

  *seed(index: IndexReader): Iterable<Keys> {
    for (const { id } of index.ofKind(KIND)) yield [identityKey(id)];
  }

  listKeys({ id }: IndexChange, index: IndexReader): Keys {
    return id.kind === KIND ? [...index.ofKind(KIND)].map((one) => identityKey(one.id)) : NO_KEYS;
  }

  reconcile(key: string, index: IndexReader, now: number): ReconcileResult | undefined {
    const evaluated = this.evaluatedIn(index).get(key);
    if (!evaluated) return undefined;
    const { id, revision, status: before = {} } = evaluated.definition;
    const status = withCondition(before, toCondition(evaluated), now);
    return { change: status === before ? undefined : { type: 'patch', id, expect: revision, status } };
  }

  private evaluatedIn(index: IndexReader): ReadonlyMap<string, EvaluatedDefinition> {
    if (this.declared?.of !== index) this.declared = { of: index, kinds: new IndexedKinds(index) };
    const { evaluated } = this.declared.kinds;
    if (evaluated !== this.seen) this.byKey = new Map(evaluated.map((one) => [identityKey(one.definition.id), one]));
    this.seen = evaluated;
    return this.byKey;
  }
}

function toCondition({ definition, kind, reason, message }: EvaluatedDefinition): Condition {
  const status = kind ? 'True' : 'False';
  return { type: 'Accepted', status, reason, message, observedGeneration: definition.generation };
}

/** Creates the status loop of MetaresourceDefinitions. */
export function createDefinitionsLoop(): KeyedLoop {
  return new KeyedLoop(new DefinitionsReconciler());
}
