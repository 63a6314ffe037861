import { X509Certificate } from 'node:crypto';
import { findCondition, type JsonObject } from '@causeway/resources';
import type { Change } from '@causeway/store';
import { EAST_AUTHORITY, LEAF_CERTIFICATE, NEXT_EAST_AUTHORITY } from '../../../../test/support/certificates';
import { idOf, LoopHarness, put, type Replica } from '../../../../test/support/loop-harness';
import { certificatesOfTrust, MAX_BELIEVED } from './bundle-certificates';
import { CERTIFICATES_DROPPED, createTrustCertificatesLoop } from './trust-certificates-reconciler';

const ID = idOf('MeshTrust', 'own', { zone: 'west' });
const CUT = EAST_AUTHORITY.replace(/MII[\s\S]{40}/, 'MII');
const trust = (...pems: readonly string[]): Change =>
  put(ID, { trustDomain: 'a', caBundles: pems.map((value) => ({ type: 'Pem', pem: { value } })) });

describe('the condition of a MeshTrust with certificates that are not believed', () => {
  let harness: LoopHarness;
  let replica: Replica;
  beforeEach(async () => {
    harness = new LoopHarness();
    replica = harness.replica();
    await replica.lead([createTrustCertificatesLoop()]);
  });
  afterEach(() => harness.stop());

  const condition = async (...changes: Change[]): Promise<JsonObject | undefined> => {
    if (changes.length > 0) await harness.write(...changes);
    await replica.settle();
    return findCondition((await harness.get(ID))?.status, CERTIFICATES_DROPPED);
  };

  it('names the invalid ones among good ones with field, number and reason, and ends with the cause', async () => {
    expect(await condition(trust(EAST_AUTHORITY))).toBeUndefined();
    const mixed = trust(`${EAST_AUTHORITY}${CUT}`, LEAF_CERTIFICATE, 'garbage', NEXT_EAST_AUTHORITY);
    expect(await condition(mixed)).toMatchObject({
      reason: 'Invalid',
      message: [
        'spec.caBundles[0].pem.value, certificate 1: cannot be parsed',
        'spec.caBundles[1].pem.value, certificate 0: is not of a certificate authority',
        'spec.caBundles[2].pem.value: has no certificate',
      ].join('; '),
    });
    const { revision } = harness;
    await replica.lead([createTrustCertificatesLoop()]);
    await condition();
    expect(harness.revision).toBe(revision);
    expect(await condition(trust(EAST_AUTHORITY, NEXT_EAST_AUTHORITY))).toBeUndefined();
  });

  it('says that nobody is believed where no certificate is left', async () => {
    const { reason, message } = (await condition(trust(LEAF_CERTIFICATE, CUT))) ?? {};
    expect(reason).toBe('NoneLeft');
    expect(message).toMatch(/; no valid certificate is left: no identity of this trust domain is trusted$/);
  });

  it('names the ones beyond the bound, a few by place and the others by number', async () => {
    const many = Array.from({ length: MAX_BELIEVED + 20 }, () => EAST_AUTHORITY);
    const { message } = (await condition(trust(...many))) ?? {};
    expect(message).toMatch(/^spec\.caBundles\[64\]\.pem\.value, certificate 0: is beyond the 64th; .*; and 15 more$/);
    const held = await harness.get(ID);
    expect(held && certificatesOfTrust(held).usable).toHaveLength(MAX_BELIEVED);
  });

  it('comes when a certificate ends, without any other event', async () => {
    expect(await condition(trust(EAST_AUTHORITY))).toBeUndefined();
    const end = Date.parse(new X509Certificate(EAST_AUTHORITY).validTo);
    harness.clock.advance(end - harness.clock.now() - 1);
    expect(await condition()).toBeUndefined();
    harness.clock.advance(1);
    expect(await condition()).toMatchObject({
      reason: 'NoneLeft',
      message: expect.stringContaining(`ended at ${new Date(end).toISOString()}`),
    });
    expect(await condition(trust(EAST_AUTHORITY, 'x'))).toMatchObject({ reason: 'NoneLeft' });
  });
});
