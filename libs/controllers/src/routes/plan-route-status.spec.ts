import type { JsonObject, Resource } from '@causeway/resources';
import type { ParentStatus } from '@causeway/routing';
import { idOf, storedResource } from '../../../../test/support/loop-harness';
import { planRouteStatus, storedConditions } from './plan-route-status';

const NOW = Date.parse('2026-01-02T00:00:00Z');
const BEFORE = '2026-01-01T00:00:00.000Z';
const WRITER = { controllerName: 'causeway.io/control-plane', now: NOW };

const ref = (name: string, port?: number): ParentStatus['parentRef'] => ({
  group: '',
  kind: 'Service',
  namespace: 'default',
  name,
  ...(port === undefined ? {} : { port }),
});
const wanted = (name: string, status: 'True' | 'False' = 'True', generation = 1): ParentStatus => ({
  parentRef: ref(name),
  conditions: [{ type: 'Accepted', status, reason: 'R', message: 'm', observedGeneration: generation }],
});
const entry = (name: string, status = 'True', more: JsonObject = {}): JsonObject => ({
  parentRef: { ...ref(name) },
  controllerName: WRITER.controllerName,
  conditions: [
    { type: 'Accepted', status, reason: 'R', message: 'm', observedGeneration: 1, lastTransitionTime: BEFORE },
  ],
  ...more,
});
const foreign = (name: string): JsonObject => entry(name, 'False', { controllerName: 'example.com/other', extra: 1 });

const route = (...parents: readonly JsonObject[]): Resource =>
  storedResource(idOf('HTTPRoute', 'route'), { status: parents.length > 0 ? { conditions: [], parents } : undefined });
const planned = (stored: Resource, ...parents: readonly ParentStatus[]): unknown =>
  planRouteStatus(stored, parents, WRITER)?.status?.['parents'];
const times = (parents: unknown): unknown =>
  (parents as { conditions: { lastTransitionTime: string }[] }[]).map(
    ({ conditions }) => conditions[0]?.lastTransitionTime,
  );

describe('the entries of a route', () => {
  it('T002-04, T002-47: one a parentRef, with the controller and the time at which each condition became so', () => {
    expect(planRouteStatus(route(), [wanted('a'), wanted('b', 'False')], WRITER)).toEqual({
      type: 'patch',
      id: idOf('HTTPRoute', 'route'),
      expect: 7,
      status: {
        parents: [
          entry('a', 'True', {
            conditions: [{ ...wanted('a').conditions[0], lastTransitionTime: '2026-01-02T00:00:00.000Z' }],
          }),
          entry('b', 'False', {
            conditions: [{ ...wanted('b', 'False').conditions[0], lastTransitionTime: '2026-01-02T00:00:00.000Z' }],
          }),
        ],
      },
    });
  });

  it('are not written again while they say the same', () => {
    expect(planRouteStatus(route(entry('a')), [wanted('a')], WRITER)).toBeUndefined();
    expect(planRouteStatus(route(), [], WRITER)).toBeUndefined();
  });

  it('follow the generation without a new time, and get one when the status of a condition turns', () => {
    const later = planned(route(entry('a')), wanted('a', 'True', 2));
    expect(later).toMatchObject([{ conditions: [{ observedGeneration: 2, lastTransitionTime: BEFORE }] }]);
    expect(times(planned(route(entry('a')), wanted('a', 'False')))).toEqual(['2026-01-02T00:00:00.000Z']);
  });

  it('T002-48: those of other controllers stay as they are and where they are; own ones of vanished parents go', () => {
    const stored = route(entry('gone'), foreign('a'), entry('a'), foreign('b'));
    expect(planned(stored, wanted('a'), wanted('c'))).toMatchObject([
      { ...entry('a') },
      foreign('a'),
      { parentRef: ref('c') },
      foreign('b'),
    ]);
    expect(planned(stored, wanted('a'))).toEqual([entry('a'), foreign('a'), foreign('b')]);
    expect(planned(stored)).toEqual([foreign('a'), foreign('b')]);
  });

  it('heal what another writer made of an own entry, and leave the rest of the status alone', () => {
    const broken = route(entry('a', 'True', { conditions: 'none', more: true }));
    expect(planned(broken, wanted('a'))).toMatchObject([{ conditions: [{ type: 'Accepted', status: 'True' }] }]);
    expect(planRouteStatus(route(entry('a')), [], WRITER)?.status).toEqual({ conditions: [] });
    const odd = storedResource(idOf('HTTPRoute', 'route'), { status: { parents: { a: 1 } } });
    expect(planned(odd, wanted('a'))).toHaveLength(1);
  });

  it('keep what is no entry, drop conditions that are no longer wanted, and are in the order of the parentRefs', () => {
    const two = entry('b', 'True', {
      conditions: [
        { type: 'PartiallyInvalid', status: 'True', reason: 'R', message: 'm', observedGeneration: 1 },
        ...(entry('b')['conditions'] as JsonObject[]),
      ],
    });
    expect(planned(route(two, entry('a')), wanted('a'), wanted('b'))).toEqual([entry('a'), entry('b')]);
  });

  it('are 32 at most, the entries of others among them, and each message has a bound', () => {
    const many = Array.from({ length: 32 }, (_, i) => wanted(`p${i}`));
    expect(planned(route(foreign('a'), foreign('b')), ...many)).toHaveLength(32);
    const long = {
      ...wanted('a'),
      conditions: wanted('a').conditions.map((one) => ({ ...one, message: 'x'.repeat(5_000) })),
    };
    expect(JSON.stringify(planned(route(), long)).length).toBeLessThan(1_500);
  });

  it('are found by their parentRef', () => {
    const stored = route(foreign('a'), entry('a'));
    expect(storedConditions(stored, ref('a'), WRITER.controllerName)).toEqual(entry('a')['conditions']);
    expect(storedConditions(stored, ref('a', 80), WRITER.controllerName)).toEqual([]);
  });
});
