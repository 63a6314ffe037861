import type { FieldPath, Violation } from './violation';

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LABEL_1035 = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;

/** RFC 1123 subdomain of at most 253 characters: what every resource may be called (design.md §1 Names). */
export function isSubdomain(name: string): boolean {
  return name.length <= 253 && SUBDOMAIN.test(name);
}

/** RFC 1035 label of at most 63 characters: what Kuma and a DNS label take as a name. */
export function isDnsLabel(name: string): boolean {
  return name.length <= 63 && LABEL_1035.test(name);
}

/** Violations of the name rule at `at`; none when the name is good. */
export function checkName(name: string, at: FieldPath): Violation[] {
  if (name === '') return [at.violation('must not be empty', 'required')];
  if (name.length > 253)
    return [at.violation(`must not be longer than 253 characters, has ${name.length}`, 'too-long')];
  if (!SUBDOMAIN.test(name)) {
    return [
      at.violation(
        `must be an RFC 1123 subdomain: lower-case letters, digits, '-' and '.', starting and ending with a letter or digit; got "${name}"`,
        'wrong-form',
      ),
    ];
  }
  return [];
}
