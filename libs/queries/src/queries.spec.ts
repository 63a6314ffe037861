import { AccessDenied, AccessPolicy, anonymous, CallerRights } from '@causeway/access';
import { operator } from '@causeway/access/testing';
import { coreKinds } from '@causeway/kinds';
import { Invalid, NotFound, type ControlPlane, type Identity, type Kind } from '@causeway/resources';
import { silentLogger, systemClock } from '@causeway/runtime';
import { followStore, ResourceIndex } from '@causeway/store';
import { MemoryAudit, MemoryDisk, MemoryStore } from '@causeway/store/testing';
import { InvalidQuery, WatchExpired } from './errors';
import { createQueries, type Queries, type QuerySources } from './queries';
import type { EventEncoder, WatchSink } from './watch/watch-event';
import { meshesOf } from '../../../test/support/meshes';

const EAST: ControlPlane = { role: 'zone', zone: 'east', federated: true };
const ALL = { name: undefined, namespace: undefined, zone: undefined, labels: [] };
const NEVER = new AbortController().signal;
const SERVICES = { kind: 'MeshService', mesh: 'default', selection: ALL };

const serviceId = (name: string, zone = 'east'): Identity => ({
  kind: 'MeshService',
  mesh: 'default',
  zone,
  namespace: 'default',
  name,
});

function kindNamed(name: string): Kind {
  const kind = coreKinds.kind(name);
  if (!kind) throw new Error(`no kind ${name}`);
  return kind;
}

/** A sink that records the names of received resources, and whose reader leaves after the first bookmark. */
function listSink(): WatchSink & { readonly names: string[] } {
  const names: string[] = [];
  const gone = new AbortController();
  const encoder: EventEncoder = {
    put: ({ id }) => Buffer.from(id.name),
    deleted: ({ name }) => `-${name}`,
    bookmark: () => 'bookmark',
    bookmarked: (event) => Buffer.from(`${String(event)} bookmark`),
    relist: 'relist',
    heartbeat: 'heartbeat',
  };
  const write = (event: string | Buffer): boolean => {
    names.push(String(event));
    if (event === 'bookmark') gone.abort();
    return true;
  };
  return {
    encoder,
    names,
    gone: gone.signal,
    open: () => undefined,
    write,
    drained: () => undefined,
    end: () => undefined,
  };
}

