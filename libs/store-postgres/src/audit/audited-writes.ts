import type { Logger } from '@causeway/runtime';
import { auditFields, type WriteRequest, type WriteResult } from '@causeway/store';

/** Logs the entries of a write that was committed, a line each. */
export function logAudited(logger: Logger, { changes }: WriteRequest, { results }: WriteResult): void {
  changes.forEach((change, at) => {
    const result = results[at];
    if (change.type === 'patch' || change.audit === undefined || result?.type !== 'written') return;
    const { revision, generation, created } = result;
    const verb = change.type === 'delete' ? 'delete' : created ? 'create' : 'update';
    const subject = { ...change.id, verb, activity: '' };
    logger.info('audit', auditFields(change.audit, subject, { result: 'done', generation, revision }));
  });
}
