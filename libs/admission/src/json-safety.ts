import { checkStorable, FieldPath, isJsonObject, Violations, type JsonObject } from '@causeway/resources';

/**
 * A request body as JSON that every store can hold, or what is wrong with it: no object, or one that breaks
 * `checkStorable`. The body is not copied.
 */
export function checkedBody(body: unknown): { readonly object: JsonObject; readonly violations: Violations } {
  const violations = new Violations();
  const at = FieldPath.at();
  if (!isJsonObject(body)) {
    violations.add(at, 'wrong-type', () => 'the body must be an object');
    return { object: {}, violations };
  }
  checkStorable(body, at, violations);
  return { object: body, violations };
}
