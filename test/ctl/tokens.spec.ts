import { Invalid } from '@causeway/resources';
import type { ListedToken } from '@causeway/access';
import type { ZoneAccess } from '@causeway/queries';
import type { UserAccess } from '@causeway/queries/testing';
import { restFixture, ZONE_EAST, type RestFixture } from '../rest/rest-fixture';
import { runCauseway, type Ran } from './run-causeway';

const token = `e30.${Buffer.from('{"jti":"id-1","Zone":"east"}').toString('base64url')}.c2ln`;

const DAY = 24 * 3_600_000;

/** A token that was issued so many days ago and ends in so many. */
function listedToken(id: string, facts: ListedToken['facts'], days: readonly [number, number]): ListedToken {
  const [issuedAt, expiresAt] = [Date.now() - days[0] * DAY, Date.now() + days[1] * DAY];
  return { id, facts, issuedAt, expiresAt, issuedBy: 'operator', revoked: false };
}

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
      return id === 'unseen' ? [`no zone token with id ${id} is on record`] : [];
    },
    list: async () => [listedToken('id-7', { zone: 'east', scope: ['cp'] }, [1, 29.5])],
    rotate: async () => 2,
    authority: () => '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
  };
  const userAccess: UserAccess = {
    issue: async ({ name, groups = [] }) => ({
      token,
      id: 'id-1',
      name,
      groups,
      expiresAt: '2030-01-01T00:00:00.000Z',
    }),
    revoke: async (id) => {
      revoked.push(`user ${id}`);
      return [];
    },
    list: async () => [
      listedToken('u-1', { name: 'over', groups: [] }, [31, -1.5]),
      listedToken('u-2', { name: 'near', groups: ['a', 'b'] }, [300, 6.5]),
      { ...listedToken('u-3', { name: 'gone', groups: [] }, [1, 8.5]), revoked: true },
      listedToken('u-4', { name: 'long', groups: [] }, [300, 8.5]),
    ],
    rotate: async () => 3,
  };
  let fixture: RestFixture;
  let server: string;

  beforeAll(async () => {
    fixture = await restFixture({ cp: { role: 'global' }, zoneAccess, userAccess });
    server = `http://127.0.0.1:${await fixture.server.listen('127.0.0.1', 0)}`;
  });
  afterAll(() => fixture.close());

  const tokens = (...args: readonly string[]): Promise<Ran> => runCauseway(server, ['tokens', ...args]);

  it('zone writes the bare token to standard output, fit for a file', async () => {
    expect(await tokens('zone', 'east', '--valid-for', '720h')).toEqual({
      code: 0,
      out: `${token}\n`,
      err: 'token id-1 of zone east, valid until 2030-01-01T00:00:00.000Z\n',
    });
  });

  it('zone says all as JSON', async () => {
    const { out } = await tokens('zone', 'east', '--valid-for', '1h', '--scope', 'cp', 'egress', '-o', 'json');
    expect(JSON.parse(out)).toMatchObject({ zone: 'east', scope: ['cp', 'egress'], id: 'id-1', token });
  });

  it('zone shows what the server has against it', async () => {
    expect(await tokens('zone', 'east', '--valid-for', 'soon')).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('  validFor: must be a duration such as 720h, 1h30m or 30d; got "soon"\n'),
    });
  });

  it('zone at a zone of a global names the command for the global', async () => {
    const zone = await restFixture({ cp: ZONE_EAST });
    const at = `http://127.0.0.1:${await zone.server.listen('127.0.0.1', 0)}`;
    const command = 'causeway --context global tokens zone east --scope egress > FILE';
    expect(await runCauseway(at, ['tokens', 'zone', 'east', '--scope', 'egress'])).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining(command) as string,
    });
    expect(await runCauseway(at, ['tokens', 'list', '--zones'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('causeway --context global') as string,
    });
    await zone.close();
  });

  it('user takes groups one by one or with commas', async () => {
    expect(await tokens('user', 'anna', '--group', 'a', '--group', 'b,c')).toEqual({
      code: 0,
      out: `${token}\n`,
      err: 'token id-1 of user anna (a, b, c), valid until 2030-01-01T00:00:00.000Z\n',
    });
  });

  it('list marks what ends soon, has ended or was revoked, the first to end first', async () => {
    const { out } = await tokens('list');
    const rows = out.trimEnd().split('\n').slice(1);
    expect(rows.map((row) => row.split(/ {2,}/))).toEqual([
      ['user', 'over', 'u-1', 'operator', 'expired 36h ago', 'expired'],
      ['user', 'near', 'a, b', 'u-2', 'operator', 'in 6d', 'expires soon'],
      ['user', 'gone', 'u-3', 'operator', 'in 8d', 'revoked'],
      ['user', 'long', 'u-4', 'operator', 'in 8d', 'valid'],
      ['zone', 'east', 'cp', 'id-7', 'operator', 'in 29d', 'valid'],
    ]);
    expect(JSON.parse((await tokens('list', '--zones', '-o', 'json')).out)).toMatchObject({
      items: [{ type: 'zone', zone: 'east', id: 'id-7' }],
    });
  });

  it('revoke takes an id of either sort, or the token', async () => {
    const user = `e30.${Buffer.from('{"jti":"id-2","Name":"anna"}').toString('base64url')}.c2ln`;
    revoked.length = 0;
    expect((await tokens('revoke', 'id-7')).out).toBe('zone token id-7 revoked\n');
    expect((await tokens('revoke', token)).out).toBe('zone token id-1 revoked\n');
    expect((await tokens('revoke', 'u-2')).out).toBe('user token u-2 revoked\n');
    expect((await tokens('revoke', user)).out).toBe('user token id-2 revoked\n');
    expect((await tokens('revoke', 'u-9', '--users')).out).toBe('user token u-9 revoked\n');
    expect(await tokens('revoke', 'unseen', '--zones')).toMatchObject({
      code: 0,
      out: 'zone token unseen revoked\n',
      err: '  warning: no zone token with id unseen is on record\n',
    });
    expect(revoked).toEqual(['id-7', 'id-1', 'user u-2', 'user id-2', 'user u-9', 'unseen']);
  });

  it('revoke says what is no token, and what the server has against an id', async () => {
    expect(await tokens('revoke', 'a.b.c')).toMatchObject({ code: 2, out: '' });
    expect(await tokens('revoke', 'u-9')).toMatchObject({ code: 2, out: '', err: expect.stringContaining('"u-9"') });
    expect(await tokens('revoke', 'bad', '--zones')).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('id: must be'),
    });
  });

  it('rotate says with which key tokens are signed now', async () => {
    expect((await tokens('rotate')).out).toBe(
      'new zone tokens are signed with key 2; those of older keys stay valid\n',
    );
    expect((await tokens('rotate', '--users')).out).toContain('new user tokens are signed with key 3');
  });

  it('ca writes the certificate to standard output and its fingerprint beside it', async () => {
    const { out, err } = await tokens('ca');
    expect(out).toBe(zoneAccess.authority());
    expect(err).toMatch(/^SHA-256 ([0-9A-F]{2}:){31}[0-9A-F]{2}\n$/);
  });
});
