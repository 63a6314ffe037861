import { identityKey, type JsonObject, type Resource } from '@causeway/resources';
import { idOf, storedResource } from '../../../../test/support/loop-harness';
import { KumaServerTable } from './kuma-servers';

const tag = (value: string): JsonObject => ({ dataplaneTags: { 'kuma.io/service': value } });
const workload = (value: string): JsonObject => ({ dataplaneLabels: { matchLabels: { 'kuma.io/workload': value } } });

function service(name: string, selector: JsonObject, zone = 'kz'): Resource {
  const spec = { selector, ports: [{ port: 80 }], state: 'Available' };
  return storedResource({ ...idOf('MeshService', name), zone }, { spec });
}

describe('how proxies of Kuma that serve a service are found', () => {
  const table = new KumaServerTable();
  beforeEach(() => table.clear());
  const put = (one: Resource): boolean => table.put(identityKey(one.id), one);
  const found = (one: Resource, zones: readonly string[] = ['kz']): unknown => {
    const servers = table.of(identityKey(one.id), one, zones);
    return servers && (servers.ok ? servers.targetRef : servers.reason);
  };

  it('is by the tag of its service, or by the label of its workload, in its zone', () => {
    const web = service('web', tag('web'));
    put(web);
    expect(found(web)).toEqual({ kind: 'MeshSubset', tags: { 'kuma.io/service': 'web', 'kuma.io/zone': 'kz' } });
    const api = service('api', workload('api'), 'k2');
    put(api);
    expect(found(api, ['kz', 'k2'])).toEqual({
      kind: 'Dataplane',
      labels: { 'kuma.io/workload': 'api', 'kuma.io/zone': 'k2' },
    });
    expect(found(web, ['k2'])).toBeUndefined();
  });

  it.each<[string, JsonObject]>([
    ['a name', { dataplaneRef: { name: 'web-1' } }],
    ['other tags', { dataplaneTags: { app: 'web' } }],
    ['more tags', { dataplaneTags: { 'kuma.io/service': 'web', version: '1' } }],
    ['other labels', { dataplaneLabels: { matchLabels: { app: 'web' } } }],
    ['nothing', {}],
  ])('is not known where it selects by %s', (_, selector) => {
    const web = service('web', selector);
    put(web);
    expect(found(web)).toContain('it selects otherwise');
  });

  it('is not known where another service of the zone may have the same servers, until that is gone', () => {
    const [web, other, beside] = [service('web', tag('web')), service('w2', tag('web')), service('x', tag('x'))];
    expect([put(web), put(beside), put(other)]).toEqual([false, false, true]);
    expect(found(web)).toContain('may have the same instances');
    expect(found(beside)).toMatchObject({ kind: 'MeshSubset' });
    expect(table.put(identityKey(other.id), undefined)).toBe(true);
    expect(found(web)).toMatchObject({ kind: 'MeshSubset' });
  });

  it('is not known while some service of the zone selects in another way', () => {
    const [web, far] = [service('web', tag('web')), service('web', workload('web'), 'k2')];
    expect([put(web), put(far)]).toEqual([false, false]);
    const other = service('other', { dataplaneTags: { app: 'other' } });
    expect(put(other)).toBe(true);
    expect(found(web)).toContain('may have the same instances');
    expect(put(service('other', tag('other')))).toBe(true);
    expect(found(web)).toMatchObject({ kind: 'MeshSubset' });
    expect(put(service('other', tag('other')))).toBe(false);
  });
});
