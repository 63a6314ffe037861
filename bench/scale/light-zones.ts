import { credentials } from '@grpc/grpc-js';
import type { Answer, Order } from './crowd-protocol';
import { LightZone } from './light-zone';

/** A process with many light zones. Does what its parent orders, in order, and ends with it. */
let zones: (LightZone & { readonly name?: string })[] = [];
const byName = new Map<string, LightZone>();
let together = 10;
let retries = 0;

function tell(answer: Answer): void {
  process.send?.(answer);
}

function now(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Number of attempts to connect: the global refuses or ends what it cannot serve now, and zones try again. */
const TRIES = 20;
const PAUSE = 500;

/** Tries again from the handshake on, as a zone does whose stream ended. */
async function again(zone: LightZone, work: () => Promise<void>, first?: () => Promise<void>): Promise<void> {
  for (let n = 1; ; n++) {
    try {
      if (n > 1) await first?.();
      return await work();
    } catch (error) {
      if (n === TRIES) throw error;
      retries += 1;
      await new Promise((resolve) => setTimeout(resolve, PAUSE * Math.random() * n));
      zone.leave();
    }
  }
}

/** A few at a time, as zones that come back after an outage of the global do with their jitter. */
async function each(work: (zone: LightZone) => Promise<void>): Promise<void> {
  const waiting = [...zones];
  const worker = async (): Promise<void> => {
    for (let zone = waiting.shift(); zone; zone = waiting.shift()) await work(zone);
  };
  await Promise.all(Array.from({ length: together }, worker));
}

function follow(service: string, except: string): void {
  const name = Buffer.from(`"${service}"`);
  const plain = Buffer.from(service);
  const followers = [...byName].flatMap(([zone, light]) => (zone === except ? [] : [light]));
  let missing = followers.length;
  for (const zone of followers) {
    const before = zone.onChange;
    const hear = (bytes: Buffer): void => {
      before?.(bytes);
      if (!bytes.includes(plain) && !bytes.includes(name)) return;
      if (zone.onChange === hear) zone.onChange = before;
      if (--missing === 0) tell({ type: 'everywhere', service, at: now() });
    };
    zone.onChange = hear;
  }
}

async function obey(order: Order): Promise<void> {
  await carryOut(order);
  const tried = retries;
  retries = 0;
  const sum = (pick: (zone: LightZone) => number): number => zones.reduce((all, zone) => all + pick(zone), 0);
  tell({
    type: 'done',
    of: order.type,
    got: sum((zone) => zone.services),
    got_bytes: sum((zone) => zone.bytes),
    retries: tried,
  });
}

async function carryOut(order: Order): Promise<void> {
  switch (order.type) {
    case 'zones': {
      const { address, authority, services } = order;
      const channel =
        authority === undefined ? credentials.createInsecure() : credentials.createSsl(Buffer.from(authority));
      for (const { zone, token } of order.zones)
        byName.set(zone, new LightZone({ zone, token, address, credentials: channel, services }));
      zones = [...byName.values()];
      together = order.together;
      break;
    }
    case 'join':
      await each((zone) => again(zone, () => zone.join()));
      break;
    case 'upload':
      await each((zone) =>
        again(
          zone,
          () => zone.upload(),
          () => zone.join(),
        ),
      );
      break;
    case 'download':
      await Promise.all(
        zones.map((zone) =>
          again(
            zone,
            () => zone.download(),
            async () => {
              await zone.join();
              await zone.upload();
            },
          ),
        ),
      );
      break;
    case 'leave':
      for (const zone of zones) zone.leave();
      break;
    case 'follow':
      follow(order.service, order.except);
      break;
    case 'change':
      byName.get(order.zone)?.change(order.service);
      break;
  }
}

let last: Promise<void> = Promise.resolve();
process.on('message', (order: Order) => {
  last = last
    .then(() => obey(order))
    .catch((error: unknown) => tell({ type: 'failed', error: error instanceof Error ? error.message : String(error) }));
});
process.on('disconnect', () => process.exit(0));
