import { Dataplane, MeshService } from '@causeway/kinds';
import type { JsonObject } from '@causeway/resources';
import { idOf, storedResource } from '../../../../test/support/loop-harness';
import type { DataplaneResource, ServiceResource } from '@causeway/dataplanes';
import { planAvailability } from './plan-availability';

const PORTS = [{ port: 80 }];

function service(spec: JsonObject, status?: JsonObject): ServiceResource {
  const stored = storedResource(idOf('MeshService', 'backend'), { spec, status });
  if (!MeshService.is(stored)) throw new Error('not a MeshService');
  return stored;
}

function dataplane(state: string): DataplaneResource {
  const networking = { address: '10.0.0.1', inbound: [{ port: 80, state }] };
  const stored = storedResource(idOf('Dataplane', 'dp'), { spec: { networking } });
  if (!Dataplane.is(stored)) throw new Error('not a Dataplane');
  return stored;
}

describe('planAvailability', () => {
  const [ready, notReady] = [dataplane('Ready'), dataplane('NotReady')];
  const counted = (total: number, healthy: number): JsonObject => ({ dataplaneProxies: { total, healthy } });

  it.each<[string, ServiceResource, DataplaneResource[], JsonObject | undefined]>([
    [
      'a new service without Dataplanes',
      service({ ports: PORTS }),
      [],
      { status: counted(0, 0), spec: { ports: PORTS, state: 'Unavailable' } },
    ],
    [
      'the first healthy Dataplane',
      service({ ports: PORTS, state: 'Unavailable' }, counted(0, 0)),
      [ready, notReady],
      { status: counted(2, 1), spec: { ports: PORTS, state: 'Available' } },
    ],
    [
      'one more that is not ready: the count only',
      service({ ports: PORTS, state: 'Available' }, counted(1, 1)),
      [ready, notReady],
      { status: counted(2, 1) },
    ],
    [
      'one more: other zones are sent it',
      service({ ports: PORTS, state: 'Available' }, counted(1, 1)),
      [ready, ready],
      { status: counted(2, 2), spec: { ports: PORTS, state: 'Available', instances: 2 } },
    ],
    [
      'one of nine: other zones need not know',
      service({ ports: PORTS, state: 'Available', instances: 9 }, counted(9, 9)),
      Array.from({ length: 8 }, () => ready),
      { status: counted(8, 8) },
    ],
    [
      'all but one',
      service({ ports: PORTS, state: 'Available', instances: 2 }, counted(2, 2)),
      [ready],
      { status: counted(1, 1), spec: { ports: PORTS, state: 'Available' } },
    ],
    [
      'a state that somebody changed: the spec only',
      service({ ports: PORTS, state: 'Unavailable' }, counted(1, 1)),
      [ready],
      { spec: { ports: PORTS, state: 'Available' } },
    ],
    [
      'keeps the rest of status and spec',
      service(
        { ports: PORTS, export: { mode: 'All' }, state: 'Available' },
        { vip: { ip: '241.0.0.1' }, ...counted(1, 1) },
      ),
      [],
      {
        status: { vip: { ip: '241.0.0.1' }, ...counted(0, 0) },
        spec: { ports: PORTS, export: { mode: 'All' }, state: 'Unavailable' },
      },
    ],
    ['nothing changed', service({ ports: PORTS, state: 'Available' }, counted(1, 1)), [ready], undefined],
  ])('%s', (_, stored, dataplanes, want) => {
    const change = planAvailability(stored, dataplanes);
    expect(change).toEqual(want && { type: 'patch', id: stored.id, expect: stored.revision, ...want });
  });
});
