import { coreKinds } from '@causeway/kinds';
import { silentLogger } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import { MemoryDisk } from '@causeway/store/testing';
import { TestPlane } from '../../../../test/support/test-plane';
import { createZoneTokenService, type ZoneTokenService } from './zone-token-service';

const MINUTE = 60_000;

describe('invites of zones', () => {
  const clock = new FakeClock(Date.parse('2026-03-01T12:00:00Z'));
  const open: { close(): unknown }[] = [];
  afterEach(async () => {
    for (const one of open.splice(0).reverse()) await one.close();
  });

  /** A replica of the global; replicas share the disk. */
  async function start(disk = new MemoryDisk()): Promise<{ service: ZoneTokenService; plane: TestPlane }> {
    const plane = new TestPlane({ role: 'global' }, disk);
    const { store, index } = plane;
    const service = createZoneTokenService({ store, index, registry: coreKinds, clock, logger: silentLogger });
    open.push(plane, service);
    await service.tokens.ensureKey();
    return { service, plane };
  }

  it('are exchanged for a token of their zone, which lets it in', async () => {
    const { service } = await start();
    const { token: invite, id, expiresAt } = await service.invites.issue({ zone: 'east', issuedBy: 'anna' });
    expect(Date.parse(expiresAt) - clock.now()).toBe(10 * MINUTE);
    const { token, zone, scope } = await service.invites.redeem(invite);
    expect([zone, scope]).toEqual(['east', ['cp']]);
    await expect(service.auth.authenticate({ zone: 'east', token })).resolves.toHaveProperty('until');
    expect(await service.tokens.list()).toMatchObject([{ facts: { zone: 'east' }, issuedBy: `invite ${id}` }]);
    expect(await service.invites.list()).toMatchObject([{ id, issuedBy: 'anna', revoked: true }]);
  });

  it('are good for one of all callers at all replicas, also where a replica has not heard of the others', async () => {
    const disk = new MemoryDisk();
    const [first, second] = [await start(disk), await start(disk)];
    const { token: invite } = await first.service.invites.issue({ zone: 'east' });
    const both = [first, second, first, second].map(({ service }) => service.invites.redeem(invite));
    const ended = await Promise.allSettled(both);
    expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await first.service.tokens.list()).toHaveLength(1);
    const other = await first.service.invites.issue({ zone: 'east' });
    second.plane.gate.shut();
    await first.service.invites.redeem(other.token);
    await expect(second.service.invites.redeem(other.token)).rejects.toThrow(
      `the zone invite ${other.id} was used at 2026-03-01T12:00:00.000Z; make another at the global: causeway zones invite ZONE`,
    );
  });

  it('end after ten minutes, and when they are revoked', async () => {
    const { service } = await start();
    const [late, gone] = [await service.invites.issue({ zone: 'east' }), await service.invites.issue({ zone: 'east' })];
    expect(await service.invites.revoke(gone.id)).toEqual([]);
    await expect(service.invites.redeem(gone.token)).rejects.toThrow('was used or revoked; make another');
    clock.advance(10 * MINUTE + 1_000);
    await expect(service.invites.redeem(late.token)).rejects.toThrow(/expired at .*; make another/);
    expect(await service.tokens.list()).toEqual([]);
  });

  it('are no zone tokens, and zone tokens are no invites', async () => {
    const { service } = await start();
    const { token: invite } = await service.invites.issue({ zone: 'east' });
    await expect(service.auth.authenticate({ zone: 'east', token: invite })).rejects.toThrow('it is no zone token');
    const { token } = await service.tokens.issue({ zone: 'east' });
    await expect(service.invites.redeem(token)).rejects.toThrow('it is no zone invite');
    await expect(service.invites.redeem('nonsense')).rejects.toThrow('cannot be read');
    const stranger = await start();
    const { token: foreign } = await stranger.service.invites.issue({ zone: 'east' });
    await expect(service.invites.redeem(foreign)).rejects.toThrow('does not fit its signing key');
  });

  it('are a hundred at once, not more; those that have ended leave their place', async () => {
    const { service } = await start();
    const first = await service.invites.issue({ zone: 'east' });
    for (let i = 1; i < 100; i++) await service.invites.issue({ zone: 'east' });
    await expect(service.invites.issue({ zone: 'east' })).rejects.toThrow('100 zone invites are open');
    await service.invites.revoke(first.id);
    await service.invites.issue({ zone: 'east' });
    await expect(service.invites.issue({ zone: 'east' })).rejects.toThrow('100 zone invites are open');
    clock.advance(11 * MINUTE);
    await service.invites.issue({ zone: 'east' });
    clock.advance(8 * 24 * 60 * MINUTE);
    await service.invites.purge();
    expect(await service.invites.list()).toEqual([]);
    await expect(service.invites.issue({ zone: 'No Zone' })).rejects.toMatchObject({ violations: [{ field: 'zone' }] });
  });
});
