/** The state of a control plane, and its index in memory (libs/store/README.md). */
export {
  Fenced,
  RelistRequired,
  type Change,
  type ChangeBatch,
  type ChangeResult,
  type CopyFacts,
  type Expectation,
  type Fence,
  type MetadataEntry,
  type PatchChange,
  type PutChange,
  type ReadSet,
  type Refusal,
  type ResourceStore,
  type Snapshot,
  type ResourceLookup,
  type StoreChange,
  type StoreMaintenance,
  type WriteRequest,
  type WriteResult,
} from './resource-store';
export { ResourceIndex, type IndexChange, type IndexEvent, type IndexReader } from './resource-index';
export { followStore, waitUntilReached, waitUntilCaughtUp } from './follow-store';
export { DoubleBuffer, type Derivation } from './derived/derivation';
export {
  DerivedTable,
  fillInSlices,
  type FillRunner,
  type FollowedTable,
  type Follower,
} from './derived/derived-table';
export { followIndex, type IndexedState } from './derived/follow-index';
export {
  type SessionOpening,
  type SessionRequest,
  type SessionStore,
  type WholeMark,
  type SessionRecord,
} from './session-store';
export {
  type ProxyFacts,
  type ProxyFault,
  xdsTypeName,
  type ProxyReport,
  type ProxySession,
  type ProxySessionStore,
  type ProxyTypeFacts,
  type ReplicaSessions,
  type StoredProxySession,
} from './proxy-sessions';
export type {
  AgentLease,
  AgentLeaseStore,
  AgentFinding,
  CheckedInbound,
  UnsupportedPart,
  SharedClients,
  HeldLease,
  LeaseAgent,
  LeaseResult,
  LeaseClaim,
  LeaseKey,
  LeaseRenewal,
  LeaseSurvey,
  LostLease,
} from './agent-leases';
export {
  auditFields,
  auditSource,
  auditText,
  type AuditBounds,
  type AuditEntry,
  type AuditInterface,
  type AuditLog,
  type AuditPage,
  type AuditPosition,
  type AuditQuery,
  type AuditRecord,
  type AuditResult,
  type AuditSource,
  type AuditSubject,
} from './audit-log';
export { outdatedResults, refusalDetail, RefusedWrite, refusedWrite, type RefusalFacts } from './refused-write';
export { unstorable } from './storable';
export {
  BACKUP_VERSION,
  BackupWriter,
  MAX_BACKUP_LINE,
  type BackupHeader,
  type BackupOwner,
  type BackupRecord,
  type BackupTable,
  type StoreFacts,
} from './backup/backup-format';
export { BackupReader, backupLines, type BackupProblem } from './backup/backup-reader';
export {
  ownerProblem,
  StoreNotEmpty,
  type BackupReceiver,
  type BackupSelection,
  type RestoreResult,
  type StoreExport,
} from './backup/store-backup';
