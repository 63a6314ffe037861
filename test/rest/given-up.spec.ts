import { connect, type Socket } from 'node:net';
import type { Insights } from '@causeway/queries';
import { inSlices } from '@causeway/runtime';
import { restFixture, type RestFixture } from './rest-fixture';

/** Number of expensive requests that run at once; a few more wait. */
const AT_ONCE = 8;

/** Insights whose work never ends by itself, and what became of it. */
class EndlessInsights implements Insights {
  begun = 0;
  ended = 0;
  private readonly waiting = new Set<() => void>();

  readonly explainHostname: NonNullable<Insights['explainHostname']> = (question, signal) =>
    question.hostname === 'short' ? { ...question, zone: '', claims: [], hints: [] } : this.work(signal);
  readonly hostnames: NonNullable<Insights['hostnames']> = (_mesh, _part, signal) => this.work(signal);
  readonly consequences: NonNullable<Insights['consequences']> = (_draft, signal) => this.work(signal);

  /** Resolves when `isSo`. */
  async when(isSo: () => boolean): Promise<void> {
    while (!isSo()) await new Promise<void>((resolve) => this.waiting.add(resolve));
  }

  private async work(signal: AbortSignal): Promise<never> {
    this.begun += 1;
    this.tell();
    const endless = function* (): Generator<unknown> {
      for (;;) yield;
    };
    try {
      await inSlices(endless(), signal);
      throw new Error('the endless has ended');
    } finally {
      this.ended += 1;
      this.tell();
    }
  }

  private tell(): void {
    for (const wake of this.waiting) wake();
    this.waiting.clear();
  }
}

function request(method: string, path: string, body?: object): string {
  const text = body ? JSON.stringify(body) : '';
  const head = [`${method} ${path} HTTP/1.1`, 'host: localhost', `content-length: ${Buffer.byteLength(text)}`];
  return [...head, ...(body ? ['content-type: application/json'] : []), '', text].join('\r\n');
}

const generator = {
  type: 'HostnameGenerator',
  name: 'g',
  spec: { selector: { meshService: { labels: {} } }, template: '{{ name }}.mesh' },
};

describe('work for a request', () => {
  let rest: RestFixture;
  let insights: EndlessInsights;
  let port: number;
  const clients: Socket[] = [];
  const ask = (text: string): void => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    clients.push(socket.on('error', () => undefined));
  };

  beforeEach(async () => {
    insights = new EndlessInsights();
    rest = await restFixture({ insights });
    port = await rest.server.listen('127.0.0.1', 0);
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.destroy();
    await rest.close();
  });

  it.each([
    ['an explanation', request('POST', '/_explain/hostname', { hostname: 'x.y' })],
    ['a table of hostnames', request('GET', '/meshes/default/hostnames')],
    ['a dry run', request('PUT', '/hostnamegenerators/g?dryRun=true', generator)],
  ])('%s whose client is gone ends, and its place is free for others', async (_what, text) => {
    for (let i = 0; i < AT_ONCE; i++) ask(text);
    await insights.when(() => insights.begun === AT_ONCE);
    for (const client of clients) client.destroy();
    await insights.when(() => insights.ended === AT_ONCE);
    const payload = { hostname: 'short' };
    const answer = await rest.server.inject({ method: 'POST', url: '/_explain/hostname', payload });
    expect([answer.statusCode, answer.json()]).toEqual([
      200,
      { hostname: 'short', mesh: 'default', zone: '', claims: [], hints: [] },
    ]);
  });
});
