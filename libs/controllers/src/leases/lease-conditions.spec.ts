import { planLeaseCondition } from './lease-conditions';
import { sketch } from '../../../../test/support/traffic-zone';

const CLIENTS = { clientDataplane: 'web-1' };

describe('the condition SharedIdentity of a Dataplane whose machine calls as another one', () => {
  const shared = (reason: string) => ({
    type: 'SharedIdentity',
    status: 'True',
    reason,
    message: 'was before',
    observedGeneration: 1,
    lastTransitionTime: '2026-01-01T00:00:00Z',
  });
  const plan = (reason: string | undefined, clients: readonly (typeof CLIENTS)[]): unknown => {
    const status = reason === undefined ? {} : { conditions: [shared(reason)] };
    const found = planLeaseCondition(sketch('Dataplane', 'web-2', {}, { status }), clients, 0);
    return found?.status?.['conditions'];
  };

  it.each([
    ['is there', undefined, [CLIENTS], [expect.objectContaining({ reason: 'SameMachine' })]],
    ['gives way to an id that another workload has too, which is worse', 'SameId', [CLIENTS], undefined],
    ['leaves that alone when nobody calls as another one any more', 'SameId', [], undefined],
    ['goes when nobody does', 'SameMachine', [], undefined],
  ])('%s', (_, before, clients, want) => {
    const found = plan(before, clients);
    if (before === 'SameMachine') expect(found ?? []).toEqual([]);
    else if (want === undefined) expect(found).toBeUndefined();
    else expect(found).toEqual(want);
  });
});
