import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { meshId, restFixture, serviceId, type RestFixture } from '../rest/rest-fixture';
import { runCauseway, type Ran, type RunEnvironment } from './run-causeway';

const PORTS = { selector: { dataplaneTags: { app: 'redis' } }, ports: [{ port: 6379 }] };

describe('causeway delete, label, wait and edit', () => {
  let fixture: RestFixture;
  let server: string;
  let folder: string;

  beforeAll(async () => {
    fixture = await restFixture();
    server = `http://127.0.0.1:${await fixture.server.listen('127.0.0.1', 0)}`;
    folder = mkdtempSync(join(tmpdir(), 'causeway-ctl-'));
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true });
    await fixture.close();
  });

  const causeway = (args: readonly string[], stdin = '', env: RunEnvironment = {}): Promise<Ran> =>
    runCauseway(server, args, stdin, env);
  const seed = (name: string, labels: Record<string, string> = {}, status = {}): Promise<void> =>
    fixture.seed({ id: serviceId(name), labels, spec: PORTS, status });
  const labelsOf = (name: string): object | undefined => fixture.index.get(serviceId(name))?.labels;

  /** An editor that runs a shell script on the file `$1`. */
  function editor(name: string, script: string): RunEnvironment {
    const path = join(folder, name);
    writeFileSync(path, `#!/bin/sh\n${script}\n`);
    chmodSync(path, 0o755);
    return { EDITOR: path, VISUAL: '' };
  }

  describe('delete', () => {
    it('takes KIND/NAME, files (the last first), and labels', async () => {
      for (const name of ['a', 'b', 'c', 'd']) await seed(name, { team: 'gone' });
      expect(await causeway(['delete', 'msvc/a'])).toEqual({ code: 0, out: 'MeshService a deleted\n', err: '' });
      const document = (name: string): string => `type: MeshService\nmesh: default\nname: ${name}\nspec: {}\n`;
      const files = await causeway(['delete', '-f', '-'], `${document('b')}---\n${document('c')}`);
      expect(files.out).toBe('MeshService c deleted\nMeshService b deleted\n');
      expect((await causeway(['delete', 'msvc', '-l', 'team=gone'])).out).toBe('MeshService d deleted\n');
      expect(await causeway(['delete', 'msvc', '-l', 'team=gone'])).toEqual({
        code: 0,
        out: '',
        err: 'nothing matches: nothing was deleted\n',
      });
    });

    it('by labels, names copies of other zones and leaves them alone, and what has their name', async () => {
      const labels = { team: 'copied' };
      await seed('mine', labels);
      await seed('both');
      for (const [name, zone] of [
        ['both', 'west'],
        ['theirs', 'west'],
        ['above', ''],
      ] as const)
        await fixture.seed({ id: serviceId(name, zone), labels, spec: PORTS, status: {} });
      const copies = [
        'MeshService above is a copy, made on the global: skipped; it is changed there\n',
        'MeshService both is a copy, made on zone west: skipped; it is changed there\n',
        'MeshService theirs is a copy, made on zone west: skipped; it is changed there\n',
      ];
      const labelled = await causeway(['label', 'msvc', '-l', 'team=copied', 'tier=x']);
      expect([labelled.code, labelled.out]).toEqual([0, 'MeshService mine labelled\n']);
      const { code, out, err } = await causeway(['delete', 'msvc', '-l', 'team=copied']);
      expect([code, out, err.split(/(?<=\n)/).sort()]).toEqual([0, 'MeshService mine deleted\n', copies]);
      expect(labelsOf('both')).toBeDefined();
      expect(fixture.index.get(serviceId('both', 'west'))).toBeDefined();
    });

    it('deletes nothing in a dry run, and takes what is not there as deleted if asked', async () => {
      await seed('stays');
      expect((await causeway(['delete', '--dry-run', 'msvc', 'stays'])).out).toBe(
        'MeshService stays deleted (dry run)\n',
      );
      expect(labelsOf('stays')).toBeDefined();
      expect((await causeway(['delete', '--ignore-not-found', 'msvc', 'nope'])).code).toBe(0);
      expect((await causeway(['delete', 'msvc', 'nope'])).code).toBe(1);
    });

    it.each([
      ['nothing named', ['delete'], /in one way/],
      ['a kind alone', ['delete', 'msvc'], /in one way/],
      ['names and labels', ['delete', 'msvc', 'a', '-l', 'x=y'], /in one way/],
      ['a document without a name', ['delete', '-f', '-'], /^-:1: the document names no known type/],
    ])('refuses %s', async (_, args, message) => {
      const { code, out, err } = await causeway(args, 'type: MeshService\n');
      expect([code, out, err]).toEqual([2, '', expect.stringMatching(message)]);
    });
  });

  describe('delete of a Mesh', () => {
    let zone: RestFixture;
    let alone: string;
    beforeAll(async () => {
      zone = await restFixture({ cp: { role: 'zone', zone: 'east', federated: false } });
      alone = `http://127.0.0.1:${await zone.server.listen('127.0.0.1', 0)}`;
      const documents = [
        { type: 'Mesh', name: 'm' },
        { type: 'MeshService', mesh: 'm', name: 'redis', spec: PORTS },
      ];
      const { code } = await runCauseway(alone, ['apply', '-f', '-'], JSON.stringify(documents));
      expect(code).toBe(0);
    });
    afterAll(() => zone.close());

    it('T003-27 T003-28 says who its members are, and with --terminate lets no more come', async () => {
      const causewayThere = (...args: readonly string[]): Promise<Ran> => runCauseway(alone, args);
      const inUse =
        'Mesh m: Conflict: objects belong to this mesh exists, please delete them to proceed. MeshService: 1';
      const refused = { code: 1, out: '', err: `${inUse}\n` };
      const ending = `${inUse}; the mesh is being terminated and takes no new members\n`;
      const labels = (): object | undefined => zone.index.get(meshId('m'))?.labels;
      expect(await causewayThere('delete', 'mesh', 'm')).toEqual(refused);
      expect(await causewayThere('delete', 'mesh', 'm', '--terminate', '--dry-run')).toEqual(refused);
      expect(labels()).not.toHaveProperty('causeway.io/terminating');
      expect(await causewayThere('delete', 'mesh', 'm', '--terminate')).toEqual({ ...refused, err: ending });
      expect(labels()).toMatchObject({ 'causeway.io/terminating': 'true' });
      await causewayThere('label', 'mesh/m', 'causeway.io/terminating-');
      expect(labels()).not.toHaveProperty('causeway.io/terminating');
      await causewayThere('delete', 'msvc/redis', '--mesh', 'm');
      const deleted = { code: 0, out: 'Mesh m deleted\n', err: '' };
      expect(await causewayThere('delete', 'mesh', 'm', '--terminate')).toEqual(deleted);
    });
  });

  describe('label', () => {
    it('sets and removes labels, and changes a value only with --overwrite', async () => {
      await seed('redis', { team: 'db' });
      expect(await causeway(['label', 'msvc/redis', 'tier=cache', 'team-'])).toEqual({
        code: 0,
        err: '',
        out: 'MeshService redis labelled\n',
      });
      expect(labelsOf('redis')).toMatchObject({ tier: 'cache' });
      expect(labelsOf('redis')).not.toHaveProperty('team');
      const refused = await causeway(['label', 'msvc', 'redis', 'tier=web']);
      expect(refused).toEqual({
        code: 1,
        out: '',
        err: 'MeshService redis: has tier=cache already; --overwrite changes it\n',
      });
      expect((await causeway(['label', 'msvc', 'redis', 'tier=web', '--overwrite', '--dry-run'])).code).toBe(0);
      expect(labelsOf('redis')).toMatchObject({ tier: 'cache' });
      await causeway(['label', 'msvc', '-l', 'tier=cache', 'tier=web', '--overwrite']);
      expect(labelsOf('redis')).toMatchObject({ tier: 'web' });
      expect((await causeway(['label', 'msvc', 'redis', 'tier=web'])).out).toBe('MeshService redis unchanged\n');
    });

    it('says what is wrong with a label, and asks for one', async () => {
      await seed('redis');
      const bad = await causeway(['label', 'msvc/redis', 'team=a b']);
      expect([bad.code, bad.err]).toEqual([1, expect.stringContaining('labels')]);
      expect((await causeway(['label', 'msvc/redis'])).err).toBe(
        'name the labels: KEY=VALUE sets one, KEY- removes one\n',
      );
    });
  });

  describe('wait', () => {
    const conditions = (status: string): object => ({
      conditions: [{ type: 'Accepted', status, reason: 'TooMany', message: 'there are too many' }],
    });

    it('ends once a condition is there', async () => {
      await seed('slow', {}, conditions('False'));
      const waiting = causeway(['wait', 'msvc/slow', '--for=condition=accepted']);
      await seed('slow', {}, conditions('True'));
      expect(await waiting).toEqual({ code: 0, out: 'MeshService slow accepted is True\n', err: '' });
    });

    it('ends with 1 and says how it is when the time runs out', async () => {
      await seed('never', {}, conditions('False'));
      expect(await causeway(['wait', 'msvc/never', '--for=condition=Accepted', '--timeout', '1s'])).toEqual({
        code: 1,
        out: '',
        err: 'MeshService never: not condition=Accepted after 1s: Accepted is False: TooMany: there are too many\n',
      });
      const other = await causeway(['wait', 'msvc/never', '--for=condition=Ready', '--timeout', '0']);
      expect(other.err).toContain('it has only the conditions Accepted');
      expect((await causeway(['wait', 'msvc/none', '--for=create', '--timeout', '0'])).err).toContain('there is none');
      expect((await causeway(['wait', 'msvc/never', '--for=condition=Accepted=False'])).code).toBe(0);
    });

    it('waits for a deletion', async () => {
      await seed('doomed');
      const waiting = causeway(['wait', 'msvc/doomed', '--for=delete']);
      await causeway(['delete', 'msvc/doomed']);
      expect(await waiting).toEqual({ code: 0, out: 'MeshService doomed deleted\n', err: '' });
    });

    it.each(['ready', 'condition', 'condition=', 'condition=a b'])('refuses --for=%s', async (what) => {
      expect((await causeway(['wait', 'msvc/x', `--for=${what}`])).code).toBe(2);
    });
  });

  describe('edit', () => {
    it('writes what the editor leaves', async () => {
      await seed('edited');
      const ran = await causeway(['edit', 'msvc/edited'], '', editor('change', `sed -i 's/6379/6380/' "$1"`));
      expect(ran).toEqual({ code: 0, out: 'MeshService edited updated\n', err: '' });
      expect(fixture.index.get(serviceId('edited'))?.spec).toMatchObject({ ports: [{ port: 6380 }] });
    });

    it('writes nothing if nothing was changed, or the editor fails', async () => {
      await seed('kept');
      const same = await causeway(['edit', 'msvc', 'kept'], '', editor('same', 'true'));
      expect(same).toEqual({ code: 0, out: '', err: 'nothing was changed\n' });
      const failed = await causeway(['edit', 'msvc', 'kept'], '', editor('fail', `sed -i 's/6379/1/' "$1"; exit 3`));
      expect([failed.code, failed.err]).toEqual([2, expect.stringContaining('ended with 3: nothing was written')]);
      expect(fixture.index.get(serviceId('kept'))?.spec).toEqual(PORTS);
    });

    it('opens the text again with what is wrong, until it is right', async () => {
      await seed('wrong');
      const twice = editor(
        'twice',
        `if grep -q '^#.*must be 1 to 65535' "$1"; then sed -i 's/99999/6381/' "$1"; else sed -i 's/6379/99999/' "$1"; fi`,
      );
      expect((await causeway(['edit', 'msvc/wrong'], '', twice)).code).toBe(0);
      expect(fixture.index.get(serviceId('wrong'))?.spec).toMatchObject({ ports: [{ port: 6381 }] });
    });

    it('opens the text again with what someone else has changed in the meantime', async () => {
      await seed('shared');
      const put = `curl -sf -X PUT -H 'content-type: application/json' -d '{"type":"MeshService","name":"shared","labels":{"by":"other"},"spec":${JSON.stringify(PORTS)}}' ${server}/meshes/default/meshservices/shared`;
      const racing = editor(
        'racing',
        `if grep -q '^# + *by: other' "$1"; then exit 0; fi; sed -i 's/6379/6382/' "$1"; ${put} >/dev/null`,
      );
      expect(await causeway(['edit', 'msvc/shared'], '', racing)).toEqual({
        code: 0,
        err: '',
        out: 'MeshService shared updated\n',
      });
      expect(fixture.index.get(serviceId('shared'))?.spec).toMatchObject({ ports: [{ port: 6382 }] });
    });
  });
});
