import { coreKinds } from '@causeway/kinds';
import type { ControlPlane } from '@causeway/resources';
import { silentLogger } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import { TestPlane } from '../../../../test/support/test-plane';
import { globalSecretId } from '../global-secrets';
import { createZoneProxyTokens, type ZoneProxyTokens } from './zone-proxy-tokens';

const clock = new FakeClock(Date.parse('2026-03-01T12:00:00Z'));

describe('the zone tokens of a zone', () => {
  const open: { close(): unknown }[] = [];
  afterEach(async () => {
    for (const one of open.splice(0).reverse()) await one.close();
  });
  function start(federated: boolean): ZoneProxyTokens {
    const cp: ControlPlane = { role: 'zone', zone: 'east', federated };
    const plane = new TestPlane(cp);
    const { store, index } = plane;
    const made = createZoneProxyTokens({ cp, store, index, registry: coreKinds, clock, logger: silentLogger });
    open.push(plane, made);
    return made;
  }
  const issue = async (of: ZoneProxyTokens, ...scope: readonly string[]) => issueFor('1h', of, scope);
  const issueFor = async (validFor: string, of: ZoneProxyTokens, scope: readonly string[]) => {
    const issued = await of.tokens?.issue({ zone: 'east', scope, validFor, issuedBy: 'anna' });
    if (!issued) throw new Error('no issuer');
    return issued;
  };

  it('by itself: its own, each for what it was issued for, until it is revoked or its key is deleted', async () => {
    const zone = start(false);
    const { token, id } = await issue(zone, 'ingress');
    expect(await zone.verify(token, 'ingress')).toBe(clock.now() + 3_600_000);
    await expect(zone.verify(token, 'egress')).rejects.toThrow('has not the scope "egress", only ["ingress"]');
    const both = await issue(zone, 'ingress', 'egress');
    expect(await zone.verify(both.token, 'egress')).toBeGreaterThan(clock.now());
    let received = 0;
    zone.onChange(() => received++);
    await zone.tokens?.revoke(id);
    await expect(zone.verify(token, 'ingress')).rejects.toThrow(`the zone token ${id} is revoked`);
    expect(received).toBe(1);
    const key = { ...globalSecretId('zone-token-signing-key-1', 'east') };
    expect(zone.deletionWarnings(key)).toEqual(['zone tokens signed with key 1 are valid no longer without it']);
    expect(zone.deletionWarnings({ ...key, zone: '' })).toEqual([]);
  });

  it('count as expiring once a tenth of their time is left, where they are presented and valid', async () => {
    const zone = start(false);
    const { token } = await issueFor('30d', zone, ['ingress']);
    clock.advance(28 * 24 * 3_600_000);
    await expect(zone.verify(token, 'egress')).rejects.toThrow('scope');
    expect(zone.expiring()).toBe(0);
    await zone.verify(token, 'ingress');
    expect(zone.expiring()).toBe(1);
    clock.advance(-28 * 24 * 3_600_000);
  });

  it.each<[string, object, readonly string[]]>([
    ['a control plane', { zone: 'east', scope: ['cp'] }, ['scope']],
    ['nothing', { zone: 'east' }, ['scope']],
    ['another zone', { zone: 'west', scope: ['egress'] }, ['zone']],
    ['a scope that is none', { zone: 'east', scope: ['door'] }, ['scope[0]']],
  ])('by itself: none for %s', async (_, request, fields) => {
    const zone = start(false);
    await expect(zone.tokens?.issue({ zone: '', ...request })).rejects.toMatchObject({
      violations: fields.map((field) => expect.objectContaining({ field }) as unknown),
    });
    expect(await zone.tokens?.list()).toEqual([]);
  });

  it('of a global are the global’s: it issues none, and those of its own keys hold no longer', async () => {
    const { token } = await issue(start(false), 'egress');
    const federated = start(true);
    expect(federated.tokens).toBeUndefined();
    await expect(federated.verify(token, 'egress')).rejects.toThrow('knows no signing key of zone tokens yet');
  });
});
