import { findCondition, type Identity, type JsonObject } from '@causeway/resources';
import { FakeClock } from '@causeway/runtime/testing';
import { MemoryDisk } from '@causeway/store/testing';
import { liveAndLeave } from '../../../../test/support/first-incarnation';
import { TestGlobal, TestZone } from '../../../../test/support/sync-mesh';
import type { TestPlane } from '../../../../test/support/test-plane';

const SPEC = { ports: [{ port: 6379, appProtocol: 'tcp' }], state: 'Available' };
const HOLD = 300_000;
const START = Date.parse('2026-01-01T00:00:00Z');

const mark = (plane: TestPlane, id: Identity): JsonObject | undefined => findCondition(plane.get(id)?.status, 'Held');
const marked = (plane: TestPlane, id: Identity, is = true): Promise<void> =>
  plane.until(() => plane.get(id) !== undefined && (mark(plane, id) !== undefined) === is);

describe('what the global holds of a zone that has begun a new incarnation', () => {
  const clock = new FakeClock(START);
  let global: TestGlobal;
  let first: TestZone;
  let second: TestZone;
  const a = (): Identity => first.id('MeshService', 'a');
  const b = (): Identity => first.id('MeshService', 'b');

  beforeEach(async () => {
    global = new TestGlobal({ clock, hold: HOLD });
    first = new TestZone('east');
    second = new TestZone('east', {}, new MemoryDisk());
    await global.put('Mesh', 'default', {});
    await global.serve();
    await liveAndLeave(first, global, SPEC);
  });

  afterEach(async () => {
    await Promise.all([first.close(), second.close()]);
    await global.close();
  });

  it('says since when and until when, and no longer once it is named', async () => {
    await second.join(global);
    await Promise.all([marked(global, a()), marked(global, b())]);
    expect(mark(global, a())).toEqual({
      type: 'Held',
      status: 'True',
      reason: 'NewIncarnation',
      message: expect.stringMatching(
        /^zone "east" has begun a new incarnation, first seen at 2026-01-01T00:00:00.000Z, .* kept until 2026-01-01T00:05:00.000Z/,
      ),
      observedGeneration: 1,
      lastTransitionTime: '2026-01-01T00:00:00.000Z',
    });
    await second.put('MeshService', 'a', SPEC);
    await marked(global, a(), false);
    expect(mark(global, b())).toBeDefined();
    clock.advance(HOLD);
    await global.lacks(b());
  });

  it('I10 is written once, also over a reconnect', async () => {
    await second.join(global);
    await Promise.all([marked(global, a()), marked(global, b())]);
    const before = [global.get(a())?.revision, global.get(b())?.revision];
    await second.leave();
    await global.left('east');
    clock.advance(1_000);
    await second.join(global);
    expect((await global.report('east', 'MeshService', 'up')).held).toBe(2);
    await second.put('MeshService', 'c', SPEC);
    await global.holds(first.id('MeshService', 'c'));
    expect([global.get(a())?.revision, global.get(b())?.revision]).toEqual(before);
  });

  it('is as before when the former incarnation comes back', async () => {
    await second.join(global);
    await Promise.all([marked(global, a()), marked(global, b())]);
    await second.leave();
    await global.left('east');
    await first.join(global);
    await Promise.all([marked(global, a(), false), marked(global, b(), false)]);
    expect(global.get(a())?.status).toEqual({});
  });
});

describe('what a zone holds of a global that has begun a new incarnation', () => {
  it('keeps the rest of its status when it says so, and when it is named again', async () => {
    const global = new TestGlobal();
    const [east, west] = [new TestZone('east'), new TestZone('west')];
    await global.put('Mesh', 'default', {});
    await global.serve();
    await Promise.all([east.join(global), west.join(global)]);
    await east.put('MeshService', 'redis', SPEC);
    const redis = east.id('MeshService', 'redis');
    await west.holds(redis);
    const other = { type: 'VIPAllocated', status: 'False', reason: 'RangeExhausted' };
    const status = { vip: { ip: '241.0.0.1', type: 'Kuma' }, conditions: [other] };
    await west.write([{ type: 'patch', id: redis, expect: 'any', status }]);
    await Promise.all([east.leave(), west.leave()]);
    await global.cut();
    const empty = new TestGlobal();
    await empty.serve();
    await west.join(empty);
    await marked(west, redis);
    expect(west.get(redis)?.status).toMatchObject({ vip: status.vip, conditions: [other, { type: 'Held' }] });
    await marked(west, west.id('Mesh', 'default'));
    await empty.put('Mesh', 'default', {});
    await east.join(empty);
    await marked(west, redis, false);
    expect(west.get(redis)?.status).toEqual(status);
    await Promise.all([east.close(), west.close()]);
    await Promise.all([global.close(), empty.close()]);
  });
});
