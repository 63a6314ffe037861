import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { runCauseway } from './run-causeway';

/** Answers deletions only when as many are in flight as the client keeps, or the last ones of a kind. */
class HoldingServer {
  /** Numbers of deletions that were in flight together, in order. */
  readonly rounds: number[] = [];
  private held: ServerResponse[] = [];
  private readonly server = createServer(({ method, url = '' }, response) => {
    if (method !== 'DELETE') return void response.writeHead(404).end();
    this.held.push(response);
    const kind = url.includes('/meshservices/') ? 'meshservices' : 'meshes';
    this.left[kind] -= 1;
    if (this.held.length === 64 || this.left[kind] === 0) this.answer();
  });

  constructor(private readonly left: { meshservices: number; meshes: number }) {}

  async listen(): Promise<string> {
    await new Promise<void>((done) => this.server.listen(0, '127.0.0.1', done));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    await new Promise((done) => this.server.close(done));
  }

  private answer(): void {
    this.rounds.push(this.held.length);
    // The last one first: the order of answers is not that of the lines.
    for (const response of this.held.reverse()) response.setHeader('content-type', 'application/json').end('{}');
    this.held = [];
  }
}

describe('causeway delete of many resources', () => {
  it('keeps 64 deletions in flight, prints their results in order, and goes on to the next kind only afterwards', async () => {
    const server = new HoldingServer({ meshservices: 600, meshes: 1 });
    const url = await server.listen();
    const names = Array.from({ length: 600 }, (_, i) => `s-${i}`);
    const words = [...names.map((name) => `meshservice/${name}`), 'mesh/demo'];
    const { code, out, err } = await runCauseway(url, ['delete', '-y', '-m', 'default', ...words]);
    await server.close();
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(server.rounds).toEqual([64, 64, 64, 64, 64, 64, 64, 64, 64, 24, 1]);
    expect(out.trimEnd().split('\n')).toEqual([
      ...names.map((name) => `MeshService ${name} deleted`),
      'Mesh demo deleted',
    ]);
  });
});
