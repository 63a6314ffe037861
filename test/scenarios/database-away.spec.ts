import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { createTestDatabase, type TestDatabase } from '../support/postgres';
import { ProcessPlane } from '../support/process-plane';

const REFUSED = 3;

/** A way to the database that ends the first connections at once. */
function rockyWay(url: URL): { readonly server: Server; readonly tries: () => number } {
  let tries = 0;
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    if (++tries <= REFUSED) return void socket.destroy();
    const onward = connect(Number(url.port), url.hostname);
    onward.on('error', () => socket.destroy()).on('close', () => socket.destroy());
    socket.on('close', () => onward.destroy());
    socket.pipe(onward).pipe(socket);
  });
  return { server, tries: () => tries };
}

describe('a control plane whose database is away at its start', () => {
  let database: TestDatabase;
  let server: Server;
  let tries: () => number;

  beforeAll(async () => {
    database = await createTestDatabase();
    ({ server, tries } = rockyWay(new URL(database.url)));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    server.close();
    await database.drop();
  });

  it('waits, as a process with nothing else to do, and serves once it is there', async () => {
    const url = new URL(database.url);
    url.port = String((server.address() as AddressInfo).port);
    const zone = await ProcessPlane.start('zone', 'east', { DATABASE_URL: url.href });
    expect(tries()).toBeGreaterThan(REFUSED);
    expect(await zone.get('/')).toBeDefined();
    await zone.stop();
  }, 240_000);
});
