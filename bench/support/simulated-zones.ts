import { readFileSync } from 'node:fs';
import { globalCredentials } from '@causeway/kds';
import { TestZone } from '../../test/support/sync-mesh';
import { shownToken } from '../../test/support/zone-token';
import type { Answer, Order, SimulatedZone } from './simulated-zones-protocol';

/**
 * A process with many zones: each has the real zone side of sync, by gRPC, over a store in memory, and no controllers.
 * Does what its parent orders and ends with it.
 */
const zones: TestZone[] = [];

/** With `spec.state`, which no control loop computes here: a service without it is not sent to other zones. */
const TOLD = { selector: {}, ports: [{ port: 80, appProtocol: 'tcp' }], state: 'Unavailable' };

function tell(answer: Answer): void {
  process.send?.(answer);
}

/** Connects a zone and waits until it holds all that the global sends to every zone. */
async function join({ zone, token }: SimulatedZone, order: Extract<Order, { type: 'join' }>): Promise<void> {
  const credentials = globalCredentials({ type: 'verified', authority: readFileSync(order.caFile) });
  const joined = new TestZone(zone, { addresses: [order.address], credentials, token: shownToken(() => token) });
  zones.push(joined);
  await joined.join({ port: 0 });
  await joined.holds(joined.id('Mesh', 'default'));
}

/** Reports when the last zone of this process has the service, by a clock that all processes of a host share. */
function follow(service: string): void {
  let missing = zones.length;
  for (const zone of zones) {
    const unsubscribe = zone.index.subscribe(({ changes }) => {
      if (!changes.some(({ id, after }) => id.kind === 'MeshService' && id.name === service && after)) return;
      unsubscribe();
      if (--missing === 0) tell({ type: 'everywhere', at: now() });
    });
  }
  tell({ type: 'following' });
}

function now(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

async function obey(order: Order): Promise<void> {
  switch (order.type) {
    case 'join':
      // A handful at a time, as zones that come back after an outage of the global do with their jitter.
      for (let from = 0; from < order.zones.length; from += 10)
        await Promise.all(order.zones.slice(from, from + 10).map((zone) => join(zone, order)));
      return tell({ type: 'joined' });
    case 'follow':
      return follow(order.service);
    case 'write': {
      const at = now();
      await zones[0]?.put('MeshService', order.service, TOLD);
      return tell({ type: 'written', at });
    }
  }
}

process.on('message', (order: Order) => {
  obey(order).catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
});
process.on('disconnect', () => process.exit(0));
