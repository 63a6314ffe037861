import type { ProxyReport, ProxySessionStore, ReplicaSessions } from '../../src/proxy-sessions';
import { promised, type MemoryDisk } from './memory-disk';

/** Sessions of proxies on a memory disk. */
export class MemoryProxySessions implements ProxySessionStore {
  constructor(private readonly disk: MemoryDisk) {}

  report({ sessions: reported, ...replica }: ProxyReport): Promise<boolean> {
    return promised(() => {
      const { clock, proxies } = this.disk;
      const known = proxies.get(replica.instance);
      const [seenAt, { version }] = [clock.now(), replica];
      const sessions = new Map(known?.sessions);
      for (const session of reported) sessions.set(session.proxy, { ...session, version, changedAt: seenAt });
      proxies.set(replica.instance, { ...replica, seenAt, sessions });
      return known !== undefined;
    });
  }

  read(known: ReadonlyMap<string, number>): Promise<readonly ReplicaSessions[]> {
    return promised(() =>
      [...this.disk.proxies.values()].map(({ sessions, ...replica }) => {
        const since = known.get(replica.instance) ?? -1;
        const news = [...sessions.values()].filter(({ version }) => version > since);
        return { ...replica, now: this.disk.clock.now(), sessions: news };
      }),
    );
  }

  forget(gone: Parameters<ProxySessionStore['forget']>[0]): Promise<void> {
    return promised(() => {
      for (const { instance, proxy, version } of gone) {
        const replica = this.disk.proxies.get(instance);
        if (replica?.sessions.get(proxy)?.version !== version) continue;
        const sessions = new Map(replica.sessions);
        sessions.delete(proxy);
        this.disk.proxies.set(instance, { ...replica, sessions });
      }
    });
  }

  forgetReplicas(gone: Parameters<ProxySessionStore['forgetReplicas']>[0]): Promise<void> {
    return promised(() => {
      for (const { instance, version } of gone)
        if (this.disk.proxies.get(instance)?.version === version) this.disk.proxies.delete(instance);
    });
  }
}
