import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import { ChannelCredentials, status, type Metadata, type ServiceError } from '@grpc/grpc-js';
import { HandshakeRequest } from '@causeway/proto-gen';
import { createZoneTokenService, type ZoneTokenService } from '@causeway/access';
import { coreKinds } from '@causeway/kinds';
import type { Identity, Resource } from '@causeway/resources';
import { silentLogger, systemClock, type Clock } from '@causeway/runtime';
import { FakeClock } from '@causeway/runtime/testing';
import { MemoryDisk } from '@causeway/store/testing';
import { TestGlobal, TestZone } from '../../../../test/support/sync-mesh';
import { until } from '../../../../test/support/until';
import { shownToken } from '../../../../test/support/zone-token';
import type { ZoneAuthenticator } from '../auth/zone-authenticator';
import { encodeZoneHeaders } from '../wire/headers';
import { GrpcZoneTransport } from '../zone/zone-transport';

const REVOCATIONS = 'zone-token-revocations';
const signingKeyName = (serial: number): string => `zone-token-signing-key-${serial}`;
const secretId = (name: string): Identity => ({ kind: 'GlobalSecret', mesh: '', zone: '', namespace: '', name });
const secretText = ({ spec }: Resource): string =>
  Buffer.from(JSON.stringify(spec['data']).slice(1, -1), 'base64').toString('utf8');
const putSecret = (plane: TestGlobal, name: string, text: string): Promise<number> =>
  plane.put('GlobalSecret', name, { data: Buffer.from(text).toString('base64') });
const generateSigningKey = async (): Promise<string> => {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 });
  return privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
};

/** Making one takes longer than most tests. */
const firstKey = generateSigningKey();

/** A global that asks for zone tokens. */
class TokenGlobal {
  readonly plane: TestGlobal;
  readonly zoneTokens: ZoneTokenService;

  constructor(clock: Clock = systemClock, disk?: MemoryDisk) {
    const auth: ZoneAuthenticator = {
      authenticate: (caller) => this.zoneTokens.auth.authenticate(caller),
      onChange: (listener) => this.zoneTokens.auth.onChange(listener),
    };
    this.plane = new TestGlobal({ auth, clock }, disk);
    const { store, index } = this.plane;
    this.zoneTokens = createZoneTokenService({ store, index, registry: coreKinds, clock, logger: silentLogger });
  }

  async start(key = firstKey): Promise<void> {
    await this.plane.put('Mesh', 'default', {});
    await putSecret(this.plane, signingKeyName(1), await key);
    await this.plane.holds(secretId(signingKeyName(1)));
    await this.plane.serve();
  }

  async token(zone: string, validFor = '1h', scope = ['cp']): Promise<string> {
    return (await this.zoneTokens.tokens.issue({ zone, validFor, scope })).token;
  }

  /** Code and text that a stream or a handshake ends with; `OK` when it is served. */
  async answer(call: 'handshake' | 'down' | 'up', zone: string, token?: string): Promise<[string, string]> {
    const calls = new GrpcZoneTransport(
      `127.0.0.1:${this.plane.port}`,
      ChannelCredentials.createInsecure(),
      systemClock,
    );
    const headers = encodeZoneHeaders({ zone, version: '0', ...(token === undefined ? {} : { token }) });
    try {
      if (call === 'handshake') await calls.handshake(HandshakeRequest.create({ zone, storeId: zone }), headers);
      else await this.begun(calls, call, headers);
      return ['OK', ''];
    } catch (error) {
      const { code, details } = error as ServiceError;
      return [status[code], details];
    } finally {
      calls.close();
    }
  }

  async close(): Promise<void> {
    this.zoneTokens.close();
    await this.plane.close();
  }

  /** Resolves when the global holds the stream, rejects when it ends. */
  private async begun(calls: GrpcZoneTransport, direction: 'down' | 'up', headers: Metadata): Promise<void> {
    const ended = new Promise<string>((resolve) =>
      calls.stream(direction, headers).listen({ message: () => undefined, drain: () => undefined, ended: resolve }),
    );
    const zone = String(headers.get('client-id')[0]);
    const held = this.plane.until(() => this.plane.names('Zone').includes(zone));
    const reason = await Promise.race([ended, held]);
    if (reason === undefined) return;
    const [, code = '', details = ''] = /^(\d+) \w+: (.*)$/.exec(reason) ?? [];
    throw Object.assign(new Error(reason), { code: Number(code), details });
  }
}

