/**
 * Test support of a store: MemoryStore, which keeps everything in memory, and the suite that every store passes. Production code does not import it.
 *
 * storeConformance(name, makeWorld): the head of conformance/index.ts lists its guarantees
 */
export { copyFacts, freshId, freshVip, held, put, storeConformance, WatchReader, write } from './conformance';
export { MemoryDisk, type MemoryBackup, type MemoryDiskOptions, type NewestOrder } from './memory/memory-disk';
export { MemoryAudit } from './memory/memory-audit';
export { MemoryStore } from './memory/memory-store';
export { MemorySessions } from './memory/memory-sessions';
export { MemoryProxySessions } from './memory/memory-proxy-sessions';
export { MemoryAgentLeases } from './memory/memory-agent-leases';
export { MemoryLease } from './memory/memory-lease';
export type { IndexListener } from '../src/resource-index';
export { fillAtOnce, noteInto } from './fill-at-once';
