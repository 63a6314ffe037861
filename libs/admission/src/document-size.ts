import { FieldPath, isJsonObject, jsonBytes, type Kind } from '@causeway/resources';
import type { Envelope } from './document/document-forms';
import type { DocumentReport } from './findings';

/**
 * Whether a document is within its kind's bounds; notes what is not. It is asked before anything in the document is
 * looked at, so what is too large costs no more than counting its bytes.
 */
export function checkSize(
  { name, bounds }: Kind,
  { labels, spec, at }: Pick<Envelope, 'labels' | 'spec' | 'at'>,
  found: DocumentReport,
): boolean {
  const count = isJsonObject(labels) ? Object.keys(labels).length : 0;
  if (count > bounds.labels)
    found.refuse(at.labels, `must be at most ${bounds.labels} labels, are ${count}`, 'too-many');
  const bytes = jsonBytes(labels, bounds.bytes) + jsonBytes(spec, bounds.bytes);
  if (bytes > bounds.bytes)
    found.refuse(
      FieldPath.at('spec'),
      `labels and spec of a ${name} must not be larger than ${bounds.bytes} bytes of JSON`,
      'too-large',
    );
  return count <= bounds.labels && bytes <= bounds.bytes;
}
