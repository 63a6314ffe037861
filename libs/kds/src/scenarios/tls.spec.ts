import type { ChannelCredentials } from '@grpc/grpc-js';
import { AUTHORITY_SECRET, SelfIssuedCertificates } from '@causeway/access';
import { authorityText, createAuthority } from '@causeway/access/testing';
import { coreKinds } from '@causeway/kinds';
import { silentLogger, systemClock } from '@causeway/runtime';
import { TestGlobal, TestZone } from '../../../../test/support/sync-mesh';
import { until } from '../../../../test/support/until';
import { tlsServerCredentials } from '@causeway/grpc-server';
import { globalCredentials } from '../auth/credentials';

describe('zones and a global over TLS', () => {
  let global: TestGlobal;
  let certificates: SelfIssuedCertificates;
  const zones: TestZone[] = [];
  const join = async (name: string, credentials: () => ChannelCredentials): Promise<TestZone> => {
    const zone = new TestZone(name, { credentials });
    zones.push(zone);
    await zone.join(global);
    return zone;
  };
  const verified = (authority: () => string) => (): ChannelCredentials =>
    globalCredentials({ type: 'verified', authority: Buffer.from(authority()) });
  const joined = (zone: TestZone): Promise<unknown> =>
    until(`${zone.zone} has a session`, () => zone.sync?.status().connected);
  const refused = (zone: TestZone, why: RegExp): Promise<unknown> =>
    until(`${zone.zone} gets no session`, () => why.test(zone.sync?.status().lastError ?? ''));

  beforeEach(async () => {
    global = new TestGlobal();
    await global.put('Mesh', 'default', {});
    certificates = await SelfIssuedCertificates.open({
      store: global.store,
      index: global.index,
      registry: coreKinds,
      clock: systemClock,
      logger: silentLogger,
      names: () => ['localhost', '127.0.0.1'],
    });
    global.credentials = tlsServerCredentials(certificates);
    await global.serve();
  });
  afterEach(async () => {
    await Promise.all(zones.splice(0).map((zone) => zone.close()));
    await global.close();
    certificates.close();
  });

  it('a zone that has the authority verifies the global and gets the mesh', async () => {
    const east = await join(
      'east',
      verified(() => certificates.authority()),
    );
    await east.holds(global.id('Mesh', 'default'));
  });

  it('a zone that has another authority, or none, or speaks plain text, sends nothing', async () => {
    const other = (await createAuthority(Date.now())).certificate;
    const [wrong, none, plain] = await Promise.all([
      join(
        'wrong',
        verified(() => other),
      ),
      join('none', () => globalCredentials({ type: 'verified' })),
      join('plain', () => globalCredentials({ type: 'plain' })),
    ]);
    await Promise.all([
      refused(wrong, /unable to verify|self-signed/),
      refused(none, /unable to verify|self-signed/),
      refused(plain, /UNAVAILABLE/),
    ]);
    expect(global.names('Zone')).toEqual([]);
  });

  it('a zone trusts any certificate only where its settings say so', async () => {
    await joined(await join('east', () => globalCredentials({ type: 'unverified' })));
  });

  it('the authority changes while zones are connected: they stay, and come back with the new one only', async () => {
    let known = certificates.authority();
    const east = await join(
      'east',
      verified(() => known),
    );
    await joined(east);
    const session = east.sync?.status().session;
    const changed = new Promise<void>((resolve) => certificates.onChange(resolve));
    const authority = Buffer.from(authorityText(await createAuthority(Date.now()))).toString('base64');
    await global.put('GlobalSecret', AUTHORITY_SECRET, { data: authority });
    await changed;
    await global.put('Mesh', 'second', {});
    await east.holds(global.id('Mesh', 'second'));
    expect(east.sync?.status().session).toBe(session);
    await global.cut();
    await global.serve();
    await refused(east, /unable to verify|self-signed/);
    known = certificates.authority();
    await joined(east);
  });
});
