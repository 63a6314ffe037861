import {
  FieldPath,
  Invalid,
  isJsonObject,
  jsonBytes,
  Violations,
  type Kind,
  type ViolationRule,
} from '@causeway/resources';
import type { Envelope } from './document-forms';

/** Maximum number of warnings that a response lists. */
const MAX_WARNINGS = 100;

/** The violations and warnings of a document, collected while it is decoded. */
export class DocumentReport {
  readonly violations = new Violations();
  private readonly listed: string[] = [];

  get warnings(): readonly string[] {
    return this.listed;
  }

  /** Adds a violation of `rule` at `at`. */
  refuse(at: FieldPath, reason: string, rule: ViolationRule = 'invalid'): void {
    this.violations.add(at, rule, () => reason);
  }

  /** Adds warnings: content that is legal but most likely a mistake. */
  warn(...warnings: readonly string[]): void {
    for (const warning of warnings) if (this.listed.length < MAX_WARNINGS) this.listed.push(warning);
  }
}

/** Throws Invalid if there are violations. The error lists the first hundred and their total. */
export function throwIfInvalid(violations: Violations): void {
  if (violations.total > 0) throw new Invalid(violations);
}

/**
 * Checks labels and spec against the bounds of the kind; returns false if the document is too large. As the first check
 * of a document, it limits the cost of a too large one to counting its bytes.
 */
export function checkSize(
  { name, bounds }: Kind,
  { labels, spec, at }: Pick<Envelope, 'labels' | 'spec' | 'at'>,
  report: DocumentReport,
): boolean {
  const count = isJsonObject(labels) ? Object.keys(labels).length : 0;
  if (count > bounds.labels)
    report.refuse(at.labels, `must be at most ${bounds.labels} labels, are ${count}`, 'too-many');
  const bytes = jsonBytes(labels, bounds.bytes) + jsonBytes(spec, bounds.bytes);
  if (bytes > bounds.bytes)
    report.refuse(
      FieldPath.at('spec'),
      `labels and spec of a ${name} must not be larger than ${bounds.bytes} bytes of JSON`,
      'too-large',
    );
  return count <= bounds.labels && bytes <= bounds.bytes;
}
