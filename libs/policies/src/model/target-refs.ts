import {
  bareGroup,
  isJsonArray,
  isJsonObject,
  jsonEqual,
  ownField,
  type FieldPath,
  type Identity,
  type JsonObject,
  type JsonValue,
  type LabelSelector,
  type ViolationReport,
} from '@causeway/resources';
import type { Declared, PolicyDefinition } from './definition';
import { standsInDefault, resolveTargetKind } from './levels';
import type { TargetRef } from './policy';

/** Maximum number of targets of one policy (T004-04). */
export const MAX_TARGET_REFS = 16;
/** Maximum number of pairs and expressions of one selector, and of values of one expression. */
const MAX_SELECTED = 64;
/** Maximum length of a text of a reference, characters. */
const MAX_NAME_LENGTH = 253;

/** Reads the targets of a policy; violations are added to the report. Linear in the targets, except for duplicates (at most 16). */
export function readTargetRefs(
  definition: PolicyDefinition,
  id: Identity,
  spec: JsonObject,
  report: ViolationReport,
): TargetRef[] {
  const { at, found } = report;
  const [single, given] = [ownField(spec, 'targetRef'), ownField(spec, 'targetRefs')];
  if (single !== undefined && given !== undefined) {
    found.push(at.field('targetRef').violation('must not stand beside targetRefs', 'not-allowed'));
    return [];
  }
  const list = single !== undefined ? [single] : given;
  const place = at.field('targetRefs');
  if (list === undefined) {
    found.push(place.violation('must say what the policy is for', 'required'));
    return [];
  }
  if (!isJsonArray(list)) {
    found.push(place.violation('must be a list', 'wrong-type'));
    return [];
  }
  if (list.length === 0) found.push(place.violation('must have at least one target', 'too-few'));
  if (list.length > MAX_TARGET_REFS) {
    found.push(place.violation(`must have at most ${MAX_TARGET_REFS} targets, has ${list.length}`, 'too-many'));
    return [];
  }
  const refs: TargetRef[] = [];
  list.forEach((item, i) => {
    const one = single !== undefined ? at.field('targetRef') : place.index(i);
    const ref = readRef(definition, id, item, { at: one, found });
    if (!ref) return;
    const same = refs.findIndex((other) => isSameTarget(other, ref));
    if (same >= 0) found.push(one.violation(`names the same target as targetRefs[${same}]`, 'not-unique'));
    refs.push(ref);
  });
  return refs;
}

const isSameTarget = (a: TargetRef, b: TargetRef): boolean =>
  a.kind === b.kind &&
  a.namespace === b.namespace &&
  a.name === b.name &&
  a.sectionName === b.sectionName &&
  jsonEqual(selectorJson(a), selectorJson(b));

const selectorJson = ({ selector }: TargetRef): JsonValue | undefined =>
  selector && {
    matchLabels: { ...selector.matchLabels },
    matchExpressions: (selector.matchExpressions ?? []).map(({ key, operator, values = [] }) => ({
      key,
      operator,
      values,
    })),
  };

const FIELDS = ['group', 'version', 'kind', 'namespace', 'name', 'selector', 'sectionName'];

function readRef(
  definition: PolicyDefinition,
  id: Identity,
  item: JsonValue,
  { at, found }: ViolationReport,
): TargetRef | undefined {
  const before = found.length;
  if (!isJsonObject(item)) {
    found.push(at.violation('must be an object', 'wrong-type'));
    return undefined;
  }
  for (const key of Object.keys(item)) {
    if (!FIELDS.includes(key)) found.push(at.field(key).violation('is no field of a target', 'unknown-field'));
  }
  const text = (field: string): string | undefined => {
    const value = ownField(item, field);
    if (value === undefined || (typeof value === 'string' && value.length <= MAX_NAME_LENGTH)) return value;
    found.push(at.field(field).violation(`must be a text of at most ${MAX_NAME_LENGTH} characters`, 'wrong-type'));
    return undefined;
  };
  const [group, kind, namespace, name, sectionName] = ['group', 'kind', 'namespace', 'name', 'sectionName'].map(text);
  text('version');
  const target = readTarget(definition, { group, kind }, { at, found });
  const selector = readSelector(ownField(item, 'selector'), { at: at.field('selector'), found });
  if ((name === undefined || name === '') === (ownField(item, 'selector') === undefined)) {
    found.push(at.field('name').violation('must be given, or selector in its place, and not both', 'required'));
  }
  if (sectionName !== undefined && target && !target.section) {
    found.push(
      at
        .field('sectionName')
        .violation(`${target.kind} has no sections that a ${definition.kind} can name`, 'not-allowed'),
    );
  }
  if (!target || found.length > before) return undefined;
  const resolved = {
    group: target.group,
    kind: target.kind,
    ...(selector ? { selector } : { name: name ?? '' }),
    ...(sectionName !== undefined && { sectionName }),
    level: sectionName !== undefined ? target.section : target.level,
  };
  const place = readAncestor(definition, id, { ...resolved, namespace }, { at, found });
  return place === undefined ? undefined : { ...resolved, namespace: place };
}

interface ResolvedKind {
  readonly group: string;
  readonly kind: string;
  readonly level: Declared['level'] | undefined;
  readonly section: Declared['section'];
}

