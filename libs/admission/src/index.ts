/** The only entry for writes of users (libs/admission/README.md). */
export { Admission } from './admission';
export { applyDefaults } from './apply-defaults';
export { applyShipped } from './apply-shipped';
export {
  MAX_BATCH,
  MAX_BATCH_VALUES,
  type BatchDocument,
  type BatchOutcome,
  type BatchWriteProgress,
  type BatchRequest,
  type BatchResult,
} from './batch/batch';
export { recordRefusedDocuments } from './batch/refused-documents';
export { toDocument, type DocumentFormat } from './document/render-document';
export { InUse } from './mesh-rules';
export { formatEtag, PreconditionFailed, type WriteOptions, type WriteOutcome } from './requests';
export { resolveName, type NameQuery } from './resolve-name';
export { isWritable, quarantineCommand } from './rights';
