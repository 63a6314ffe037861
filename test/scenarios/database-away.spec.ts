import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { Prng } from '../simulation/engine/prng';
import { createTestDatabase } from '../support/postgres';
import { ProcessPlane } from '../support/process-plane';

/** Connections among which some end at once: more than the steps of a start make. */
const ROCKY = 30;

/** A way to the database on which the first connection ends at once, and many of the next ones. */
function rockyWay(url: URL): { readonly server: Server; readonly tries: () => number } {
  const chance = new Prng(1);
  let tries = 0;
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    if (++tries === 1 || (tries <= ROCKY && chance.chance(0.5))) return void socket.destroy();
    const onward = connect(Number(url.port), url.hostname);
    onward.on('error', () => socket.destroy()).on('close', () => socket.destroy());
    socket.on('close', () => onward.destroy());
    socket.pipe(onward).pipe(socket);
  });
  return { server, tries: () => tries };
}

describe('a control plane whose database comes and goes while it starts', () => {
  it.each(['zone', 'global'] as const)(
    'waits, as a process with nothing else to do, and serves once it is there (%s)',
    async (app) => {
      const database = await createTestDatabase();
      const { server, tries } = rockyWay(new URL(database.url));
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const url = new URL(database.url);
      url.port = String((server.address() as AddressInfo).port);
      try {
        const plane = await ProcessPlane.start(app, 'east', { DATABASE_URL: url.href });
        expect(tries()).toBeGreaterThan(3);
        expect(await plane.get('/')).toBeDefined();
        await plane.stop();
      } finally {
        server.close();
        await database.drop();
      }
    },
  );
});
