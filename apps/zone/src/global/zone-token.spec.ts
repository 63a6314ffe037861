import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CredentialsMissing } from '@causeway/kds';
import { silentLogger, type LogFields } from '@causeway/runtime';
import { unsignedToken } from '../../../../test/support/zone-token';
import { ZoneToken } from './zone-token';

const [ISSUED, ENDS] = [1_999_000_000, 2_000_000_000];
const makeToken = (jti: string): string => unsignedToken({ Zone: 'east', jti, iat: ISSUED, exp: ENDS });
const [A, B, C] = ['a', 'b', 'c'].map(makeToken) as [string, string, string];

describe('the zone token', () => {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-zone-token-'));
  const file = join(folder, 'east.token');
  const logged: (readonly [string, LogFields])[] = [];
  const log = (message: string, fields: LogFields = {}): void => void logged.push([message, fields]);
  const logger = { ...silentLogger, info: log, warn: log, error: log };
  let received = 0;

  beforeEach(() => {
    logged.length = 0;
    received = 0;
    rmSync(file, { force: true });
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const opened = (settings: { readonly CAUSEWAY_ZONE_TOKEN?: string; readonly CAUSEWAY_ZONE_TOKEN_FILE?: string }) => {
    const { CAUSEWAY_ZONE_TOKEN, CAUSEWAY_ZONE_TOKEN_FILE } = settings;
    const token = new ZoneToken({ CAUSEWAY_ZONE_NAME: 'east', CAUSEWAY_ZONE_TOKEN, CAUSEWAY_ZONE_TOKEN_FILE }, logger);
    token.onChange(() => (received += 1));
    return token;
  };
  const ofFile = (): ZoneToken => opened({ CAUSEWAY_ZONE_TOKEN_FILE: file });

  it('is none where nothing is given, and is waited for where its file is not there', () => {
    expect(opened({}).current()).toBeUndefined();
    const token = ofFile();
    expect(() => token.current()).toThrow(CredentialsMissing);
    writeFileSync(file, `${A}\n`);
    token.checkFile();
    const validity = { start: ISSUED * 1_000, end: ENDS * 1_000 };
    expect([token.current(), token.validity, received, logged]).toEqual([A, validity, 0, []]);
  });

  it('is replaced by a new content of its file, which is announced once', () => {
    writeFileSync(file, A);
    const token = ofFile();
    expect(token.current()).toBe(A);
    writeFileSync(file, `  ${B}\n`);
    token.checkFile();
    token.checkFile();
    expect([token.current(), received]).toEqual([B, 1]);
    const expiresAt = new Date(ENDS * 1_000).toISOString();
    expect(logged).toEqual([['the zone token was replaced', { id: 'b', formerId: 'a', expiresAt }]]);
  });

  it('of which no end is known is replaced without one', () => {
    const token = opened({ CAUSEWAY_ZONE_TOKEN: A });
    token.replace(unsignedToken({ Zone: 'east', jti: 'lasting' }));
    expect([token.validity, logged]).toEqual([
      undefined,
      [['the zone token was replaced', { id: 'lasting', formerId: 'a' }]],
    ]);
  });

  it.each<[string, () => void, RegExp]>([
    ['is gone', () => rmSync(file), /ENOENT/],
    ['is empty', () => writeFileSync(file, '\n'), /must not be empty/],
    ['has no JWT', () => writeFileSync(file, 'east'), /must be a zone token: a JWT with the claim "Zone"/],
    ['has two tokens', () => writeFileSync(file, `${A}\n${B}`), /must be a zone token/],
    ['has a user token', () => writeFileSync(file, unsignedToken({ Name: 'anna' })), /must be a zone token/],
    [
      "has another zone's token",
      () => writeFileSync(file, unsignedToken({ Zone: 'west' })),
      /must be a token of zone "east"; got one of zone "west"/,
    ],
    ['is too large', () => writeFileSync(file, 'x'.repeat(70_000)), /larger than 64 KiB/],
  ])('stays where its file %s, which is logged once', (_, spoil, reason) => {
    writeFileSync(file, A);
    const token = ofFile();
    token.current();
    spoil();
    token.checkFile();
    token.checkFile();
    expect([token.current(), received]).toEqual([A, 0]);
    const said = expect.stringMatching(reason);
    expect(logged).toEqual([['the zone token stays as it was', { reason: said }]]);
    expect(token.fault).toMatch(/^CAUSEWAY_ZONE_TOKEN_FILE: /);
    writeFileSync(file, A);
    token.checkFile();
    expect(token.fault).toBeUndefined();
  });

  it('is replaced by a new value of its setting, and stays where that is taken away', () => {
    const token = opened({ CAUSEWAY_ZONE_TOKEN: A });
    token.replace(B);
    token.replace(undefined);
    expect([token.current(), received]).toEqual([B, 1]);
    expect(logged.map(([message]) => message)).toEqual([
      'the zone token was replaced',
      expect.stringContaining('was taken away: the former one is shown until the next start'),
    ]);
  });

  describe('that the store keeps', () => {
    const [early, late, later] = [1, 2, 3].map((at) =>
      unsignedToken({ Zone: 'east', jti: `t${at}`, iat: ISSUED + at, exp: ENDS + at }),
    ) as [string, string, string];
    const RECEIVED = 5_000;
    const keeps = (text: string): ZoneToken => {
      writeFileSync(file, early);
      const token = ofFile();
      token.current();
      token.keep({ token: text, receivedAt: RECEIVED });
      return token;
    };

    it('is shown in place of an earlier one of the file, from when it was received', async () => {
      const token = keeps(late);
      expect([token.current(), received]).toEqual([late, 1]);
      expect(logged).toEqual([['the zone token was replaced', expect.objectContaining({ id: 't2', formerId: 't1' })]]);
      expect(token.life).toMatchObject({
        id: 't2',
        from: RECEIVED,
        validity: (ENDS - ISSUED) * 1_000,
        isRenewable: true,
      });
      token.useKept({ read: () => Promise.resolve({ token: late, receivedAt: RECEIVED }) });
      await token.refresh();
      expect(received).toBe(1);
    });

    it.each([
      ['later', later, later, 'the zone token was replaced'],
      ['earlier', A, late, 'the zone token of the settings was not issued after the renewed one, which is shown'],
    ])('gives way to a token of the file that was issued %s', (_, written, shown, message) => {
      const token = keeps(late);
      writeFileSync(file, written);
      token.checkFile();
      token.checkFile();
      expect(token.current()).toBe(shown);
      expect(logged.slice(1).map(([text]) => text)).toEqual([message]);
    });

    it('is left for that of the file where the global refuses it, and tried again after that', () => {
      const token = keeps(late);
      token.refused(late, 'revoked');
      expect(token.current()).toBe(early);
      token.refused(early, 'expired');
      expect(token.current()).toBe(late);
    });

    it('is no token of another zone, and none that cannot be read', async () => {
      const token = keeps(unsignedToken({ Zone: 'west', iat: ENDS }));
      token.useKept({ read: () => Promise.reject(new Error('away')) });
      await token.refresh();
      expect([token.current(), received]).toEqual([early, 0]);
    });
  });

  it('is the former one while the global refuses the new one, until it refuses both or there is another', () => {
    writeFileSync(file, A);
    const token = ofFile();
    token.accepted(token.current());
    writeFileSync(file, B);
    token.checkFile();
    expect(token.current()).toBe(B);
    token.refused(B, 'revoked');
    expect([token.current(), logged.at(-1)]).toEqual([
      A,
      ['the global refuses the new zone token: the former one is shown', { reason: 'revoked' }],
    ]);
    token.accepted(A);
    expect(token.current()).toBe(A);
    token.refused(A, 'expired');
    expect(token.current()).toBe(B);
    token.refused(B, 'revoked');
    expect(token.current()).toBe(B);
    writeFileSync(file, C);
    expect(token.current()).toBe(C);
  });
});
