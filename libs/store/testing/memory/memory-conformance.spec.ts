import { storeConformance } from '../conformance';
import { MemoryAudit } from './memory-audit';
import { MemoryDisk } from './memory-disk';
import { MemoryLease } from './memory-lease';
import { MemoryAgentLeases } from './memory-agent-leases';
import { MemoryProxySessions } from './memory-proxy-sessions';
import { MemorySessions } from './memory-sessions';
import { MemoryStore } from './memory-store';

storeConformance('MemoryStore', () => {
  const disk = new MemoryDisk();
  const [store, other] = [new MemoryStore(disk), new MemoryStore(disk)];
  return Promise.resolve({
    store,
    other,
    sessions: new MemorySessions(disk),
    proxies: new MemoryProxySessions(disk),
    otherProxies: new MemoryProxySessions(disk),
    agentLeases: new MemoryAgentLeases(disk),
    audit: new MemoryAudit(disk),
    lease: new MemoryLease(disk),
    close: async () => {
      await Promise.all([store.close(), other.close()]);
    },
  });
});
