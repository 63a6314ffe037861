import type { FieldPath, Violation } from '@causeway/resources';

/** Supported fields of an object, and unsupported ones with the reason. */
export interface FieldRules {
  readonly known: readonly string[];
  readonly refused: Readonly<Record<string, string>>;
}

/**
 * Adds a violation for each field that would be lost: no user input is silently dropped. A field that is neither known
 * nor refused came from a newer peer.
 */
export function checkFields(object: object, { known, refused }: FieldRules, at: FieldPath, found: Violation[]): void {
  for (const [field, value] of Object.entries(object)) {
    if (value === undefined || value === null || known.includes(field)) continue;
    const why = Object.hasOwn(refused, field) ? refused[field] : undefined;
    if (why === undefined) found.push(at.field(field).violation('is not known here', 'unknown-field'));
    else found.push(at.field(field).violation(`is not supported: ${why}`, 'not-allowed'));
  }
}
