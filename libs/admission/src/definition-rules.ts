import {
  canBeQualified,
  declaredKind,
  declaredName,
  declaredNames,
  isQualifiedName,
  MetaresourceDefinition,
} from '@causeway/kinds';
import { SHIPPED_GROUP } from '@causeway/policies';
import {
  Conflict,
  FieldPath,
  Forbidden,
  Invalid,
  parseApiVersion,
  type Kind,
  type Registry,
  type Resource,
} from '@causeway/resources';
import type { IndexReader } from '@causeway/store';
import type { ValidatedDraft } from './validate-draft';

/**
 * Maximum number of stored policies that one write of a definition is checked against; bounds the duration of the write.
 */
const MAX_CHECKED = 2_000;

/** Throws Forbidden for a shipped definition: it changes only with the version of the control plane. */
export function checkNotShipped(stored: Resource | undefined): void {
  if (stored?.id.kind !== MetaresourceDefinition.name || stored.spec['group'] !== SHIPPED_GROUP) return;
  throw new Forbidden(
    `MetaresourceDefinition "${stored.id.name}" is brought by the control plane and changes with its version; declare a kind of another group instead`,
  );
}

/** Throws Invalid for a user's definition in the group of shipped definitions. */
export function checkOwnGroup({ id, spec }: Pick<Resource, 'id' | 'spec'>): void {
  if (id.kind !== MetaresourceDefinition.name || spec['group'] !== SHIPPED_GROUP) return;
  const group = FieldPath.at('spec').field('group');
  throw new Invalid([
    group.violation(`${SHIPPED_GROUP} is reserved for the kinds that control planes bring`, 'not-allowed'),
  ]);
}

/**
 * Returns a definition in the form to be stored: if a definition of another group already has one of its names, this one declares a second kind,
 * which is used by its name and group (`spec.qualified`). The choice at its creation is final. Throws Invalid if it would rename a kind that it
 * declares.
 */
export function withQualified(draft: ValidatedDraft, stored: Resource | undefined, registry: Registry): ValidatedDraft {
  const { id, spec } = draft;
  if (id.kind !== MetaresourceDefinition.name || !MetaresourceDefinition.isSpec(spec)) return draft;
  const qualified = { ...draft, spec: { ...draft.spec, qualified: true } };
  if (stored?.spec['qualified'] === true) return spec.qualified === undefined ? qualified : draft;
  if (spec.qualified !== undefined) {
    const isDeclared = spec.qualified && stored !== undefined && registry.kind(spec.kind)?.declaredBy === id.name;
    if (!isDeclared) return draft;
    const field = FieldPath.at('spec').field('qualified');
    throw new Invalid([field.violation(`cannot be changed: it would rename the kind ${spec.kind}`, 'not-allowed')]);
  }
  const isTaken = listWords(spec).some((word) => {
    const other = registry.noun(word);
    if (!other?.declaredBy || other.declaredBy === id.name) return false;
    return parseApiVersion(other.apiVersion).group !== spec.group;
  });
  return isTaken && canBeQualified(spec) ? qualified : draft;
}

function listWords(spec: Parameters<typeof declaredNames>[0]): readonly string[] {
  const { name, plural, shortName } = declaredNames(spec);
  return [name.toLowerCase(), plural, shortName];
}

/**
 * Throws Conflict if the definition of a declared kind has changed since the document was checked against it. The store
 * itself refuses the write if it changes after the revision of the index.
 */
export function checkStillDeclared(kind: Kind, registry: Registry): void {
  if (kind.declaredBy === '' || registry.kind(kind.name) === kind) return;
  throw new Conflict(`the definition of ${kind.name} has changed at the same time; try again`);
}

/**
 * Returns the kind whose policies need this definition: the one that it declares, or would declare if it were valid.
 * Undefined for other resources, and if another definition declares the kind.
 */
export function kindOfDefinition({ id, spec }: Resource, registry: Registry): string | undefined {
  const name = id.kind === MetaresourceDefinition.name ? declaredName(spec) : undefined;
  if (name === undefined) return undefined;
  const known = registry.kind(name);
  return known === undefined || known.declaredBy === id.name ? name : undefined;
}

/** Describes how many resources of a kind there are, and where; undefined if there is none. */
export function describeInstances(name: string, index: IndexReader): string | undefined {
  const count = index.countKind(name);
  if (count === 0) return undefined;
  const meshes = [...index.countByMesh(name)].map(([mesh, of]) => `${of} in mesh ${mesh}`).sort();
  const zones = new Set([...index.ofKind(name)].map(({ id }) => id.zone).filter((zone) => zone !== ''));
  const made = zones.size === 0 ? '' : `; made in zones: ${[...zones].sort().slice(0, 10).join(', ')}`;
  const what = count === 1 ? `1 resource of kind ${name} exists` : `${count} resources of kind ${name} exist`;
  return `${what}, please delete them to proceed: ${meshes.slice(0, 10).join(', ')}${made}`;
}

/**
 * Warns if another definition already has a name of this one, which then declares no kind, and about stored policies
 * that a new definition of their kind makes invalid: they stay stored but no longer take effect.
 */
export function definitionWarnings(
  { id, spec }: ValidatedDraft,
  stored: Resource | undefined,
  { registry, index }: { readonly registry: Registry; readonly index: IndexReader },
): readonly string[] {
  if (id.kind !== MetaresourceDefinition.name || !MetaresourceDefinition.isSpec(spec)) return [];
  for (const word of listWords(spec)) {
    const winner = registry.noun(word)?.declaredBy ?? id.name;
    if (winner !== id.name) return [`declares no kind: "${word}" is taken by the MetaresourceDefinition ${winner}`];
  }
  const { name, bareName, plural } = declaredNames(spec);
  if (!stored && isQualifiedName(name))
    return [
      `declares the kind "${name}", the path and the noun are "${plural}": "${bareName}" without its group means another kind`,
    ];
  const before = stored && kindOfDefinition(stored, registry);
  if (!before) return [];
  const after = declaredKind(id.name, spec);
  let checked = 0;
  let invalid = 0;
  for (const policy of index.ofKind(before)) {
    if (checked === MAX_CHECKED) break;
    checked += 1;
    if (after.checkAt(policy.id, policy.spec, FieldPath.at('spec')).total > 0) invalid += 1;
  }
  if (invalid === 0) return [];
  const of = checked === index.countKind(before) ? '' : ` of the first ${checked}`;
  return [
    `${invalid}${of} stored ${before} resources do not fit this definition: they stay, and take effect no more until they fit`,
  ];
}
