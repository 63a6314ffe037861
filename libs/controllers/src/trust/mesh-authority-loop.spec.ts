import { meshAuthoritySecrets, openSealedText, SealingKeys } from '@causeway/identity';
import { findCondition, type Identity, type JsonObject } from '@causeway/resources';
import { silentLogger } from '@causeway/runtime';
import type { Change } from '@causeway/store';
import { LoopHarness, put, type Replica } from '../../../../test/support/loop-harness';
import { createMeshAuthorityLoop } from './mesh-authority-loop';

const id: Identity = { kind: 'Mesh', mesh: '', zone: '', namespace: '', name: 'default' };
const mtls = (enabledBackend: string, type = 'builtin'): JsonObject => ({
  mtls: { enabledBackend, backends: [{ name: 'ca-1', type }] },
});
const mesh = (spec: JsonObject): Change => put(id, spec);

function sealingKeys(...ids: string[]): SealingKeys {
  const parsed = SealingKeys.parse(ids.map((key) => `${key}:${Buffer.alloc(32, key).toString('base64')}`).join(','));
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.keys;
}

describe('the authority of a mesh with Mesh.mtls', () => {
  const secrets = meshAuthoritySecrets('default', 'ca-1');
  let harness: LoopHarness;
  let replica: Replica;
  beforeEach(() => {
    harness = new LoopHarness();
    replica = harness.replica();
  });
  afterEach(() => harness.stop());

  const lead = async (sealing: SealingKeys | undefined): Promise<void> => {
    await replica.lead([createMeshAuthorityLoop({ sealing, logger: silentLogger })]);
    await replica.settle();
  };
  const text = async (of: Identity): Promise<string> => {
    const data = (await harness.get(of))?.spec['data'];
    return Buffer.from(typeof data === 'string' ? data : '', 'base64').toString();
  };
  const made = async (): Promise<string> => {
    for (;;) {
      await replica.settle();
      const certificate = await text(secrets.certificate);
      if (certificate !== '') return certificate;
      harness.clock.advance(100);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const said = async (): Promise<unknown> => {
    const { status, reason } = findCondition((await harness.get(id))?.status, 'MtlsAuthority') ?? {};
    return [status, reason];
  };
  const opened = async (keys: SealingKeys): Promise<string> => {
    const found = openSealedText(keys, secrets.key, (await harness.get(secrets.key))?.spec ?? {});
    return found.ok ? found.text : found.reason;
  };

  it('is made once, its key sealed; it stays when mtls is off, and another term makes no second one', async () => {
    const keys = sealingKeys('a');
    await lead(keys);
    await harness.write(mesh(mtls('ca-1')));
    const certificate = await made();
    await replica.settle();
    expect(certificate).toMatch(/^-----BEGIN CERTIFICATE-----/);
    expect(await text(secrets.key)).not.toContain('PRIVATE KEY');
    expect(await opened(keys)).toMatch(/^-----BEGIN PRIVATE KEY-----/);
    expect((await harness.get(secrets.key))?.labels).toMatchObject({
      'causeway.io/sealed': 'a',
      'kuma.io/origin': 'global',
    });
    expect(await said()).toEqual(['True', 'Made']);
    const { revision } = harness;
    await lead(keys);
    expect(harness.revision).toBe(revision);
    await harness.write(mesh(mtls('')));
    await replica.settle();
    expect(await said()).toEqual([undefined, undefined]);
    expect(await text(secrets.certificate)).toBe(certificate);
  });

  it('is sealed anew with another first key; a key that does not open is said, and kept', async () => {
    await lead(sealingKeys('a'));
    await harness.write(mesh(mtls('ca-1')));
    await made();
    const key = await opened(sealingKeys('a'));
    await lead(sealingKeys('b', 'a'));
    expect(await opened(sealingKeys('b'))).toBe(key);
    await lead(sealingKeys('c'));
    expect(await said()).toEqual(['False', 'KeyUnreadable']);
    expect(await opened(sealingKeys('b'))).toBe(key);
  });

  it('is not made without CAUSEWAY_SECRETS_KEY, of another type, or without mtls', async () => {
    await lead(undefined);
    await harness.write(mesh(mtls('ca-1')));
    await replica.settle();
    expect(await said()).toEqual(['False', 'NoSecretsKey']);
    await lead(sealingKeys('a'));
    await harness.write(mesh(mtls('ca-1', 'provided')));
    await replica.settle();
    expect(await said()).toEqual([undefined, undefined]);
    await harness.write(mesh({}));
    await replica.settle();
    expect([await harness.get(secrets.certificate), await harness.get(secrets.key)]).toEqual([undefined, undefined]);
  });
});