describe('Queries', () => {
  let queries: Queries;
  let store: MemoryStore;
  let index: ResourceIndex;
  let rights: CallerRights;
  let nobody: CallerRights;
  let close: () => Promise<void>;

  const open = async (sources: Partial<QuerySources> = {}): Promise<void> => {
    store = new MemoryStore(new MemoryDisk());
    index = new ResourceIndex();
    const stop = new AbortController();
    const following = followStore(store, index, { clock: systemClock, logger: silentLogger, signal: stop.signal });
    queries = createQueries({
      registry: coreKinds,
      cp: EAST,
      store,
      audit: new MemoryAudit(store.disk),
      clock: systemClock,
      index,
      meshes: meshesOf(index),
      program: { version: '1', instanceId: 'a', config: { token: 'x', port: 1 } },
      ...sources,
    });
    const policy = new AccessPolicy({ registry: coreKinds, index, cp: EAST });
    rights = new CallerRights(policy, operator);
    nobody = new CallerRights(policy, anonymous);
    close = async () => {
      policy.close();
      queries.close();
      stop.abort();
      await store.close();
      await following;
    };
    await put({ kind: 'Mesh', mesh: '', zone: '', namespace: '', name: 'default' });
  };
  const put = async (...ids: readonly Identity[]): Promise<number> => {
    const changes = ids.map((id) => ({ type: 'put' as const, id, expect: 'any' as const, labels: {}, spec: {} }));
    const { revision } = await store.write({ changes, onRefusal: 'abort' });
    await index.reached(revision);
    return revision;
  };
  afterEach(() => close());

  it('list a page, and the next one after its last item', async () => {
    await open();
    const minRevision = await put(serviceId('b'), serviceId('a'), serviceId('c'));
    const page = { size: 2, start: { type: 'after', key: undefined } } as const;
    const first = await queries.resources.list({ scope: SERVICES, page, minRevision }, () => NEVER);
    expect(first).toMatchObject({ total: 3, more: true, revision: minRevision });
    expect(first.resources.map(({ id }) => id.name)).toEqual(['a', 'b']);
    const next = { size: 2, start: { type: 'after', key: first.resources[1]?.id } } as const;
    const last = await queries.resources.list({ scope: SERVICES, page: next }, () => NEVER);
    expect([last.more, last.resources.map(({ id }) => id.name)]).toEqual([false, ['c']]);
  });

  it('refuse a missing mesh, a missing resource, a future revision and text that is no identifier', async () => {
    await open();
    const page = { size: 1, start: { type: 'offset', offset: 0 } } as const;
    const kind = kindNamed('MeshService');
    await expect(queries.resources.list({ scope: { ...SERVICES, mesh: 'none' }, page }, () => NEVER)).rejects.toThrow(
      new NotFound('Mesh none does not exist'),
    );
    await expect(queries.resources.get({ kind, mesh: 'default', name: 'none' }, rights)).rejects.toThrow(NotFound);
    await expect(queries.resources.get({ kind, name: 'none' }, rights, 99)).rejects.toThrow(InvalidQuery);
    await expect(queries.resources.byKri('nonsense', rights)).rejects.toThrow(InvalidQuery);
  });

  it('tell a caller without rights of nothing, whether it exists or not', async () => {
    await open();
    await put(serviceId('a'));
    const kind = kindNamed('MeshService');
    const { resources, inspections, hostnames } = queries;
    for (const name of ['a', 'none']) {
      const service = { kind, mesh: 'default', name };
      await expect(resources.get(service, nobody)).rejects.toThrow(AccessDenied);
      await expect(hostnames.ofService(service, nobody)).rejects.toThrow(AccessDenied);
      await expect(inspections.overview(service, nobody)).rejects.toThrow(AccessDenied);
      const range = { size: 10, offset: 0 };
      await expect(inspections.dataplanesOf(service, nobody, { range }, NEVER)).rejects.toThrow(AccessDenied);
      await expect(resources.byKri(`kri_msvc_default_east_default_${name}_`, nobody)).rejects.toThrow(AccessDenied);
    }
    await expect(resources.get({ kind, mesh: 'none', name: 'a' }, nobody)).rejects.toThrow(AccessDenied);
  });

  it('name the places of a name only as far as the caller may see them', async () => {
    await open();
    await put(serviceId('a', 'west'), { ...serviceId('a'), namespace: 'other' });
    const spec = { role: 'viewer', subjects: [{ kind: 'Group', name: 'causeway:anonymous' }], namespaces: ['default'] };
    const id = { kind: 'RoleBinding', mesh: '', zone: '', namespace: '', name: 'own' };
    const written = await store.write({
      changes: [{ type: 'put', id, expect: 'any', labels: {}, spec }],
      onRefusal: 'abort',
    });
    await index.reached(written.revision);
    const asked = queries.resources.get({ kind: kindNamed('MeshService'), mesh: 'default', name: 'a' }, nobody);
    await expect(asked).rejects.toThrow(/exists with zone=west$/);
  });

  it('watch in any encoding, and not from another incarnation', async () => {
    await open();
    await put(serviceId('a'), serviceId('b'));
    const sink = listSink();
    await queries.watches.serve({ scope: SERVICES, client: 'test' }, sink);
    expect(sink.names).toEqual(['a', 'b', 'bookmark']);
    const since = { incarnation: 'another', revision: 1 };
    await expect(queries.watches.serve({ scope: SERVICES, since, client: 'test' }, listSink())).rejects.toThrow(
      WatchExpired,
    );
    expect(queries.watches.metrics()).toMatchObject({ open: 0, bytes: 0 });
  });

  it('join a resource with its insight, an empty one where none is known', async () => {
    await open({ insights: { insightOf: ({ id }) => (id.name === 'a' ? { seen: 1 } : undefined) } });
    await put(...['a', 'b'].map((name) => ({ kind: 'Zone', mesh: '', zone: '', namespace: '', name })));
    const kind = kindNamed('Zone');
    const scope = { kind: 'Zone', mesh: undefined, selection: ALL };
    const page = { size: 10, start: { type: 'offset', offset: 0 } } as const;
    const { overviews } = await queries.inspections.overviews(kind, { scope, page }, () => NEVER);
    expect(overviews).toMatchObject([{ type: 'ZoneOverview', name: 'a', zoneInsight: { seen: 1 } }, { name: 'b' }]);
    expect(overviews[1]).not.toHaveProperty('zoneInsight');
    expect(await queries.inspections.overview({ kind, name: 'b' }, rights)).toMatchObject({ zoneInsight: {} });
  });

  it('say NotFound for what this control plane does not know or decide', async () => {
    await open();
    const { hostnames, decisions: zoneDecisions, zoneTokens } = queries;
    await expect(hostnames.explain({ mesh: 'default', hostname: 'a' }, rights, undefined, NEVER)).rejects.toThrow(
      NotFound,
    );
    await expect(hostnames.lookup({ name: 'a' })).rejects.toThrow(NotFound);
    await expect(hostnames.ofService({ kind: kindNamed('Dataplane'), name: 'a' }, rights)).rejects.toThrow(NotFound);
    await expect(zoneDecisions.confirmZone('west')).rejects.toThrow(NotFound);
    await expect(zoneDecisions.confirmGlobal()).rejects.toThrow(NotFound);
    await expect(zoneTokens.rotate()).rejects.toThrow(NotFound);
  });

  it('check what operators send', async () => {
    await open({
      cp: { role: 'global' },
      syncDecisions: { adoptZone: (zone, storeId) => Promise.resolve({ zone, storeId: storeId ?? '', formerly: '' }) },
      issuers: {
        zoneAccess: {
          issue: (parameters) => Promise.resolve({ ...parameters, token: 't', id: '1', scope: [], expiresAt: '' }),
          list: () => Promise.resolve([]),
          revoke: () => Promise.resolve([]),
          rotate: () => Promise.resolve(2),
          authority: () => undefined,
        },
      },
    });
    const { decisions: zoneDecisions, zoneTokens } = queries;
    await expect(zoneDecisions.adoptZone('No zone')).rejects.toThrow(NotFound);
    expect(await zoneDecisions.adoptZone('west', 's1')).toEqual({ zone: 'west', storeId: 's1', formerly: '' });
    await expect(zoneTokens.issue({ zone: 1, scope: 'cp', validFor: 1 }, 'anna')).rejects.toMatchObject({ total: 3 });
    await expect(zoneTokens.revoke(7)).rejects.toThrow(Invalid);
    expect(await zoneTokens.issue({ zone: 'west', validFor: '1h' }, 'anna')).toMatchObject({
      token: 't',
      zone: 'west',
    });
    expect(() => zoneTokens.authority()).toThrow(NotFound);
  });

  it('show the configuration without secrets, and the kinds by name', async () => {
    await open();
    expect(queries.server.config()).toEqual({ token: '*****', port: 1 });
    const names = queries.server.kinds().map(({ name }) => name);
    expect(names).toEqual([...names].sort());
  });
});
