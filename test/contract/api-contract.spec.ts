import { connectApi, type ApiClient, type WatchEvent } from '@causeway/api-client';
import type { ApplyOptions } from '@causeway/api-client/testing';
import type { JsonObject } from '@causeway/resources';
import { OPERATOR_TOKEN } from '../grpc/grpc-fixture';
import { serviceId } from '../rest/rest-fixture';
import { until } from '../support/until';
import { Link } from '../support/link';
import { failure, INTERFACES, type Served } from './served-plane';

const service = (name: string, more: JsonObject = {}): JsonObject => ({
  type: 'MeshService',
  mesh: 'default',
  name,
  spec: { selector: { dataplaneTags: { app: name } }, ports: [{ port: 80, appProtocol: 'http' }] },
  ...more,
});
const bad = (name: string, more: JsonObject = {}): JsonObject =>
  service(name, { spec: { ports: [{ port: 0 }] }, ...more });
const named = (name: string) => ({ kind: 'MeshService', name });
const SERVICES = { kind: 'MeshService', mesh: 'default' };

/** Counts the documents of an apply by their outcome. */
interface Outcomes {
  readonly counts: Readonly<Record<string, number>>;
  readonly revision: number;
}

/** Follows a watch and records its events. */
class Follower {
  readonly held = new Map<string, JsonObject>();
  readonly events: WatchEvent[] = [];
  private readonly stop = new AbortController();
  private readonly running: Promise<void>;

  constructor(api: ApiClient, resumeToken?: string) {
    const { signal } = this.stop;
    this.running = this.follow(api.watch(SERVICES, { signal, ...(resumeToken === undefined ? {} : { resumeToken }) }));
  }

  async end(): Promise<void> {
    this.stop.abort();
    await this.running;
  }

  private async follow(events: AsyncIterable<WatchEvent>): Promise<void> {
    for await (const event of events) {
      this.events.push(event);
      if (event.type === 'put') this.held.set(JSON.stringify(event.document['name']).slice(1, -1), event.document);
      else if (event.type === 'deleted') this.held.delete(event.id.name);
      else if (event.type === 'restart') this.held.clear();
    }
  }
}

