import { Unavailable, NotFound } from '@causeway/resources';
import { silentLogger } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import { sketch, TrafficZone } from '../../../../test/support/traffic-zone';
import { CertificateSigner } from './certificate-signer';
import { ProxyCertificates } from './proxy-certificates';
import { ZoneProxyAuthenticator } from './zone-proxy-authenticator';

const caller = {
  node: 'default.a',
  cluster: 'a',
  userAgent: 'envoy 1.40.0',
  address: '127.0.0.1',
  authorization: 'Bearer token',
  metadata: { 'causeway.io/capture': 'bind' },
};
const dataplane = (uid: string) => ({
  ...sketch('Dataplane', 'a', { networking: { address: '10.0.0.1', inbound: [] } }, { zone: 'west' }),
  uid,
});

/** Admits by any token. */
function setUp() {
  const zone = new TrafficZone();
  const clock = new FakeClock(1_000_000);
  const nobody = (): Promise<never> => Promise.reject(new Unavailable('signs nothing'));
  const authenticator = new ZoneProxyAuthenticator({
    zone: 'west',
    index: zone.index,
    scope: 'used',
    renewed: () => undefined,
    dataplaneTokens: {
      verify: () =>
        Promise.resolve({ id: 't', binding: { mesh: 'default' }, issuedAt: 0, expiresAt: clock.now() + 60_000 }),
      onChange: () => () => undefined,
    },
    zoneTokens: { verify: nobody, onChange: () => () => undefined },
    certificates: new ProxyCertificates({
      clock,
      logger: silentLogger,
      signer: new CertificateSigner({ clock, issuer: { issue: nobody, issueToEgress: nobody } }),
      authority: () => Promise.resolve(undefined),
      meshAuthority: () => undefined,
      listIds: () => [],
    }),
    peers: {
      verify: () => {
        throw new Unavailable('knows nobody');
      },
    },
    listIds: () => [],
    registrar: { register: () => Promise.resolve(), scheduleRemoval: () => undefined },
    clock,
    enrolments: { join: () => Promise.resolve(undefined), authoriseCertificate: () => Promise.resolve(undefined) },
  });
  return { zone, authenticator };
}

describe('the proxy of a Dataplane that is asked about again', () => {
  it('keeps its view while the Dataplane is the same, and is unknown without it', async () => {
    const { zone, authenticator } = setUp();
    zone.put(dataplane('one'));
    const [first, second] = [await authenticator.admit(caller), await authenticator.admit(caller)];
    expect(second.proxy.view).toBe(first.proxy.view);
    zone.put({ ...dataplane('one'), labels: { app: 'b' } });
    expect((await authenticator.admit(caller)).proxy.view).toBe(first.proxy.view);
    zone.delete(dataplane('one'));
    await expect(authenticator.admit(caller)).rejects.toThrow(NotFound);
  });

  it('has another view, and so is sent everything, where the Dataplane was deleted and made again before it was asked', async () => {
    const { zone, authenticator } = setUp();
    zone.put(dataplane('one'));
    const first = await authenticator.admit(caller);
    zone.delete(dataplane('one'));
    zone.put(dataplane('two'));
    const again = await authenticator.admit(caller);
    expect(again.proxy.id).toBe(first.proxy.id);
    expect(again.proxy.view).not.toBe(first.proxy.view);
  });
});
