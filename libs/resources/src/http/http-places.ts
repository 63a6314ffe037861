import { entrySchema, HTTP_ROLE, isRecord, ownSchema, type Schema } from '../schema/schema';
import { show } from '../schema/schema-violations';
import type { FieldPath, Violation } from '../violation';
import { httpProblem, type HttpRole } from '../schema/http-rule';

/** Returns the problem of a text with a role; undefined if it is valid. */
type Ask = (role: HttpRole, text: string) => string | undefined;

/** Whether a schema contains texts with a role: most kinds have none and are skipped. */
const withRoles = new WeakMap<Schema, boolean>();

/**
 * Returns violations of the rules for headers and paths, for every text and map key whose schema has a role. The value
 * must fit the schema. Linear in the value; constant for kinds without roles.
 */
export function httpViolations(
  schema: Schema,
  value: unknown,
  at: FieldPath,
  ask: Ask = httpProblem,
): readonly Violation[] {
  const found: Violation[] = [];
  visit({ ask, found }, schema, value, at);
  return found;
}

interface Visit {
  readonly ask: Ask;
  readonly found: Violation[];
}

function visit(to: Visit, schema: Schema, value: unknown, at: FieldPath): void {
  if (!hasRoles(schema)) return;
  const { [HTTP_ROLE]: role, items, anyOf = [], properties = {}, propertyNames } = schema;
  if (typeof value === 'string') checkText(to, role, value, at);
  for (const branch of anyOf) visit(to, branch, value, at);
  if (Array.isArray(value)) {
    if (items) value.forEach((item, i) => visit(to, items, item, at.index(i)));
    return;
  }
  if (!isRecord(value)) return;
  for (const [key, item] of Object.entries(value)) {
    const own = ownSchema(properties, key);
    if (!own) checkText(to, propertyNames?.[HTTP_ROLE], key, at.field(key));
    const inner = own ?? entrySchema(schema, key);
    if (inner) visit(to, inner, item, at.field(key));
  }
}

function checkText({ ask, found }: Visit, role: HttpRole | undefined, text: string, at: FieldPath): void {
  const problem = role && ask(role, text);
  if (problem !== undefined) found.push(at.violation(`${problem}; got ${show(text)}`, 'not-allowed'));
}

function hasRoles(schema: Schema): boolean {
  const known = withRoles.get(schema);
  if (known !== undefined) return known;
  const { items, anyOf = [], properties = {}, patternProperties = {}, propertyNames, additionalProperties } = schema;
  const inner = [
    ...anyOf,
    ...Object.values(properties),
    ...Object.values(patternProperties),
    ...(items ? [items] : []),
    ...(propertyNames ? [propertyNames] : []),
    ...(isRecord(additionalProperties) ? [additionalProperties] : []),
  ];
  const has = schema[HTTP_ROLE] !== undefined || inner.some(hasRoles);
  withRoles.set(schema, has);
  return has;
}
