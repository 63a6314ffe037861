import { Invalid } from '@causeway/resources';
import type { ZoneAccess } from '@causeway/queries';
import { restFixture, type RestFixture } from '../rest/rest-fixture';
import { runCauseway, type Ran } from './run-causeway';

const token = `e30.${Buffer.from('{"jti":"id-1"}').toString('base64url')}.c2ln`;

describe('causeway tokens', () => {
  const revoked: string[] = [];
  const zoneAccess: ZoneAccess = {
    issue: async ({ zone, validFor, scope = ['cp'] }) => {
      if (validFor === 'soon')
        throw new Invalid([{ field: 'validFor', reason: 'must be a duration such as 720h', rule: 'invalid' }]);
      return { token, id: 'id-1', zone, scope, expiresAt: '2030-01-01T00:00:00.000Z' };
    },
    revoke: async (id) => {
      if (id === 'bad')
        throw new Invalid([{ field: 'id', reason: 'must be the id (jti) of a zone token', rule: 'invalid' }]);
      revoked.push(id);
    },
    list: async () => [],
    rotate: async () => 2,
    authority: () => '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
  };
  let fixture: RestFixture;
  let server: string;

  beforeAll(async () => {
    fixture = await restFixture({ cp: { role: 'global' }, zoneAccess });
    server = `http://127.0.0.1:${await fixture.server.listen('127.0.0.1', 0)}`;
  });
  afterAll(() => fixture.close());

  const tokens = (...args: readonly string[]): Promise<Ran> => runCauseway(server, ['tokens', ...args]);

  it('zone writes the bare token to standard output, fit for a file', async () => {
    expect(await tokens('zone', 'east', '--valid-for', '720h')).toEqual({
      ...{ code: 0, out: `${token}\n` },
      err: 'token id-1 of zone east, valid until 2030-01-01T00:00:00.000Z\n',
    });
  });

  it('zone says all as JSON', async () => {
    const { out } = await tokens('zone', 'east', '--valid-for', '1h', '--scope', 'cp', 'egress', '-o', 'json');
    expect(JSON.parse(out)).toMatchObject({ zone: 'east', scope: ['cp', 'egress'], id: 'id-1', token });
  });

  it("zone shows what the server has against it, and asks for the token's life", async () => {
    expect(await tokens('zone', 'east', '--valid-for', 'soon')).toMatchObject({
      ...{ code: 1, out: '' },
      err: expect.stringContaining('  validFor: must be a duration such as 720h\n'),
    });
    expect(await tokens('zone', 'east')).toMatchObject({ code: 2, out: '' });
  });

  it('revoke takes the id or the token', async () => {
    expect((await tokens('revoke', 'id-7')).out).toBe('zone token id-7 revoked\n');
    expect((await tokens('revoke', token)).out).toBe('zone token id-1 revoked\n');
    expect(await tokens('revoke', 'a.b.c')).toMatchObject({ code: 2, out: '' });
    expect(revoked).toEqual(['id-7', 'id-1']);
    expect(await tokens('revoke', 'bad')).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('id: must be'),
    });
  });

  it('rotate says with which key tokens are signed now', async () => {
    expect((await tokens('rotate')).out).toBe(
      'new zone tokens are signed with key 2; those of older keys stay valid\n',
    );
  });

  it('ca writes the certificate to standard output and its fingerprint beside it', async () => {
    const { out, err } = await tokens('ca');
    expect(out).toBe(zoneAccess.authority());
    expect(err).toMatch(/^SHA-256 ([0-9A-F]{2}:){31}[0-9A-F]{2}\n$/);
  });
});
