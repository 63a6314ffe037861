import { TestGlobal, TestZone } from '../../../../test/support/sync-mesh';
import { noAuthentication, type ZoneAuthenticator } from '../auth/zone-authenticator';

/** Does something once, as a zone's stream comes to the door: after its handshake, before its session is served. */
function doorThat(does: () => Promise<unknown>): ZoneAuthenticator {
  let callers = 0;
  return {
    ...noAuthentication,
    authenticate: async (caller) => {
      // The first is the handshake.
      if (++callers === 2) await does();
      return noAuthentication.authenticate(caller);
    },
  };
}

describe('a Zone that is deleted between the handshake of its zone and its streams', () => {
  it('I4 is made again: no session goes on without one', async () => {
    let deleted: () => void = () => undefined;
    const wasDeleted = new Promise<void>((resolve) => (deleted = resolve));
    const auth = doorThat(async () => {
      await global.delete('Zone', 'east');
      deleted();
    });
    const global = new TestGlobal({ auth });
    const east = new TestZone('east');
    try {
      await global.put('Mesh', 'default', {});
      await global.serve();
      await east.join(global);
      await wasDeleted;
      await global.holds(global.id('Zone', 'east'));
      await east.put('MeshService', 'redis', { ports: [{ port: 6379 }], state: 'Available' });
      await global.holds(east.id('MeshService', 'redis'));
      expect(global.names('Zone')).toEqual(['east']);
    } finally {
      await east.close();
      await global.close();
    }
  });
});
