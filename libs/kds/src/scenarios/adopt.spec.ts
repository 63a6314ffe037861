import { jsonEqual, NotFound, type JsonObject } from '@causeway/resources';
import { FakeClock } from '@causeway/runtime/testing';
import { until } from '../../../../test/support/until';
import { TestGlobal, TestZone } from '../../../../test/support/sync-mesh';

const SPEC = { ports: [{ port: 6379, appProtocol: 'tcp' }], state: 'Available' };

describe('a zone whose name belongs to another store', () => {
  const clock = new FakeClock(1_000_000);
  let global: TestGlobal;
  let other: TestGlobal;
  let first: TestZone;
  let second: TestZone;

  beforeEach(async () => {
    global = new TestGlobal({ clock });
    other = new TestGlobal({ clock, instance: 'global-2' }, global.disk);
    first = new TestZone('east', { storeId: 'store-1' });
    second = new TestZone('east', { storeId: 'store-2' });
    await global.put('Mesh', 'default', {});
    await Promise.all([global.serve(), other.serve()]);
    await first.join(global);
    await first.put('MeshService', 'a', SPEC);
    await global.holds(first.id('MeshService', 'a'));
  });

  afterEach(async () => {
    await Promise.all([first.close(), second.close()]);
    await Promise.all([global.close(), other.close()]);
  });

  const refusal = (): Promise<string> =>
    until(
      'the zone is refused',
      () => second.sync?.status().lastError?.includes('belongs to') && second.sync.status().lastError,
    );

  const insight = async (asked: TestGlobal): Promise<JsonObject> => {
    const zone = await asked.holds(asked.id('Zone', 'east'));
    return (await asked.sync?.findInsight(zone)) ?? {};
  };

  it('is refused with the store it belongs to and what the operator can do, who sees its id on every replica', async () => {
    await second.join(other);
    expect(await refusal()).toContain(
      'the name east belongs to the store store-1, not to store-2; where the zone was installed anew: causeway zones adopt east store-2',
    );
    const refused = { storeId: 'store-2', instance: expect.any(String), refusedAt: clock.now() };
    expect(await insight(other)).toMatchObject({ refused });
    expect(await insight(global)).toMatchObject({ refused, health: expect.any(String) });
    // Gone first: it would come again at once when the time has passed.
    await second.leave();
    clock.advance(600_001);
    expect(await insight(global)).not.toHaveProperty('refused');
    await first.leave();
    await global.left('east');
    const away = await until('the end of the session is written', async () => {
      const now = await insight(global);
      return jsonEqual(now['sessions'], []) && now;
    });
    expect(away).toMatchObject({ health: 'Offline', peer: 'causeway', version: '0.0.0' });
  });

  it('has the name once it is adopted: the other one is sent away and refused', async () => {
    await second.join(other);
    await refusal();
    await second.put('MeshService', 'b', SPEC);
    expect(await other.sync?.adopt('east')).toEqual({ zone: 'east', storeId: 'store-2', formerly: 'store-1' });
    await global.holds(second.id('MeshService', 'b'));
    // A round of upkeep: the replica that has the other's streams sees that its session was ended.
    clock.advance(5_000);
    await until('the other is refused', () => first.sync?.status().lastError?.includes('belongs to the store store-2'));
    expect(await insight(other)).toMatchObject({ refused: { storeId: 'store-1' } });
    expect(await global.sync?.adopt('east', 'store-2')).toEqual({
      zone: 'east',
      storeId: 'store-2',
      formerly: 'store-2',
    });
  });

  it('may be adopted twice, before it comes and after', async () => {
    await first.leave();
    const adopt = (): Promise<unknown> =>
      Promise.all([global.sync?.adopt('east', 'store-2'), other.sync?.adopt('east', 'store-2')]);
    await adopt();
    await adopt();
    await second.join(other);
    await until('it has a session', () => second.sync?.status().connected);
    await adopt();
    expect(await global.sessions.session('east')).toMatchObject({ storeId: 'store-2' });
    await second.put('MeshService', 'b', SPEC);
    await global.holds(second.id('MeshService', 'b'));
  });

  it('goes to the next store that comes where none was refused', async () => {
    await first.leave();
    expect(await global.sync?.adopt('east')).toMatchObject({ storeId: '' });
    await second.join(global);
    await until('it has a session', () => second.sync?.status().connected);
    expect(await global.sessions.session('east')).toMatchObject({ storeId: 'store-2' });
  });

  it('is no zone that never was', async () => {
    await expect(global.sync?.adopt('nowhere')).rejects.toBeInstanceOf(NotFound);
  });
});
