/**
 * Who gets what, and what a stream does with it, as deterministic state machines without I/O.
 *
 *   index event → Outbox (what the peer must hear) → message → Inbox (what it means here) → changes for the store
 *
 * The pumps around them are in libs/kds. Who may be told what: `isSentDown`, `isSentUp`; who may write
 * what: `trespass`.
 */
export {
  isKindSentDown,
  isKindSentUp,
  isSentDown,
  isSentUp,
  mayHaveBeenSentDown,
  mayHaveBeenSentUp,
  type SyncPeer,
} from './send-rules';
export { MeshView, type ExportDefault } from './mesh-view';
export { type MessageLimits, type OutboundSource, type OutboundResource, type LastSent } from './outbound';
export { Outbox } from './outbox';
export { type KindProgress, type OutboundMessage } from './outbox-kind';
export { Inbox } from './inbox';
export { type InboundItem, type HeldResource, type InboundChanges, type InboundMessage } from './inbox-kind';
export { inboundViolation, type InboundResource } from './receive-rules';
export { Rejections, type Rejection } from './rejection';
export { isOwnedByStream, ownershipViolation, type Receiver } from './ownership';
export {
  lostRuleOf,
  lostSince,
  lostStateOf,
  type LostPolicy,
  type LostRule,
  type LostState,
  type ZoneContact,
} from './lost-zone';
export { QUARANTINED, quarantineOf, releases, type Quarantine } from './quarantine';
export { isIncarnationComplete, type AwaitedZone } from './incarnation-complete';
export { SyncCondition, withOwnConditions } from './sync-conditions';
export {
  confirmIncarnation,
  isConfirmed,
  judgeIncarnation,
  NO_INCARNATION,
  rolledBackIncarnation,
  type KnownIncarnation,
  type IncarnationVerdict,
  type PendingIncarnation,
} from './incarnation';
