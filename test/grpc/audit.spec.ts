import { connectApi, type ApiClient } from '@causeway/api-client';
import type { AuditEntry } from '@causeway/store';
import { plainTokens } from '../support/rest-access';
import { until } from '../support/until';
import { GrpcFixture, OPERATOR_TOKEN } from './grpc-fixture';

const secretValue = 'a-value-that-nobody-may-find-again';

describe('the audit log of the gRPC API', () => {
  let grpc: GrpcFixture;
  let operator: ApiClient;
  let nobody: ApiClient;
  beforeEach(async () => {
    grpc = await GrpcFixture.open({ open: false, verifiers: [plainTokens] });
    const server = new URL(`grpc://${grpc.address}`);
    operator = await connectApi({ server, token: OPERATOR_TOKEN });
    nobody = await connectApi({ server });
  });
  afterEach(async () => {
    operator.close();
    nobody.close();
    await grpc.close();
  });

  /** The refusals, oldest first, once there are `count` of them. */
  async function refusals(count: number): Promise<readonly AuditEntry[]> {
    let entries: readonly AuditEntry[] = [];
    await until(`${count} refusals`, async () => {
      ({ entries } = await grpc.audit.page({ size: 1_000, result: 'refused' }));
      return entries.length >= count;
    });
    return entries.toReversed();
  }

  it('has calls without rights or with a wrong token, whatever they asked', async () => {
    const wrong = await connectApi({ server: new URL(`grpc://${grpc.address}`), token: 'wrong' });
    const refused = [
      () => nobody.get({ kind: 'MeshService', name: 'a' }),
      () => nobody.list({ kind: 'MeshService', mesh: 'default' }),
      () => nobody.resolve({ hostname: 'a.mesh.local' }),
      () => nobody.delete({ kind: 'MeshService', name: 'a' }, { dryRun: true }),
      () => nobody.apply([{ type: 'MeshService', mesh: 'default', name: 'b' }], { dryRun: true }),
      () => wrong.list({ kind: 'Mesh' }),
    ];
    for (const [i, call] of refused.entries()) {
      await call().catch(() => undefined);
      await refusals(i + 1);
    }
    wrong.close();
    const service = { kind: 'MeshService', mesh: 'default', activity: '' };
    const caller = { user: 'anonymous', recognizedBy: 'nothing', address: '127.0.0.1', via: 'gRPC' };
    expect(await refusals(refused.length)).toMatchObject([
      { ...caller, ...service, verb: 'get', name: 'a', reason: expect.stringMatching(/^Forbidden: /) },
      { ...caller, ...service, verb: 'get', name: '' },
      { ...caller, verb: 'get', kind: '', activity: '/causeway.v1.NamingService/Resolve' },
      { ...caller, ...service, verb: 'delete', name: 'a' },
      { ...caller, verb: 'put', kind: '', activity: '/causeway.v1.ResourceService/Apply' },
      { ...caller, verb: 'get', kind: '', activity: '/causeway.v1.ResourceService/List' },
    ]);
  });

  it('has a watch that ended because its caller lost the right to it', async () => {
    const server = new URL(`grpc://${grpc.address}`);
    const anna = await connectApi({ server, token: 'anna:' });
    const spec = { role: 'viewer', subjects: [{ kind: 'User', name: 'anna' }] };
    await operator.apply([{ type: 'RoleBinding', name: 'anna', spec }]);
    await until('the binding is known', async () => {
      const listed = await anna.list({ kind: 'MeshService', mesh: 'default' }).then(
        () => true,
        () => false,
      );
      return listed;
    });
    const before = (await grpc.audit.page({ size: 1_000, result: 'refused' })).entries.length;
    const stop = new AbortController();
    let begun = false;
    const watching = (async () => {
      for await (const event of anna.watch({ kind: 'MeshService', mesh: 'default' }, { signal: stop.signal }))
        begun ||= event.type === 'bookmark';
    })();
    const ended = watching.catch((error: unknown) => error);
    await until('the watch has begun', () => begun);
    await operator.delete({ kind: 'RoleBinding', name: 'anna' });
    expect(String(await ended)).toMatch(/no RoleBinding/);
    const entry = (await refusals(before + 1)).at(-1);
    expect(entry).toMatchObject({
      user: 'anna',
      verb: 'get',
      kind: 'MeshService',
      mesh: 'default',
      via: 'gRPC',
      reason: expect.stringMatching(/^Forbidden: no RoleBinding lets user "anna" watch MeshService/),
    });
    anna.close();
  });

  it('has each refused document and each refused delete, but not of dry runs, and no value', async () => {
    const bad = { type: 'MeshService', mesh: 'default', name: 'bad', spec: { ports: [{ port: 0 }] } };
    const secret = { type: 'Secret', mesh: 'default', name: 's', data: secretValue };
    await operator.apply([bad], { dryRun: true });
    await operator.apply([bad]);
    await operator.apply([bad, secret, { type: secretValue }], { atomic: true });
    await operator.delete({ kind: 'MeshService', name: 'absent' }).catch(() => undefined);
    await operator.get({ kind: 'MeshService', name: 'absent' }).catch(() => undefined);
    const entries = await refusals(5);
    const found = entries.map(({ verb, kind, name, activity }) => [verb, kind, name, activity]);
    expect(found.toSorted()).toEqual(
      [
        ['put', 'MeshService', 'bad', ''],
        ['put', 'MeshService', 'bad', ''],
        ['put', 'Secret', 's', ''],
        ['put', '', '', 'document 3 of a batch'],
        ['delete', 'MeshService', 'absent', ''],
      ].toSorted(),
    );
    expect(entries.every(({ user, via }) => user === 'operator' && via === 'gRPC')).toBe(true);
    expect(JSON.stringify(entries)).not.toContain(secretValue);
  });
});
