import { coreKinds } from '@causeway/kinds';
import { readQuarantine, releases } from './quarantine';

const read = (value: Parameters<typeof readQuarantine>[0]) => readQuarantine(value, 'east', coreKinds);
const redis = { kind: 'MeshService', mesh: 'default', zone: 'east', namespace: 'default', name: 'redis' };

describe('a quarantine', () => {
  it('names resources by type and name, in the default mesh and namespace unless others are given', () => {
    const quarantine = read({
      resources: [
        { type: 'MeshService', name: 'redis' },
        { type: 'MeshService', mesh: 'm', namespace: 'n', name: 'redis' },
        { type: 'HostnameGenerator', mesh: 'ignored', name: 'g' },
      ],
    });
    expect(quarantine.includes(redis)).toBe(true);
    expect(quarantine.includes({ ...redis, mesh: 'm', namespace: 'n' })).toBe(true);
    expect(quarantine.includes({ ...redis, name: 'other' })).toBe(false);
    expect(quarantine.includes({ ...redis, zone: 'west' })).toBe(false);
    expect(quarantine.includes({ kind: 'HostnameGenerator', mesh: '', zone: 'east', namespace: '', name: 'g' })).toBe(
      true,
    );
    expect([quarantine.all, quarantine.digest('Mesh')]).toEqual([false, '']);
    expect(quarantine.digest('MeshService')).toMatch(/^[\w-]{16}$/);
  });

  it.each([
    undefined,
    null,
    'all',
    7,
    [],
    { all: 'true' },
    { resources: {} },
    { resources: [null, 1, {}, { type: 'Mesh', name: 3 }] },
  ])('ignores what makes no sense: %j', (value) => {
    const { all, resources } = read(value);
    expect([all, resources]).toEqual([false, []]);
  });

  it('takes a kind that is not known, as one that is declared later', () => {
    const id = { kind: 'PaintPolicy', mesh: 'default', zone: 'east', namespace: 'default', name: 'x' };
    expect(read({ resources: [{ type: 'PaintPolicy', name: 'x' }] }).includes(id)).toBe(true);
  });

  it('is released where it names less', () => {
    const [none, one, all] = [
      read({}),
      read({ resources: [{ type: 'MeshService', name: 'redis' }] }),
      read({ all: true }),
    ];
    expect([releases(one, none), releases(all, none), releases(all, one)]).toEqual([true, true, true]);
    expect([releases(none, one), releases(none, all), releases(one, one)]).toEqual([false, false, false]);
  });
});
