import { Invalid } from '@causeway/resources';
import { DATAPLANE_TOKEN_FORM, USER_TOKEN_FORM, ZONE_TOKEN_FORM } from './token-forms';
import { TokenQueries } from './token-queries';

/** Nothing is issued for these requests. */
const never = {
  issue: () => Promise.reject(new Error('it was issued')),
  list: () => Promise.resolve([]),
  revoke: () => Promise.resolve([]),
  rotate: () => Promise.resolve(1),
};
const DOORS = {
  dataplane: (fields: object) => new TokenQueries(DATAPLANE_TOKEN_FORM, never).issue({ ...fields }, 'anna'),
  zone: (fields: object) => new TokenQueries(ZONE_TOKEN_FORM, never).issue({ ...fields }, 'anna'),
  user: (fields: object) => new TokenQueries(USER_TOKEN_FORM, never).issue({ ...fields }, 'anna'),
};

describe('a request for a token names every wrong field', () => {
  it.each<[keyof typeof DOORS, object, readonly string[]]>([
    ['dataplane', {}, ['mesh']],
    ['dataplane', { mesh: '', name: 'A B', tags: 7, validFor: 'long' }, ['mesh', 'name', 'tags', 'validFor']],
    [
      'dataplane',
      { mesh: 'A B', name: 7, workload: 'a b', type: 'ingress', tags: { 'kuma.io/service': [] } },
      ['mesh', 'name', 'tags["kuma.io/service"]', 'type', 'workload'],
    ],
    ['zone', { scope: ['no'], validFor: 7 }, ['scope[0]', 'validFor', 'zone']],
    ['zone', { zone: 'A B', scope: 'cp', validFor: 'long' }, ['scope', 'validFor', 'zone']],
    ['user', { name: 7, groups: [''], validFor: 'long' }, ['groups[0]', 'name', 'validFor']],
    ['user', { name: ' x ', groups: 'all' }, ['groups', 'name']],
  ])('%s: %j', async (door, fields, want) => {
    const error: unknown = await DOORS[door](fields).catch((thrown: unknown) => thrown);
    if (!(error instanceof Invalid)) throw error;
    expect(error.violations.map(({ field }) => field).sort()).toEqual(want);
  });
});
