import { ownZone, type ControlPlane } from '@causeway/resources';
import type { LeaderElection, Logger, SettingValues, Term } from '@causeway/runtime';
import type { PostgresBackend } from '@causeway/store-postgres';
import { instanceId } from './program-facts';
import type { sharedSettings } from './settings';

/** TEMPORARY until the election of libs/runtime lands: the lease only. */
export async function createLeaderElection(
  settings: SettingValues<typeof sharedSettings>,
  parts: { readonly state: PostgresBackend; readonly logger: Logger; readonly cp: ControlPlane },
): Promise<{ election: LeaderElection; close(): Promise<void> }> {
  const { lease } = parts.state;
  const ms = settings.CAUSEWAY_LEADER_LEASE;
  const status = { leading: false, epoch: 0, transitions: 0 };
  const run = async (lead: (term: Term) => Promise<void>, signal: AbortSignal): Promise<void> => {
    void ownZone(parts.cp);
    while (!signal.aborted) {
      const seen = await lease.readEpoch();
      const epoch = await lease.takeOver(seen.epoch, instanceId, ms);
      if (epoch === undefined) {
        await new Promise((r) => setTimeout(r, 200));
        continue;
      }
      Object.assign(status, { leading: true, epoch, transitions: status.transitions + 1 });
      const end = new AbortController();
      const timer = setInterval(() => void lease.renew(epoch, instanceId, ms).then((ok) => ok || end.abort()), ms / 3);
      await lead({ epoch, holder: instanceId, signal: AbortSignal.any([signal, end.signal]) });
      clearInterval(timer);
      await lease.release(epoch, instanceId);
    }
  };
  return { election: { run, status: () => status }, close: async () => undefined };
}
