import { EventReader } from './event-reader';
import { restFixture, serviceId, type RestFixture } from './rest-fixture';

describe('a watch', () => {
  let rest: RestFixture;
  let url: string;
  const readers: EventReader[] = [];

  const start = async (limits: Parameters<typeof restFixture>[0] = {}): Promise<void> => {
    rest = await restFixture(limits);
    url = `http://127.0.0.1:${await rest.server.listen('127.0.0.1', 0)}/meshes/default/meshservices`;
  };
  const watch = async (query = '', headers: Record<string, string> = {}): Promise<EventReader> => {
    const reader = await EventReader.open(`${url}?watch=true${query}`, headers);
    readers.push(reader);
    return reader;
  };
  afterEach(async () => {
    await Promise.all(readers.splice(0).map((reader) => reader.close()));
    await rest.close();
  });

  const names = (events: { event: string; data: { name?: string } }[]): string[] =>
    events.map(({ event, data }) => `${event} ${data.name ?? ''}`.trim());

  it('begins with everything, then tells changes and deletions, the latest of each', async () => {
    await start();
    await rest.seed({ id: serviceId('a') }, { id: serviceId('b') });
    const reader = await watch();
    expect(names(await reader.take(3))).toEqual(['put a', 'put b', 'bookmark']);
    await rest.seed({ id: serviceId('c') });
    expect(names(await reader.take(2))).toEqual(['put c', 'bookmark']);
    await rest.store.write({ changes: [{ type: 'delete', id: serviceId('a'), expect: 'any' }], onRefusal: 'abort' });
    const [gone] = await reader.take(2);
    expect(gone).toMatchObject({
      event: 'delete',
      data: { type: 'MeshService', mesh: 'default', namespace: 'default', zone: 'east', name: 'a' },
    });
  });

  it('goes on behind the event a reader saw last, deletions included', async () => {
    await start();
    await rest.seed({ id: serviceId('a') }, { id: serviceId('b') });
    const first = await watch();
    const id = (await first.take(3))[2]?.id ?? '';
    await rest.seed({ id: serviceId('c') });
    await rest.store.write({ changes: [{ type: 'delete', id: serviceId('a'), expect: 'any' }], onRefusal: 'abort' });
    const resumed = await watch('', { 'last-event-id': id });
    expect(names(await resumed.take(3)).sort()).toEqual(['bookmark', 'delete a', 'put c']);
    const since = await watch(`&since=${id.split('.').at(-1)}`);
    expect(names(await since.take(3)).sort()).toEqual(['bookmark', 'delete a', 'put c']);
  });

  it('is refused with 410 for another life of the store', async () => {
    await start();
    const reader = await watch('', { 'last-event-id': 'another-life.1' });
    expect(reader.response.status).toBe(410);
  });

  it('tells only what is selected, and a resource that no longer is as deleted', async () => {
    await start();
    const reader = await watch('&filter[labels.team]=db');
    expect(names(await reader.take(1))).toEqual(['bookmark']);
    await rest.seed({ id: serviceId('a'), labels: { team: 'web' } }, { id: serviceId('b'), labels: { team: 'db' } });
    expect(names(await reader.take(2))).toEqual(['put b', 'bookmark']);
    await rest.seed({ id: serviceId('b'), labels: { team: 'web' } });
    expect(names(await reader.take(2))).toEqual(['delete b', 'bookmark']);
  });

  it('sends heartbeats while nothing happens, and a bookmark when other kinds changed', async () => {
    await start({ limits: { heartbeat: 20 } });
    const reader = await watch();
    await reader.take(1);
    const revision = rest.index.point?.revision ?? 0;
    const bookmark = reader.next();
    await rest.seed({ id: { ...serviceId('dp'), kind: 'Dataplane' } });
    expect((await bookmark)?.data).toEqual({ revision: revision + 1 });
  });

  it('tells a reader that fell too far behind to list again', async () => {
    await start({ limits: { backlog: 5 } });
    const reader = await watch();
    await reader.take(1);
    await rest.seed(...Array.from({ length: 20 }, (_, i) => ({ id: serviceId(`s${i}`) })));
    expect(names(await reader.take(1))).toEqual(['relist']);
    expect(await reader.next()).toBeUndefined();
  });

  it('is bounded in number', async () => {
    await start({ limits: { watches: 1 } });
    await watch();
    const refused = await watch();
    expect(refused.response.status).toBe(503);
  });

  it('answers HEAD without staying open', async () => {
    await start();
    const head = await fetch(`${url}?watch=true`, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
  });

  it('ends when the server closes', async () => {
    await start();
    const reader = await watch();
    await reader.take(1);
    await rest.server.close();
    expect(await reader.next().catch(() => undefined)).toBeUndefined();
  });
});
