import { constants } from 'node:http2';
import type { ProcessMesh } from '../../support/process-mesh';
import type { ProcessPlane } from '../../support/process-plane';
import { grpcPortsOf } from '../../support/grpc-ports';
import { rapidResets, sendRaw } from '../../support/raw-http2';
import { until } from '../../support/until';
import { sharedMesh } from './shared-mesh';

/** 118 kB. */
const STREAMS = 4_200;
const PATIENCE = 60_000;
/** Connections at each port, one after another. */
const CONNECTIONS = 20;

describe('calls that are begun and reset at once, without credentials', () => {
  let mesh: ProcessMesh;
  beforeAll(() => void (mesh = sharedMesh()));

  const termsOf = (plane: ProcessPlane): Promise<number> => plane.metric('causeway_leader_epoch');

  it('end their connections at each gRPC port, while leaders keep their leases and requests are answered', async () => {
    const [global, east] = [mesh.global, mesh.zone('east')];
    const before = await Promise.all([global, east].map(termsOf));
    const codes = new Map<string, Set<number | undefined>>();
    const floods = grpcPortsOf(mesh).map(async ({ name, target, path }) => {
      const seen = new Set<number | undefined>();
      codes.set(name, seen);
      for (let n = 0; n < CONNECTIONS; n++) {
        const { closed, code } = await sendRaw(target, rapidResets(path, STREAMS), PATIENCE);
        expect(closed).toBe(true);
        seen.add(code);
      }
    });
    await Promise.all(floods);
    // No HTTP/2 begins where HTTP/1 shares the port; an address that began too much is closed unread.
    const calm = constants.NGHTTP2_ENHANCE_YOUR_CALM;
    for (const [name, seen] of codes) {
      if (name !== 'xDS') expect(seen).toContain(calm);
      expect([...seen].filter((code) => code !== undefined && code !== calm)).toEqual([]);
    }
    await until('the zone answers', () => east.get('/meshes/default'));
    expect(await Promise.all([global, east].map(termsOf))).toEqual(before);
  });
});
