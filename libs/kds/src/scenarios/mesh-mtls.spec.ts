import { meshAuthoritySecrets, openSealedText, sealSpec, SEALED_LABEL, SealingKeys } from '@causeway/identity';
import type { Identity, JsonObject } from '@causeway/resources';
import { FakeClock } from '@causeway/runtime/testing';
import { KumaGlobal } from '../../../../test/support/kuma-global';
import { KumaZone } from '../../../../test/support/kuma-zone';
import { TestGlobal, TestZone } from '../../../../test/support/sync-mesh';
import { toClusterConfig } from '../session/kuma-incarnation';
import type { WireResource } from '../wire/wire-resource';

const MTLS: JsonObject = { mtls: { enabledBackend: 'ca-1', backends: [{ name: 'ca-1', type: 'builtin' }] } };
const KEY = '-----BEGIN RSA PRIVATE KEY-----\nnot one\n-----END RSA PRIVATE KEY-----\n';
const { certificate, key } = meshAuthoritySecrets('default', 'ca-1');
const data = (text: string): JsonObject => ({ data: Buffer.from(text).toString('base64') });

function sealingKeys(id: string): SealingKeys {
  const parsed = SealingKeys.parse(`${id}:${Buffer.alloc(32, id).toString('base64')}`);
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.keys;
}

describe('the Secrets of Mesh.mtls', () => {
  it('go to zones of Kuma, the key opened; Causeway zones get the certificate only', async () => {
    const sealing = sealingKeys('g');
    const global = new TestGlobal({ kuma: { meshServicesMode: 'Everywhere', sealing } });
    const [west, kuma] = [new TestZone('west'), new KumaZone('kz')];
    await global.put('Mesh', 'default', MTLS);
    const put = async ({ ...id }: Identity, spec: JsonObject, labels = {}): Promise<void> => {
      await global.store.write({ changes: [{ type: 'put', id, expect: 'any', labels, spec }], onRefusal: 'abort' });
      await global.holds(id);
    };
    await put(certificate, data('certificate'));
    await put(key, sealSpec(sealing, key, KEY), { [SEALED_LABEL]: 'g' });
    await global.serve();
    try {
      kuma.ask(global, ['Mesh', 'Secret']);
      const sent = await kuma.firstResources('Secret');
      expect(sent.map(({ name, labels, spec }) => [name, labels, spec])).toEqual([
        ['default.ca-builtin-cert-ca-1', { 'kuma.io/origin': 'global' }, data('certificate')],
        ['default.ca-builtin-key-ca-1', { 'kuma.io/origin': 'global' }, data(KEY)],
      ]);
      const [mesh] = await kuma.firstResources('Mesh');
      expect(mesh?.spec).toMatchObject(MTLS);
      await west.join(global);
      await west.holds(certificate);
      await global.report('west', 'Secret');
      expect(west.get(key)).toBeUndefined();
    } finally {
      kuma.leave();
      await west.close();
      await global.close();
    }
  });

  it('of a Kuma global are used by a zone, the key sealed before it is stored, and the same again is no change', async () => {
    const sealing = sealingKeys('z');
    const kuma = new KumaGlobal();
    const west = new TestZone('west', { clock: new FakeClock(1_000_000), sealing });
    const secret = (name: string, text: string): WireResource => ({
      kind: 'Secret',
      mesh: 'default',
      name,
      labels: { 'kuma.io/origin': 'global' },
      spec: data(text),
    });
    const secrets = [secret(certificate.name, 'certificate'), secret(key.name, KEY)];
    kuma.state.set('Config', [toClusterConfig('cluster-1')]);
    kuma.state.set('Mesh', [
      { kind: 'Mesh', mesh: '', name: 'default', labels: { 'kuma.io/origin': 'global' }, spec: MTLS },
    ]);
    kuma.state.set('Secret', secrets);
    await kuma.serve();
    try {
      await west.join(kuma);
      await west.holds(certificate, ({ spec }) => spec['data'] === data('certificate')['data']);
      const held = await west.holds(key);
      expect(held.labels[SEALED_LABEL]).toBe('z');
      expect(openSealedText(sealing, key, held.spec)).toEqual({ ok: true, text: KEY });
      const stored = JSON.stringify([...west.index.ofKind('Secret')]);
      expect(stored).not.toContain(Buffer.from(KEY).toString('base64'));
      kuma.state.set('Secret', [...secrets, secret('another', 'text')]);
      kuma.say('Secret');
      await west.holds({ ...key, name: 'another' });
      expect(west.get(key)?.generation).toBe(1);
    } finally {
      await west.close();
      kuma.close();
    }
  });
});
