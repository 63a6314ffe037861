import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatJoinBundle } from '@causeway/identity';
import { silentLogger } from '@causeway/runtime';
import { KnownZone } from '../machine/zone-facts';
import { ZoneClientAccess } from './zone-access';

describe('how an agent reaches its zone', () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'causeway-access-'));
    file = join(folder, 'bundle');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const place = { controlPlanes: ['10.0.0.1:5678'], zone: 'east', authority: 'PEM' };
  const bundle = (token: string): void => writeFileSync(file, formatJoinBundle({ ...place, mesh: 'default', token }));
  const access = (fields: object = { bundle: file }): ZoneClientAccess =>
    new ZoneClientAccess(fields, folder, silentLogger);

  it('is read again each time, and as it was where it cannot be read', () => {
    bundle('one');
    const reached = access();
    const known = { addresses: ['10.0.0.1:5678'], zone: 'east', authority: 'PEM' };
    expect(reached.current()).toEqual({ ...known, token: 'one' });
    bundle('two');
    expect(reached.current()).toEqual({ ...known, token: 'two' });
    rmSync(file);
    expect([reached.current(), reached.problem]).toEqual([
      { ...known, token: 'two' },
      `bundle: there is no file ${file}`,
    ]);
    bundle('three');
    expect([reached.current().token, reached.problem]).toEqual(['three', undefined]);
  });

  it('has the token of a file where a Dataplane names one; one that is wrong is logged once and stays as it was', () => {
    bundle('one');
    const own = join(folder, 'own');
    const logged: unknown[] = [];
    const logger = { ...silentLogger, warn: (_: string, fields: object = {}) => void logged.push(fields) };
    const reached = new ZoneClientAccess({ bundle: file }, folder, logger);
    expect([reached.token(undefined), reached.token(own)]).toEqual(['one', undefined]);
    writeFileSync(own, 'two\n');
    expect(reached.token(own)).toBe('two');
    for (const wrong of [' \n', 'two three', 'two\nthree']) {
      writeFileSync(own, wrong);
      reached.readTokens([own]);
      expect(reached.token(own)).toBe('two');
    }
    writeFileSync(own, 'three');
    expect(reached.token(own)).toBe('three');
    expect(logged).toEqual([
      { reason: `tokenFile: there is no file ${own}` },
      { reason: `tokenFile: ${own} is empty` },
      { reason: `tokenFile: ${own} must hold one token and nothing else` },
    ]);
  });

  it('is kept over a restart without the token, for the same configuration only, beside what the zone tells', async () => {
    bundle('secret');
    const zone = await KnownZone.open(folder);
    access().current();
    const facts = { virtualRanges: ['244.7.0.0/16'], dnsSuffixes: ['mesh.local'] };
    await zone.update(facts);
    expect((await KnownZone.open(folder)).facts).toEqual(facts);
    const kept = join(folder, 'control-planes.json');
    expect(readFileSync(kept, 'utf8')).not.toContain('secret');
    expect(statSync(kept).mode & 0o777).toBe(0o600);
    rmSync(file);
    expect(access().current()).toEqual({ addresses: ['10.0.0.1:5678'], zone: 'east', authority: 'PEM' });
    expect(access({ bundle: `${file}-2` }).current()).toEqual({ addresses: [] });
    writeFileSync(kept, '{"source": ');
    expect(access().current()).toEqual({ addresses: [] });
  });

  it('needs what the configuration names, and says which field names it', () => {
    const [tokenFile, authorityFile] = [join(folder, 'token'), join(folder, 'ca')];
    const reached = access({ controlPlanes: ['a:1'], tokenFile, authorityFile });
    expect([reached.current(), reached.problem]).toEqual([
      { addresses: [] },
      `tokenFile: there is no file ${tokenFile}`,
    ]);
    writeFileSync(tokenFile, ' t \n');
    expect([reached.current(), reached.problem]).toEqual([
      { addresses: [] },
      `authorityFile: there is no file ${authorityFile}`,
    ]);
    writeFileSync(authorityFile, 'CA');
    expect(reached.current()).toEqual({ addresses: ['a:1'], token: 't', authority: 'CA' });
    writeFileSync(file, 'causeway-join-1.e');
    const damaged = access();
    expect([damaged.current(), damaged.problem]).toEqual([
      { addresses: [] },
      `bundle: ${file} is damaged: copy the whole line`,
    ]);
    expect([access({ bundle: folder }).current().addresses, access({ controlPlanes: ['a:1'] }).current()]).toEqual([
      [],
      { addresses: ['a:1'] },
    ]);
  });
});
