import { SHIPPED_GROUP, shippedDefinitionName, shippedPolicies } from '@causeway/policies';
import {
  compareText,
  FieldPath,
  identityKey,
  jsonEqual,
  type Identity,
  type Kind,
  type Resource,
} from '@causeway/resources';
import { coreKinds } from '../core-kinds';
import { MetaresourceDefinition } from '../metaresource-definition';
import { declaredKind } from './declared-kind';

const SHIPPED_NAMES: ReadonlySet<string> = new Set(shippedPolicies.map(shippedDefinitionName));

/** Definitions that ship by their name, as this process evaluated each last: every index of a process has the same ones. */
const shippedKinds = new Map<string, EvaluatedKind>();

/** Maximum number of kinds that definitions can declare in one control plane. */
export const MAX_DECLARED_KINDS = 128;

/** Parts of a definition that its evaluation reads. */
export type DefinitionParts = Pick<Resource, 'id' | 'labels' | 'spec' | 'creationOrder'>;

/** A spec of a definition, and the kind that it declares or the message why it declares none. */
interface EvaluatedKind {
  readonly spec: Resource['spec'];
  readonly kind: Kind | string;
}

/** Result of evaluating one definition together with the others. */
export interface EvaluatedDefinition<Definition extends DefinitionParts = Resource> {
  readonly definition: Definition;
  /** The declared kind; undefined if the definition declares none. */
  readonly kind?: Kind;
  readonly reason: 'Accepted' | 'Invalid' | 'Conflicted' | 'TooManyKinds';
  /** Reason why it declares no kind; empty if it declares one. */
  readonly message: string;
}

/**
 * Decides which kinds definitions declare. Built-in kinds have precedence over all definitions. Among definitions with the same
 * name, those that control planes bring win, then those created on the global, then the older ones. A definition whose spec did
 * not change since the last call keeps its kind. Linear in the changed definitions; independent of their order.
 */
export class DefinitionEvaluator {
  private kinds = new Map<string, EvaluatedKind>();

  /** Returns every definition with its result, in order of precedence. */
  evaluate<Definition extends DefinitionParts>(
    definitions: Iterable<Definition>,
  ): readonly EvaluatedDefinition<Definition>[] {
    const known = this.kinds;
    this.kinds = new Map();
    const takenBy = new Map<string, string>();
    let declared = 0;
    return [...definitions].sort(byPrecedence).map((definition) => {
      const kind = this.evaluateKind(definition, known);
      if (typeof kind === 'string') return { definition, reason: 'Invalid', message: kind };
      const taken = takenWord(kind, takenBy);
      if (taken) return { definition, reason: 'Conflicted', message: taken };
      if (++declared > MAX_DECLARED_KINDS)
        return {
          definition,
          reason: 'TooManyKinds',
          message: `${MAX_DECLARED_KINDS} older definitions declare kinds already`,
        };
      for (const word of listWords(kind)) takenBy.set(word, definition.id.name);
      return { definition, kind, reason: 'Accepted', message: '' };
    });
  }

  private evaluateKind(definition: DefinitionParts, known: typeof this.kinds): Kind | string {
    const key = identityKey(definition.id);
    const before = known.get(key) ?? shippedKinds.get(definition.id.name);
    const kind = before && jsonEqual(before.spec, definition.spec) ? before.kind : kindOrFault(definition);
    const evaluated = { spec: definition.spec, kind };
    this.kinds.set(key, evaluated);
    if (SHIPPED_NAMES.has(definition.id.name)) shippedKinds.set(definition.id.name, evaluated);
    return kind;
  }
}

/** Returns the kind, or a message if the definition breaks a rule: synced ones and those of other versions may. */
function kindOrFault({ id, spec }: DefinitionParts): Kind | string {
  const violations = describeViolations(id, spec);
  if (!MetaresourceDefinition.isSpec(spec)) return violations || 'the spec has another shape than definitions have';
  return violations === '' ? declaredKind(id.name, spec) : violations;
}

function describeViolations(id: Identity, spec: Resource['spec']): string {
  const { first } = MetaresourceDefinition.checkAt(id, spec, FieldPath.at('spec'));
  return first.map(({ field, reason }) => `${field}: ${reason}`).join('; ');
}

function listWords({ name, plural, shortName }: Kind): readonly string[] {
  return [name.toLowerCase(), plural, shortName];
}

function takenWord(kind: Kind, takenBy: ReadonlyMap<string, string>): string | undefined {
  for (const word of listWords(kind)) {
    const own = coreKinds.noun(word);
    if (own) return `"${word}" is the kind ${own.name} of this control plane`;
    const other = takenBy.get(word);
    if (other !== undefined) return `"${word}" is taken by the MetaresourceDefinition ${other}`;
  }
  return undefined;
}

function byPrecedence(a: DefinitionParts, b: DefinitionParts): number {
  return computeRank(a) - computeRank(b) || computeAge(a) - computeAge(b) || compareText(a.id.name, b.id.name);
}

function computeRank({ spec, labels }: DefinitionParts): number {
  if (spec['group'] === SHIPPED_GROUP) return 0;
  return labels['kuma.io/origin'] === 'zone' ? 2 : 1;
}

/** Ranks an unknown creation order last, as everywhere. */
function computeAge({ creationOrder }: DefinitionParts): number {
  return creationOrder || Number.MAX_SAFE_INTEGER;
}
