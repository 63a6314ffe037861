import { eventStreamEncoder } from './server-sent-events';

const POINT = { incarnation: 'i', revision: 7 };
const ID = { kind: 'MeshService', mesh: 'default', zone: 'east', namespace: 'default', name: 'redis' };
const RESOURCE = {
  id: ID,
  uid: 'u',
  labels: {},
  spec: {},
  generation: 1,
  creationOrder: 1,
  createdAt: 0,
  modifiedAt: 0,
  revision: 1,
  origin: { ...POINT, committedAt: 0 },
  freed: [],
};

describe('server-sent events', () => {
  const encoder = eventStreamEncoder({ listed: () => '{"name":"redis"}', overlayOf: () => undefined });

  it('have a name, data on one line, and an id only where a reader can resume', () => {
    expect(String(encoder.put(RESOURCE))).toBe('event: put\ndata: {"name":"redis"}\n\n');
    expect(String(encoder.deleted(ID))).toBe(
      'event: delete\ndata: {"type":"MeshService","mesh":"default","namespace":"default","name":"redis","zone":"east"}\n\n',
    );
    expect(String(encoder.bookmark(POINT))).toBe('event: bookmark\nid: i.7\ndata: {"revision":7}\n\n');
    expect(encoder.relist).toBe('event: relist\ndata: {}\n\n');
    expect(encoder.heartbeat).toBe(': heartbeat\n\n');
  });

  it('share one buffer for all readers of a resource', () => {
    expect(encoder.put(RESOURCE)).toBe(encoder.put(RESOURCE));
  });
});