/** Returns the declared or virtual kind of a reference; the kind may be omitted if there is only one (T004-05). */
function readTarget(
  { kind: policyKind, declared, virtual }: PolicyDefinition,
  { group, kind }: { readonly group: string | undefined; readonly kind: string | undefined },
  { at, found }: ViolationReport,
): ResolvedKind | undefined {
  const all = [...declared.values(), ...virtual].map((one) => one.kind);
  const resolved = kind ?? (all.length === 1 ? all[0] : undefined);
  if (resolved === undefined) {
    found.push(at.field('kind').violation(`must be one of ${all.join(', ')}`, 'required'));
    return undefined;
  }
  const known = declared.get(resolveTargetKind(resolved));
  if (known) {
    const groups = known.groups;
    if (group === undefined || groups.includes(bareGroup(group))) {
      return { group: groups[0] ?? '', kind: known.kind, level: known.level, section: known.section };
    }
    const reason = `must be one of ${groups.map((one) => `"${one}"`).join(', ')} for ${resolved}; got "${group}"`;
    found.push(at.field('group').violation(reason, 'not-one-of'));
    return undefined;
  }
  const ofKind = virtual.filter(
    (one) => one.kind === resolved && (group === undefined || one.group === bareGroup(group)),
  );
  if (ofKind.length === 1 && ofKind[0]) return { ...ofKind[0], level: undefined, section: undefined };
  const reason = `must be one of ${all.join(', ')}, which a ${policyKind} can target; got "${resolved}"`;
  found.push(at.field('kind').violation(reason, 'not-one-of'));
  return undefined;
}

/** Returns the namespace of a target; undefined if the kind forbids it (T004-08). */
function readAncestor(
  { kind: policyKind, crossNamespace }: PolicyDefinition,
  id: Identity,
  {
    kind,
    level,
    name,
    namespace,
  }: Pick<TargetRef, 'kind' | 'level' | 'name'> & { readonly namespace: string | undefined },
  { at, found }: ViolationReport,
): string | undefined {
  const refuse = (field: string, reason: string): undefined => {
    found.push(at.field(field).violation(reason, 'not-allowed'));
    return undefined;
  };
  if (level === 'Mesh' || level === 'Namespace') {
    if (namespace !== undefined) return refuse('namespace', `a ${level} stands in no namespace`);
    const own = level === 'Mesh' ? id.mesh : id.namespace;
    if (name === undefined || name === own) return '';
    return refuse('name', `must be ${own}: a policy targets its own ${level} only; got "${name}"`);
  }
  const preset = standsInDefault(kind) ? 'default' : id.namespace;
  const place = namespace || preset;
  if (place !== id.namespace && crossNamespace === 'Forbidden') {
    return refuse(
      'namespace',
      `must be ${id.namespace}: a ${policyKind} targets its own namespace only; got "${place}"`,
    );
  }
  return place;
}

const operators = ['In', 'NotIn', 'Exists', 'DoesNotExist'] as const;

function readSelector(given: JsonValue | undefined, { at, found }: ViolationReport): LabelSelector | undefined {
  if (given === undefined) return undefined;
  const wrong = (place: FieldPath, reason: string): undefined => {
    found.push(place.violation(reason, 'wrong-form'));
    return undefined;
  };
  if (!isJsonObject(given)) return wrong(at, 'must be an object');
  const [stray] = Object.keys(given).filter((key) => key !== 'matchLabels' && key !== 'matchExpressions');
  if (stray !== undefined) return wrong(at.field(stray), 'is no field of a selector: matchLabels, matchExpressions');
  const [labels = {}, expressions = []] = [ownField(given, 'matchLabels'), ownField(given, 'matchExpressions')];
  if (!isJsonObject(labels)) return wrong(at.field('matchLabels'), 'must be a map of texts');
  const pairs = Object.entries(labels).filter((pair): pair is [string, string] => typeof pair[1] === 'string');
  if (pairs.length < Object.keys(labels).length || pairs.length > MAX_SELECTED) {
    return wrong(at.field('matchLabels'), `must be a map of at most ${MAX_SELECTED} texts`);
  }
  if (!isJsonArray(expressions) || expressions.length > MAX_SELECTED) {
    return wrong(at.field('matchExpressions'), `must be a list of at most ${MAX_SELECTED} expressions`);
  }
  const matchExpressions: NonNullable<LabelSelector['matchExpressions']>[number][] = [];
  for (const [i, expression] of expressions.entries()) {
    const read = readExpression(expression);
    if (!read)
      return wrong(
        at.field('matchExpressions').index(i),
        `must have key, operator (${operators.join(', ')}) and, for In and NotIn, values`,
      );
    matchExpressions.push(read);
  }
  return { matchLabels: Object.fromEntries(pairs), matchExpressions };
}

function readExpression(given: JsonValue): NonNullable<LabelSelector['matchExpressions']>[number] | undefined {
  if (!isJsonObject(given)) return undefined;
  const [key, named, values = []] = [ownField(given, 'key'), ownField(given, 'operator'), ownField(given, 'values')];
  const operator = operators.find((one) => one === named);
  if (typeof key !== 'string' || !operator || !isJsonArray(values) || values.length > MAX_SELECTED) return undefined;
  const texts = values.filter((value) => typeof value === 'string');
  return texts.length === values.length ? { key, operator, values: texts } : undefined;
}
