/** The rules that select the resources for each peer, and the state machines of a stream (libs/sync/README.md). */
export {
  isKindSentDown,
  isKeptFromSync,
  isKindSentUp,
  isOwnedByStream,
  isSentDown,
  isSentDownAlike,
  isSentUp,
  mayHaveBeenSentDown,
  mayHaveBeenSentUp,
  ownershipViolation,
  type Receiver,
  type SyncPeer,
} from './sync-rules';
export { instancesToReport } from './instances-to-report';
export { MeshView, type ExportDefault } from './mesh-view';
export { Outbox } from './outbox';
export type { OutboundSource } from './outbox-kind';
export type { LastSent, MessageLimits, OutboundMessage, OutboundResource, StatePart } from './outbound-message';
export { KeyedStateBlocks, type StateBlocks, type StateBlock } from './state-blocks';
export { Inbox, type InboundChanges, type InboundItem, type InboundMessage } from './inbox';
export { inboundViolation } from './inbound-validation';
export { Rejections, type Rejection } from './rejection';
export {
  readLostRules,
  findLostSince,
  readLostState,
  readReportedLoss,
  readReportedSession,
  computeZoneLoss,
  type LostPolicy,
  type LostRule,
  type LostRules,
  type LostState,
  type ZoneLoss,
  type ZoneSession,
} from './lost-zone';
export { QUARANTINED, readQuarantine, releases, type Quarantine } from './quarantine';
export { SyncCondition, withOwnConditions } from './sync-conditions';
export {
  confirmIncarnation,
  isConfirmed,
  isIncarnationComplete,
  decideIncarnation,
  NO_INCARNATION,
  rolledBackIncarnation,
  type KnownIncarnation,
  type PendingIncarnation,
} from './incarnation';
