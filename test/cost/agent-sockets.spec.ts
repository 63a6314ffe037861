import { Server } from 'node:net';
import type { Resource } from '@causeway/resources';
import { LocalPlane, ViewResources } from '../support/local-plane';
import { sketch, TrafficZone } from '../support/traffic-zone';

const SIZES = [1_000, 8_000];

/** A service with a virtual IP of loopback. */
function service(i: number): Resource {
  const spec = { selector: {}, ports: [{ port: 6_379, appProtocol: 'tcp' }], state: 'Available' };
  const status = { vip: { ip: `127.77.${Math.floor(i / 250)}.${(i % 250) + 1}` } };
  return sketch('MeshService', `s${i}`, spec, { status });
}

/** Sockets that begin to listen, and that end, while `work` runs. */
async function countSockets(
  work: () => Promise<unknown>,
): Promise<{ readonly opened: number; readonly closed: number }> {
  const [listens, closes] = [jest.spyOn(Server.prototype, 'listen'), jest.spyOn(Server.prototype, 'close')];
  try {
    await work();
    return { opened: listens.mock.calls.length, closed: closes.mock.calls.length };
  } finally {
    listens.mockRestore();
    closes.mockRestore();
  }
}

describe('an agent of the builtin mode with capture bind', () => {
  it.each(SIZES)('opens one socket for a new service beside %d others, and closes one when it goes', async (size) => {
    const zone = new TrafficZone(Array.from({ length: size }, (_, i) => service(i)));
    const view = { mesh: 'default', listed: 'all', capture: { type: 'bind' } } as const;
    const proxy = new LocalPlane(new ViewResources(zone, 'west', view));
    try {
      expect((await countSockets(() => proxy.start())).opened).toBe(size);
      zone.put(service(size));
      expect(await countSockets(() => proxy.refresh())).toEqual({ opened: 1, closed: 0 });
      zone.delete(service(size));
      expect(await countSockets(() => proxy.refresh())).toEqual({ opened: 0, closed: 1 });
    } finally {
      await proxy.stop();
    }
  });
});