describe('a global that asks for zone tokens', () => {
  let global: TokenGlobal;
  const zones: TestZone[] = [];
  const join = async (name: string, token?: string | (() => string), at = global): Promise<TestZone> => {
    const value = typeof token === 'function' ? token : () => token;
    const zone = new TestZone(name, { token: shownToken(value) });
    zones.push(zone);
    await zone.join(at.plane);
    return zone;
  };
  const joined = (zone: TestZone): Promise<unknown> =>
    until(`${zone.zone} has a session`, () => zone.sync?.status().connected && zone.sync.status().complete.length > 0);
  const refused = (zone: TestZone, why: RegExp): Promise<unknown> =>
    until(
      `${zone.zone} is refused`,
      () => !zone.sync?.status().connected && why.test(zone.sync?.status().lastError ?? ''),
    );

  beforeEach(async () => {
    global = new TokenGlobal();
    await global.start();
  });
  afterEach(async () => {
    await Promise.all(zones.splice(0).map((zone) => zone.close()));
    await global.close();
  });

  it('lets a zone in by its token, and stores what it sends under the name in it', async () => {
    const east = await join('east', await global.token('east'));
    await east.holds(global.plane.id('Mesh', 'default'));
    await east.put('MeshService', 'redis', { ports: [{ port: 6379, appProtocol: 'tcp' }], state: 'Available' });
    const copy = await global.plane.holds(east.id('MeshService', 'redis'));
    expect([copy.id.zone, copy.labels['kuma.io/zone']]).toEqual(['east', 'east']);
  });

  it('admits zones by the keys that there are while other secrets of such names hold none, and says which', async () => {
    const { plane, zoneTokens } = global;
    const token = await global.token('east');
    const garbage = [2, 7, 999_999_999_999_999].map((serial) => signingKeyName(serial));
    for (const name of garbage) await putSecret(plane, name, 'no key');
    await putSecret(plane, REVOCATIONS, '\u0000,,, \n');
    await plane.holds(secretId(signingKeyName(7)));
    expect(zoneTokens.faults()).toEqual(garbage.map((name) => `${name}: it holds no key in PEM`).sort());
    const started = createZoneTokenService({
      store: plane.store,
      index: plane.index,
      registry: coreKinds,
      clock: systemClock,
      logger: silentLogger,
    });
    await started.tokens.ensureKey();
    expect(started.faults()).toHaveLength(3);
    started.close();
    expect(await global.answer('handshake', 'east', token)).toEqual(['OK', '']);
    // The secret with the highest serial holds no key: the lowest free serial is next.
    expect(await zoneTokens.tokens.rotate()).toBe(3);
    expect(await global.answer('handshake', 'west', await global.token('west'))).toEqual(['OK', '']);
  });

  it('makes a key that can be used where all that is stored is none', async () => {
    const empty = new TokenGlobal();
    await putSecret(empty.plane, signingKeyName(999_999_999_999_999), 'no key');
    await empty.plane.holds(secretId(signingKeyName(999_999_999_999_999)));
    await empty.zoneTokens.tokens.ensureKey();
    expect((await empty.zoneTokens.tokens.issue({ zone: 'east', validFor: '1h' })).token).not.toBe('');
    await empty.close();
  });

  describe.each(['handshake', 'down', 'up'] as const)('on %s', (call) => {
    it.each<[string, () => Promise<string | undefined>, string, RegExp]>([
      ['its token', () => global.token('east'), 'OK', /^$/],
      [
        'no token',
        () => Promise.resolve(undefined),
        'UNAUTHENTICATED',
        /^zone "east" has to show a zone token.*plain Kuma.*auth: none/,
      ],
      ['what is no token', () => Promise.resolve('secret'), 'UNAUTHENTICATED', /^the zone token cannot be read/],
      [
        "another zone's token",
        () => global.token('west'),
        'PERMISSION_DENIED',
        /is of zone "west", the caller is "east"$/,
      ],
      [
        'a token for a proxy',
        () => global.token('east', '1h', ['ingress']),
        'PERMISSION_DENIED',
        /^the zone token has not the scope "cp", only \["ingress"\]$/,
      ],
      [
        'a revoked token',
        async () => {
          const { id, token } = await global.zoneTokens.tokens.issue({ zone: 'east', validFor: '1h' });
          await global.zoneTokens.tokens.revoke(id);
          return token;
        },
        'UNAUTHENTICATED',
        /^the zone token [-0-9a-f]+ is revoked$/,
      ],
      [
        "another global's token",
        async () => {
          const other = new TokenGlobal();
          await other.start(generateSigningKey());
          const token = await other.token('east');
          await other.close();
          return token;
        },
        'UNAUTHENTICATED',
        /^the signature of the zone token does not fit its signing key$/,
      ],
    ])('answers a zone that shows %s', async (_, make, code, detail) => {
      const [answered, details] = await global.answer(call, 'east', await make());
      expect(answered).toBe(code);
      expect(details).toMatch(detail);
      if (code !== 'OK') expect(global.plane.names('Zone')).toEqual([]);
    });
  });

  it('sends a zone away when its token expires, and takes it back with a new one', async () => {
    const clock = new FakeClock(Date.now());
    const timed = new TokenGlobal(clock);
    await timed.start();
    let token = await timed.token('east', '10s');
    const east = await join('east', () => token, timed);
    const west = await join('west', await timed.token('west'), timed);
    await Promise.all([joined(east), joined(west)]);
    const session = west.sync?.status().session;
    clock.advance(11_000);
    await refused(east, /UNAUTHENTICATED: the zone token [-0-9a-f]+ expired at /);
    token = await timed.token('east');
    await joined(east);
    expect(west.sync?.status().session).toBe(session);
    await Promise.all([east.close(), west.close()]);
    await timed.close();
  });

  it('sends a zone away when its token is revoked, on whichever replica, and nobody else', async () => {
    const replica = new TokenGlobal(systemClock, global.plane.disk);
    await replica.plane.serve();
    const { id, token } = await global.zoneTokens.tokens.issue({ zone: 'east', validFor: '1h' });
    const [east, west] = [await join('east', token), await join('west', await global.token('west'))];
    await Promise.all([joined(east), joined(west)]);
    const session = west.sync?.status().session;
    await replica.zoneTokens.tokens.revoke(id);
    await refused(east, new RegExp(`UNAUTHENTICATED: the zone token ${id} is revoked`));
    expect(west.sync?.status()).toMatchObject({ connected: true, session });
    await replica.close();
  });

  it('signs with a new key at once, takes tokens of all keys, and none of a deleted one', async () => {
    const east = await join('east', await global.token('east'));
    expect(await global.zoneTokens.tokens.rotate()).toBe(2);
    const west = await join('west', await global.token('west'));
    await Promise.all([joined(east), joined(west)]);
    await global.plane.delete('GlobalSecret', signingKeyName(1));
    await refused(east, /UNAUTHENTICATED: there is no signing key with kid "1"/);
    expect(west.sync?.status().connected).toBe(true);
  });

  it('warns who deletes a signing key, and names the zones that came by its tokens', async () => {
    const warnings = (name: string): readonly string[] => global.zoneTokens.deletionWarnings(secretId(name));
    expect(warnings(signingKeyName(1))).toEqual(['zone tokens signed with key 1 are valid no longer without it']);
    await Promise.all([
      joined(await join('west', await global.token('west'))),
      joined(await join('east', await global.token('east'))),
    ]);
    expect(warnings(signingKeyName(1))).toEqual([
      'zone tokens signed with key 1 are valid no longer without it; sent away until they have another: east, west',
    ]);
    await global.zoneTokens.tokens.rotate();
    expect(warnings(signingKeyName(2))).toEqual(['zone tokens signed with key 2 are valid no longer without it']);
    expect(warnings('another-secret')).toEqual([]);
  });

  it("takes an operator's own key with a higher serial", async () => {
    await putSecret(global.plane, signingKeyName(7), await generateSigningKey());
    await global.plane.holds(secretId(signingKeyName(7)));
    const token = await global.token('east');
    expect(JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString())).toMatchObject({ kid: '7' });
    await joined(await join('east', token));
    expect(await global.zoneTokens.tokens.rotate()).toBe(8);
  });

  it('goes on with the keys that can be read when one cannot', async () => {
    await putSecret(global.plane, signingKeyName(2), 'no key');
    await global.plane.holds(secretId(signingKeyName(2)));
    await joined(await join('east', await global.token('east')));
  });

  it('lets a zone without a token in as long as the operator says so', async () => {
    await global.plane.put('Zone', 'east', { auth: 'none' });
    const east = await join('east');
    await joined(east);
    await global.plane.put('Zone', 'east', {});
    await refused(east, /UNAUTHENTICATED: zone "east" has to show a zone token/);
    expect(await global.answer('handshake', 'west')).toEqual(['UNAUTHENTICATED', expect.stringContaining('"west"')]);
  });

  it('makes one first key, however many replicas start', async () => {
    const disk = new MemoryDisk();
    const replicas = [1, 2, 3].map(() => new TokenGlobal(systemClock, disk));
    await Promise.all(replicas.map(({ zoneTokens }) => zoneTokens.tokens.ensureKey()));
    const [first, second, third] = replicas;
    expect(first?.plane.names('GlobalSecret')).toEqual([signingKeyName(1)]);
    await second?.plane.serve();
    const token = await third?.token('east');
    expect(await second?.answer('handshake', 'east', token)).toEqual(['OK', '']);
    expect(secretText(await (first ?? global).plane.holds(secretId(signingKeyName(1))))).toMatch(
      /^-----BEGIN RSA PRIVATE KEY-----/,
    );
    await Promise.all(replicas.map((replica) => replica.close()));
  });

  it('gives a deleted serial to no other key', async () => {
    await global.plane.delete('GlobalSecret', signingKeyName(1));
    await global.plane.lacks(secretId(signingKeyName(1)));
    await expect(global.token('east')).rejects.toThrow(/there is no signing key of zone tokens/);
    expect(await global.zoneTokens.tokens.rotate()).toBe(2);
    expect(await global.answer('handshake', 'east', await global.token('east'))).toEqual(['OK', '']);
  });

  it('keeps every revocation when several come at once', async () => {
    const ids = ['a', 'b', 'c', 'd', 'e'].map((letter) => `6f1b2c0e-0000-4000-8000-00000000000${letter}`);
    await Promise.all(ids.map((id) => global.zoneTokens.tokens.revoke(id)));
    await global.zoneTokens.tokens.revoke(ids[0] ?? '');
    const list = secretText(await global.plane.holds(secretId(REVOCATIONS)));
    expect(list.split(',').sort()).toEqual(ids);
  });

  it('revokes nothing but what can be the id of a token', async () => {
    for (const id of ['bad', '', 'a,b', 'e30.e30.c2ln']) {
      const violation = { field: 'id', reason: `must be the id (jti) of a zone token, a UUID; got "${id}"` };
      await expect(global.zoneTokens.tokens.revoke(id)).rejects.toMatchObject({ violations: [violation] });
    }
    expect(global.plane.names('GlobalSecret')).not.toContain(REVOCATIONS);
  });

  it.each([
    [{ zone: 'East', validFor: '1h' }, ['zone']],
    [{ zone: 'a'.repeat(64), validFor: '1h' }, ['zone']],
    [{ zone: 'east', validFor: '30 days' }, ['validFor']],
    [{ zone: 'east', validFor: '0s' }, ['validFor']],
    [{ zone: 'east', validFor: '90000h' }, ['validFor']],
    [{ zone: 'east', validFor: '1h', scope: [] }, ['scope']],
    [{ zone: '', validFor: '', scope: ['cp', 'cpp'] }, ['zone', 'scope[1]', 'validFor']],
  ])('issues nothing for %j', async (request, fields) => {
    await expect(global.zoneTokens.tokens.issue(request)).rejects.toMatchObject({
      violations: fields.map((field) => expect.objectContaining({ field })),
    });
  });

  it.each(['1h', '1h30m', '720h', '87600h', '90s'])('issues for %s', async (validFor) => {
    expect(await global.answer('handshake', 'east', await global.token('east', validFor))).toEqual(['OK', '']);
  });
});
