/**
 * Who gets what, and what a stream does with it, as deterministic state machines without I/O.
 *
 *   index event → Outbox (what the peer must hear) → message → Inbox (what it means here) → changes for the store
 *
 * The pumps around them are in libs/kds. Who may be told what: `isOfferedDown`, `isOfferedUp`; who may write
 * what: `trespass`.
 */
export { goesDown, goesUp, isOfferedDown, isOfferedUp, mayHaveGoneDown, mayHaveGoneUp, type Peer } from './offer-rules';
export { MeshView, type ExportDefault } from './mesh-view';
export { type MessageLimits, type Offer, type Sendable, type Told } from './offer';
export { Outbox } from './outbox';
export { type KindFigures, type Message } from './outbox-kind';
export { Inbox } from './inbox';
export { type Arrival, type Held, type Intake, type Parcel } from './inbox-kind';
export { arrivalFault, type ArrivingResource } from './arrival-rules';
export { Rejections, type Rejection } from './rejection';
export { isOwnedByStream, trespass, type Receiver } from './ownership';
export {
  lostRuleOf,
  lostSince,
  lostStateOf,
  type LostPolicy,
  type LostRule,
  type LostState,
  type Sighting,
} from './lost-zone';
export { QUARANTINED, quarantineOf, releases, type Quarantine } from './quarantine';
export { isWholeLife, type AwaitedZone } from './whole-life';
export { SyncCondition, withOwnConditions } from './sync-conditions';
export {
  confirmLife,
  isConfirmed,
  judgeLife,
  NO_LIFE,
  setBackLife,
  type KnownLife,
  type LifeVerdict,
  type PendingLife,
} from './peer-life';
