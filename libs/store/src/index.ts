/**
 * Where the state of a control plane lives: the port `ResourceStore`, the in-memory index that everything reads from,
 * and the loop that keeps one equal to the other.
 *
 *   write → ResourceStore → watch → followStore → ResourceIndex → listeners (controllers, sync, DNS, lists)
 */
export {
  Fenced,
  RelistRequired,
  type Change,
  type ChangeBatch,
  type ChangeResult,
  type CopyFacts,
  type DeleteChange,
  type Expectation,
  type Fence,
  type Note,
  type PatchChange,
  type PutChange,
  type Refusal,
  type ResourceStore,
  type SessionFence,
  type Snapshot,
  type ResourceLookup,
  type StoreChange,
  type WriteRequest,
  type WriteResult,
} from './resource-store';
export {
  ResourceIndex,
  type IndexChange,
  type IndexEvent,
  type IndexListener,
  type IndexReader,
} from './resource-index';
export { waitUntilCaughtUp } from './caught-up';
export { followStore, type FollowOptions } from './follow-store';
export { RefusedWrite, type RefusedChange } from './refused-write';
export { type StoreMaintenance } from './store-maintenance';
export {
  type SessionDirection,
  type SessionOpening,
  type SessionRequest,
  type SessionStore,
  type SessionRecord,
} from './session-store';
export { MemoryDisk, type MemoryBackup, type MemoryDiskOptions } from './memory/memory-disk';
export { MemoryStore } from './memory/memory-store';
export { MemorySessions } from './memory/memory-sessions';
export { MemoryLease } from './memory/memory-lease';
export { refusalDetail, type RefusalFacts } from './refusal-detail';
export { refusedWrite } from './refused-write';
export { unstorable } from './storable';