describe.each(INTERFACES)('the contract of the API over %s', (_, serve) => {
  let served: Served;
  let proxy: Link;
  let api: ApiClient;
  beforeEach(async () => {
    served = await serve();
    proxy = new Link();
    await proxy.listen();
    proxy.lead(served.port);
    api = await connectApi({ server: new URL(`${served.scheme}://127.0.0.1:${proxy.port}`), token: OPERATOR_TOKEN });
  });
  afterEach(async () => {
    api.close();
    await proxy.close();
    await served.close();
  });

  it('shows every write that it has answered', async () => {
    for (let i = 0; i < 20; i++) {
      const { results, revision } = await api.apply([service('a', { labels: { turn: `t${i}` } })]);
      expect(results).toMatchObject([{ index: 0, outcome: i === 0 ? 'created' : 'updated', id: serviceId('a') }]);
      const read = await api.get(named('a'));
      expect(read).toMatchObject({ document: { labels: { turn: `t${i}` } }, revision });
      expect(read.etag).toMatch(new RegExp(`\\.${i + 1}"$`));
      expect((await api.list(SERVICES)).documents).toMatchObject([{ labels: { turn: `t${i}` } }]);
    }
    const [again] = (await api.apply([service('a', { labels: { turn: 't19' } })])).results;
    expect(again?.outcome).toBe('unchanged');
    expect(await api.delete(named('a'))).toEqual([]);
    expect((await api.list(SERVICES)).documents).toEqual([]);
  });

  it('T000-02 T000-25 reads a Mesh under the name XMesh too, with the status that readers see', async () => {
    const mesh = { type: 'Mesh', name: 'default' };
    const status = { awsName: 'default', conditions: [{ type: 'Accepted', status: 'Unknown', reason: 'Pending' }] };
    const read = await api.get({ kind: 'XMesh', name: 'default' });
    expect(read.document).toMatchObject({ ...mesh, status });
    expect((await api.get({ kind: 'Mesh', name: 'default' })).document).toEqual(read.document);
    expect((await api.list({ kind: 'XMesh' })).documents).toEqual([read.document]);
    const stop = new AbortController();
    for await (const event of api.watch({ kind: 'XMesh' }, { signal: stop.signal }))
      if (event.type === 'put') {
        expect(event.document).toEqual(read.document);
        stop.abort();
      }
    expect(stop.signal.aborted).toBe(true);
    expect(await failure(api.get({ kind: 'YMesh', name: 'default' }))).toMatchObject({ code: 'invalid' });
  });

  it('refuses with the same code, and each broken rule by its field', async () => {
    expect(await failure(api.get(named('none')))).toMatchObject({ code: 'not-found' });
    expect(await failure(api.get({ ...named('a'), mesh: 'none' }))).toMatchObject({ code: 'not-found' });
    expect(await failure(api.list(SERVICES, { minRevision: 99_999 }))).toMatchObject({ code: 'invalid' });
    const { results } = await api.apply([bad('a'), { type: 'Mesh', name: 'm' }, { type: 'Nonsense' }]);
    expect(results.map(({ error }) => error?.code)).toEqual(['invalid', 'forbidden', 'invalid']);
    const [first, mesh] = [serviceId('a'), { kind: 'Mesh', mesh: '', zone: '', namespace: '', name: 'm' }];
    expect(results.map(({ id }) => id)).toEqual([first, mesh, undefined]);
    const port = expect.objectContaining({ field: 'spec.ports[0].port', rule: 'out-of-range' });
    expect(results[0]?.error?.violations).toContainEqual(port);
    const [single] = (await api.apply([bad('a')])).results;
    expect(single?.id).toEqual(first);
    expect(single?.error?.violations).toContainEqual(port);
    await api.apply([service('a')]);
    expect(await failure(api.delete(named('a'), { etag: '"other.1"' }))).toMatchObject({ code: 'precondition-failed' });
    const { etag } = await api.get(named('a'));
    expect(await api.delete(named('a'), { etag })).toEqual([]);
    expect(await failure(api.explain({ hostname: 'a.mesh.local', mesh: 'none' }))).toMatchObject({ code: 'not-found' });
  });

  it('resolves a hostname to its service, its addresses and its instances, and explains it', async () => {
    const dataplane = (name: string, address: string, state: string): JsonObject => ({
      type: 'Dataplane',
      mesh: 'default',
      name,
      spec: { networking: { address, inbound: [{ port: 8080, state, tags: { app: 'a', 'kuma.io/service': 'a' } }] } },
    });
    const spec = {
      selector: { dataplaneTags: { app: 'a' } },
      ports: [{ port: 80, targetPort: 8080, name: 'web', appProtocol: 'http' }],
    };
    const generator = {
      type: 'HostnameGenerator',
      name: 'local',
      spec: { selector: { meshService: { matchLabels: {} } }, template: '{{ name }}.mesh' },
    };
    const documents = [
      service('a', { spec }),
      dataplane('one', '10.0.0.1', 'Ready'),
      dataplane('two', '10.0.0.2', 'NotReady'),
      generator,
    ];
    const { results, revision } = await api.apply(documents);
    expect(results.map(({ outcome, error }) => error?.violations ?? outcome)).toEqual(Array(4).fill('created'));
    await served.index.reached(revision);
    const status = { vip: { ip: '241.0.0.7', type: 'kuma' } };
    const stored = served.index.get(serviceId('a'));
    const change = {
      type: 'put',
      id: serviceId('a'),
      expect: 'any',
      labels: stored?.labels ?? {},
      spec,
      status,
    } as const;
    await served.index.reached((await served.store.write({ changes: [change], onRefusal: 'abort' })).revision);
    const instance = (name: string, address: string, ready: boolean): object => ({
      address,
      port: 8080,
      servicePort: 80,
      ready,
      dataplane: { ...serviceId(name), kind: 'Dataplane' },
    });
    expect(await api.resolve({ hostname: 'A.mesh.' })).toEqual({
      hostname: 'a.mesh',
      zone: 'east',
      service: serviceId('a'),
      virtualIps: ['241.0.0.7'],
      ports: [{ port: 80, name: 'web', appProtocol: 'http' }],
      endpoints: [instance('one', '10.0.0.1', true), instance('two', '10.0.0.2', false)],
    });
    const claim = {
      rank: 1,
      service: serviceId('a'),
      generator: { name: 'local', zone: 'east' },
      status: 'Available',
    };
    expect(await api.explain({ hostname: 'a.mesh', zone: 'east' })).toEqual({
      hostname: 'a.mesh',
      mesh: 'default',
      zone: 'east',
      hints: [],
      winner: claim,
      claims: [claim],
    });
    expect(await failure(api.resolve({ hostname: 'b.mesh' }))).toMatchObject({ code: 'not-found', title: 'Not found' });
    const elsewhere = await failure(api.resolve({ hostname: 'a.mesh', zone: 'west' }));
    expect(elsewhere).toMatchObject({ code: 'invalid', violations: [{ field: 'zone', rule: 'invalid' }] });
    expect((await api.explain({ hostname: 'b.mesh' })).hints).not.toEqual([]);
  });

  it('replaces one resource, if it is in the state that was read', async () => {
    await api.apply([service('a')]);
    const { document, etag } = await api.get(named('a'));
    const labelled = { ...document, labels: { team: 'db' } };
    expect(await api.replace(named('a'), labelled, { etag, dryRun: true })).toMatchObject({ outcome: 'updated' });
    expect(await api.replace(named('a'), labelled, { etag })).toMatchObject({ outcome: 'updated', warnings: [] });
    expect(await failure(api.replace(named('a'), document, { etag }))).toMatchObject({ code: 'precondition-failed' });
    const other = await failure(api.replace(named('a'), { ...document, name: 'b' }));
    expect([other.code, other.violations.length > 0]).toEqual(['invalid', true]);
    expect((await api.list(SERVICES)).documents).toMatchObject([{ name: 'a', labels: { team: 'db' } }]);
  });

  it('says which two documents are of one resource, and tells results as they come', async () => {
    const told: number[] = [];
    const { results } = await api.apply([service('a'), service('b'), service('a')], {
      result: ({ index }) => void told.push(index),
    });
    expect(results.map(({ sameAs }) => sameAs)).toEqual([2, undefined, 0]);
    expect(told).toEqual([0, 1, 2]);
    expect((await api.list(SERVICES, { most: 1 })).documents).toHaveLength(1);
  });

  it('applies many: each by itself, all or nothing, and as a dry run', async () => {
    const each = await api.apply([service('a'), bad('b'), service('c')]);
    expect(each.results.map(({ outcome }) => outcome)).toEqual(['created', 'refused', 'created']);
    const all = await api.apply([service('d'), bad('e')], { atomic: true });
    expect(all.results.map(({ outcome }) => outcome)).toEqual(['skipped', 'refused']);
    const changed = service('a', { labels: { team: 'db' } });
    const dry = await api.apply([changed, service('new')], { dryRun: true });
    expect(dry.results.map(({ outcome }) => outcome)).toEqual(['updated', 'created']);
    expect(dry.results[0]?.diff).toMatchObject({ before: { name: 'a' }, after: { labels: { team: 'db' } } });
    expect(dry.results[1]?.diff).not.toHaveProperty('before');
    expect((await api.list(SERVICES)).documents.map(({ name }) => name)).toEqual(['a', 'c']);
  });

  describe('with one bad document among many', () => {
    /** The most that one apply takes, and enough for several pages of a list. */
    const [MAX_BATCH, MANY] = [10_000, 2_500] as const;
    const AT = 1_700;
    const all = Array.from({ length: MAX_BATCH }, (_unused, i) =>
      (i === AT ? bad : service)(`s-${String(i).padStart(5, '0')}`, { labels: { part: String(i % 4) } }),
    );

    /** The outcomes with how many documents had them; the bad one is refused in its place, with its field. */
    async function outcomes(many: readonly JsonObject[], options: ApplyOptions): Promise<Outcomes> {
      const { results, revision } = await api.apply(many, options);
      expect(results.map(({ index }) => index)).toEqual(many.map((_unused, i) => i));
      const refused = results.filter(({ outcome }) => outcome === 'refused');
      expect(refused).toMatchObject([{ index: AT, id: serviceId('s-01700'), error: { code: 'invalid' } }]);
      expect(refused[0]?.error?.violations.map(({ field }) => field)).toEqual(['spec.ports[0].port']);
      const counts = new Map<string, number>();
      for (const { outcome } of results) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
      return { counts: Object.fromEntries(counts), revision };
    }
    const names = async (labelSelector: string, minRevision: number): Promise<readonly unknown[]> =>
      (await api.list({ ...SERVICES, labelSelector }, { minRevision })).documents.map(({ name }) => name);

    it('writes none of them as a dry run or all at once', async () => {
      const [many, rest] = [all.slice(0, MANY), MANY - 1];
      expect(await outcomes(many, { dryRun: true })).toMatchObject({ counts: { created: rest, refused: 1 } });
      // A dry run reports the outcome of each document by itself.
      const options = { atomic: true, dryRun: true };
      expect(await outcomes(many, options)).toMatchObject({ counts: { created: rest, refused: 1 } });
      expect(await outcomes(many, { atomic: true })).toMatchObject({ counts: { skipped: rest, refused: 1 } });
      expect((await api.list(SERVICES)).documents).toEqual([]);
    });

    it('takes the largest apply, writes the others, and lists them whole, selected by labels', async () => {
      const { counts, revision } = await outcomes(all, {});
      expect(counts).toEqual({ created: MAX_BATCH - 1, refused: 1 });
      const others = all.flatMap(({ name }, i) => (i === AT ? [] : [{ name, isOdd: i % 2 === 1 }]));
      const listNames = (isOdd: boolean) => others.filter((each) => each.isOdd === isOdd).map(({ name }) => name);
      expect(await names('part in (1,3)', revision)).toEqual(listNames(true));
      expect(await names('part in (0,2)', revision)).toEqual(listNames(false));
    });
  });

  it('explains a hostname that several claim: who has it and why the others do not', async () => {
    const generator = (name: string, template: string): JsonObject => ({
      type: 'HostnameGenerator',
      name,
      spec: { selector: { meshService: { matchLabels: { team: 'db' } } }, template },
    });
    const db = { labels: { team: 'db' } };
    const written = [generator('by-hand', 'one.mesh.local'), service('b', db), service('a', db), service('other')];
    for (const document of written) {
      const { results } = await api.apply([document]);
      expect(results).toMatchObject([{ outcome: 'created' }]);
    }
    const has = (name: string): object => ({
      rank: 1,
      service: serviceId(name),
      generator: { name: 'by-hand', zone: 'east' },
      status: 'Available',
    });
    const { claims } = await api.explain({ hostname: 'one.mesh.local' });
    const lost = {
      rank: 2,
      status: 'NotAvailable',
      rule: expect.stringMatching(/./),
      reason: expect.stringMatching(/\bb\b/),
    };
    expect(claims).toEqual([
      has('b'),
      { ...has('a'), ...lost, change: expect.stringContaining('it gets the name when') },
    ]);
    await api.delete(named('b'));
    expect((await api.explain({ hostname: 'one.mesh.local' })).claims).toEqual([has('a')]);
    const { claims: none, hints } = await api.explain({ hostname: 'two.mesh.local' });
    expect([none, hints]).toEqual([[], [expect.stringContaining('no HostnameGenerator')]]);
    expect(await failure(api.explain({ hostname: '' }))).toMatchObject({ code: 'invalid' });
  });

  it('explains a request and says the merged routes of a service', async () => {
    const route = {
      type: 'HTTPRoute',
      mesh: 'default',
      name: 'split',
      spec: {
        parentRefs: [{ kind: 'Service', name: 'a' }],
        rules: [{ name: 'all', backendRefs: [{ name: 'b', port: 80 }] }],
      },
    };
    const { results } = await api.apply([service('a'), service('b'), route]);
    expect(results.map(({ outcome, error }) => error?.violations ?? outcome)).toEqual(Array(3).fill('created'));
    const question = { to: 'http://a/', service: { name: 'a' } };
    const decision = { route: { name: 'split' }, rule: 'all', group: 'producer' };
    expect(await api.explainRequest({ question })).toMatchObject({ mesh: 'default', zone: 'east', decision });
    const asked = { service: 'a', namespace: 'default', port: 80, client: 'default', zone: 'east' };
    const rules = [{ route: { name: 'split' }, backends: [{ to: expect.stringContaining('b:80') }] }];
    expect(await api.routesOf(asked)).toMatchObject({ total: 1, tables: [{ port: 80, rules }] });
    expect(await failure(api.explainRequest({ question: { to: 'ftp://a/' } }))).toMatchObject({
      code: 'invalid',
      violations: [{ field: 'to' }],
    });
    expect(await failure(api.routesOf({ service: 'none' }))).toMatchObject({ code: 'not-found' });
    expect(await failure(api.routesOf({ service: 'a', mesh: 'none' }))).toMatchObject({ code: 'not-found' });
    expect(await failure(api.routesOf({ service: '' }))).toMatchObject({ code: 'invalid' });
  });

  it('watches: the list, then changes; a cut in the middle leaves no gap', async () => {
    await api.apply([service('a'), service('b')]);
    const follower = new Follower(api);
    await until('the list', () => follower.events.some(({ type }) => type === 'bookmark'));
    expect([...follower.held.keys()]).toEqual(['a', 'b']);
    const direct = await connectApi({
      server: new URL(`${served.scheme}://127.0.0.1:${served.port}`),
      token: OPERATOR_TOKEN,
    });
    await direct.apply([service('c')]);
    await until('a change', () => follower.held.has('c'));
    for (let turn = 0; turn < 3; turn++) {
      proxy.cut();
      await direct.delete(named('a'));
      await direct.apply([service('c', { labels: { turn: `t${turn}` } }), service(`during-${turn}`)]);
      proxy.heal();
      await until('it has caught up', () => follower.held.has(`during-${turn}`));
      await until('the latest state', () => JSON.stringify(follower.held.get('c')).includes(`"t${turn}"`));
      await until('the deletion', () => !follower.held.has('a'));
      await direct.apply([service('a')]);
      await until('a change', () => follower.held.has('a'));
    }
    expect(follower.events.filter(({ type }) => type === 'restart')).toEqual([]);
    direct.close();
    await follower.end();
  });

  it('watches behind a list without a gap, and from the beginning where its point is gone', async () => {
    await api.apply([service('a')]);
    const { resumeToken } = await api.list(SERVICES);
    await api.apply([service('b')]);
    const behind = new Follower(api, resumeToken);
    await until('what came behind the list', () => behind.held.has('b'));
    expect(behind.held.has('a')).toBe(false);
    await behind.end();
    const lost = new Follower(api, 'another-life.1');
    await until('the whole list', () => lost.held.size === 2);
    expect(lost.events[0]).toEqual({ type: 'restart' });
    await lost.end();
  });
});
