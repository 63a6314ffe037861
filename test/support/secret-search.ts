import { createPrivateKey } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { Client } from 'pg';

/** A way to a port of loopback that keeps every byte that passes in either direction. */
export class RecordedWay {
  private readonly chunks: Buffer[] = [];
  private readonly sockets = new Set<Socket>();
  private readonly server = createServer((inner) => this.join(inner));

  constructor(
    private readonly to: number,
    private readonly host = '127.0.0.1',
  ) {}

  async open(): Promise<{ readonly port: number }> {
    this.server.listen(0, this.host);
    await once(this.server, 'listening');
    return { port: (this.server.address() as AddressInfo).port };
  }

  get bytes(): Buffer {
    return Buffer.concat(this.chunks);
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private join(inner: Socket): void {
    const outer = connect(this.to, this.host);
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
  }
}

/** Every row of every table of a database as text, bytea in hex. */
export async function tablesOf(url: string): Promise<string> {
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

/** Returns the forms in which a private key could be written down: `texts`, and `bytes` for binary forms. */
export function formsOfKey(pem: string): { readonly texts: readonly string[]; readonly bytes: readonly Buffer[] } {
  const key = createPrivateKey(pem);
  const { d = '' } = key.export({ format: 'jwk' });
  const bytes = [key.export({ format: 'der', type: 'pkcs8' }), Buffer.from(d, 'base64url')];
  const encodings = ['hex', 'base64', 'base64url'] as const;
  const texts = bytes.flatMap((each) => encodings.map((encoding) => each.toString(encoding)));
  return { texts: [...texts, ...pem.split('\n').slice(1, -2)], bytes };
}
