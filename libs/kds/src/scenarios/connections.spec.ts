import { connect, type Socket } from 'node:net';
import { until } from '../../../../test/support/until';
import { TestGlobal, TestZone } from '../../../../test/support/sync-mesh';

const SPEC = { ports: [{ port: 6379, appProtocol: 'tcp' }], state: 'Available' };

/** A connection that sends nothing. */
function knock(port: number): Promise<{ readonly socket: Socket; isClosed: () => boolean }> {
  return new Promise((resolve) => {
    let closed = false;
    const socket = connect(port, '127.0.0.1', () => resolve({ socket, isClosed: () => closed }));
    socket.on('error', () => undefined).on('close', () => (closed = true));
    socket.resume();
  });
}

describe('connections of zones', () => {
  let global: TestGlobal;
  const start = async (connections: { all: number; address: number }): Promise<void> => {
    global = new TestGlobal({ connections });
    await global.put('Mesh', 'default', {});
    await global.serve();
  };
  afterEach(() => global.close());

  it.each([
    ['in all', { all: 5, address: 100 }],
    ['from one address', { all: 100, address: 5 }],
  ])('are bounded %s; those that are there go on, and who leaves makes room', async (_, limits) => {
    await start(limits);
    const east = new TestZone('east');
    const others = await Promise.all([1, 2, 3, 4].map(() => knock(global.port)));
    try {
      await east.join(global);
      await east.put('MeshService', 'a', SPEC);
      await global.holds(east.id('MeshService', 'a'));
      const refused = await Promise.all(Array.from({ length: 20 }, () => knock(global.port)));
      await until('they are closed', () => refused.every(({ isClosed }) => isClosed()));
      expect(others.map(({ isClosed }) => isClosed())).toEqual([false, false, false, false]);
      await east.put('MeshService', 'b', SPEC);
      await global.holds(east.id('MeshService', 'b'));
      others[0]?.socket.destroy();
      await until('there is room', async () => {
        const { socket, isClosed } = await knock(global.port);
        const answered = await new Promise<boolean>((resolve) => {
          socket.once('data', () => resolve(true)).once('close', () => resolve(false));
          socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
        });
        socket.destroy();
        return answered && !isClosed();
      });
    } finally {
      for (const { socket } of others) socket.destroy();
      await east.close();
    }
  });
});
