import { createPrivateKey, randomBytes } from 'node:crypto';
import { createServer, connect, type Server, type Socket } from 'node:net';
import { createTrustLoop, LoopRunner } from '@causeway/controllers';
import { SealingKeys, ZoneAuthority } from '@causeway/identity';
import { silentLogger, systemClock } from '@causeway/runtime';
import { Client } from 'pg';
import { PostgresHomes } from '../support/postgres-homes';
import { TestGlobal, TestZone } from '../support/sync-mesh';

/** A way to the global that keeps every byte that passes in either direction. */
class RecordedWay {
  private readonly chunks: Buffer[] = [];
  private readonly sockets = new Set<Socket>();
  private readonly server: Server;

  constructor(to: number) {
    this.server = createServer((inner) => {
      const outer = connect(to, '127.0.0.1');
      for (const [from, into] of [
        [inner, outer],
        [outer, inner],
      ] as const) {
        this.sockets.add(from);
        from.on('data', (chunk: Buffer) => {
          this.chunks.push(chunk);
          into.write(chunk);
        });
        from.on('close', () => into.destroy());
        from.on('error', () => into.destroy());
      }
    });
  }

  async open(): Promise<{ readonly port: number }> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    const address = this.server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    return { port: address.port };
  }

  get bytes(): Buffer {
    return Buffer.concat(this.chunks);
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

/** Every row of every table of a database as text, bytea in hex. */
async function tablesOf(url: string): Promise<string> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string }>(
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
    );
    const texts: string[] = [];
    for (const { name } of rows) {
      const found = await client.query<{ row: string }>(`SELECT row_to_json(t)::text AS row FROM ${name} AS t`);
      texts.push(...found.rows.map(({ row }) => row));
    }
    return texts.join('\n');
  } finally {
    await client.end();
  }
}

describe("the key of a zone's authority", () => {
  const homes = new PostgresHomes();
  const open: { close(): Promise<unknown> }[] = [];
  afterAll(async () => {
    for (const one of open.reverse()) await one.close();
    await homes.drop();
  });

  it('is in no other store and on no wire, while its certificate is in all of them; in its own store it is sealed', async () => {
    const global = new TestGlobal({}, await homes.state('global'));
    const east = new TestZone('east', {}, await homes.state('east'));
    const west = new TestZone('west', {}, await homes.state('west'));
    open.push(global, east, west);
    await global.put('Mesh', 'default', {});
    await global.serve();
    const ways = [new RecordedWay(global.port), new RecordedWay(global.port)];
    open.push(...ways);
    const [toEast, toWest] = await Promise.all(ways.map((way) => way.open()));
    if (!toEast || !toWest) throw new Error('no way');
    await Promise.all([east.join(toEast), west.join(toWest)]);

    const parsed = SealingKeys.parse(`k:${randomBytes(32).toString('base64')}`);
    if (!parsed.ok) throw new Error(parsed.reason);
    const { epoch, holder } = await east.state.lease.readEpoch();
    const authority = new ZoneAuthority({
      ...{ store: east.store, keys: parsed.keys, zone: 'east', clock: systemClock, logger: silentLogger },
    });
    const { authorities } = await authority.ensure({ epoch, holder });
    const [made] = authorities;
    const opened = made && parsed.keys.open(made.key, 'workload-authority/east');
    if (!made || !opened?.ok) throw new Error('no authority');

    const { lease } = global.state;
    const standing = await lease.readEpoch();
    const led = await lease.takeOver(standing.epoch, 'global', 1_000_000);
    const ended = new AbortController();
    const runner = new LoopRunner([createTrustLoop()], {
      ...{ store: global.store, index: global.index, clock: systemClock, logger: silentLogger, random: () => 0.5 },
      term: { epoch: led ?? 0, holder: 'global', signal: ended.signal },
    });
    const running = runner.run();
    const caBundles = [{ type: 'Pem', pem: { value: made.certificate } }];
    await east.put('MeshTrust', 'own', { trustDomain: 'default.east.mesh.local', caBundles });
    await global.holds(east.id('MeshTrust', 'own'));
    const derived = await new Promise<string>((resolve) => {
      const look = (): void => {
        const name = west.names('MeshTrust').find((one) => one.startsWith('derived-'));
        if (name === undefined) setImmediate(look);
        else resolve(name);
      };
      look();
    });
    expect((await west.holds(global.id('MeshTrust', derived))).spec).toMatchObject({ caBundles });
    ended.abort();
    await running;
    runner.close();

    const key = createPrivateKey(opened.text);
    const { d = '' } = key.export({ format: 'jwk' });
    const secrets = [key.export({ format: 'der', type: 'pkcs8' }), Buffer.from(d, 'base64url')];
    const forms = secrets.flatMap((bytes) => [
      bytes.toString('hex'),
      bytes.toString('base64'),
      bytes.toString('base64url'),
    ]);
    const line = made.certificate.split('\n')[2] ?? '';
    const pemLines = opened.text.split('\n').slice(1, -2);
    for (const home of ['global', 'west', 'east']) {
      const tables = await tablesOf(homes.url(home));
      expect(tables).toContain(line);
      for (const secret of [...forms, ...pemLines]) expect(tables).not.toContain(secret);
      expect(tables.includes(made.key.sealed)).toBe(home === 'east');
    }
    for (const way of ways) {
      const { bytes } = way;
      expect(bytes.includes(line)).toBe(true);
      for (const secret of [...forms, ...pemLines, made.key.sealed]) expect(bytes.includes(secret)).toBe(false);
      for (const secret of secrets) expect(bytes.includes(secret)).toBe(false);
    }
  });
});
