import { refusalReason, type AuditRecorder } from '@causeway/access';
import { Forbidden, Unavailable, type Registry } from '@causeway/resources';
import { readAuditSource } from '../rights';
import { Unparsable } from '@causeway/yaml';
import type { BatchRequest, BatchResult } from './batch';

/** Dependencies of recording the refusals of a batch. */
export interface RefusalRecording {
  readonly recorder: Pick<AuditRecorder, 'refused'>;
  readonly registry: Registry;
}

/**
 * Records each refused document of a batch in the audit log like a refused PUT, with the verb `put`. In a dry run it
 * records only documents that the caller may not even request; it never records database failures. Called with the
 * result of `Admission.apply`.
 */
export function recordRefusedDocuments(
  { recorder, registry }: RefusalRecording,
  { context, dryRun = false }: Pick<BatchRequest, 'context' | 'dryRun'>,
  results: readonly BatchResult[],
): void {
  const source = readAuditSource({ context });
  for (const result of results) {
    if (result.outcome !== 'refused') continue;
    const { error, id, index } = result;
    if (error instanceof Unavailable || (dryRun && !(error instanceof Forbidden))) continue;
    // A document of an unknown kind may contain secrets.
    const confidential = id === undefined || registry.kind(id.kind)?.confidential === true;
    const reason = error instanceof Unparsable ? 'the document cannot be read' : refusalReason(error, confidential);
    const subject = id ?? { kind: '', mesh: '', zone: '', namespace: '', name: '' };
    recorder.refused(
      source,
      { ...subject, verb: 'put', activity: id ? '' : `document ${index + 1} of a batch` },
      reason,
    );
  }
}
