import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { globalIdentity } from '@causeway/resources';
import { restFixture, serviceId, type RestFixture } from '../rest/rest-fixture';
import { PROGRAM, runCauseway } from './run-causeway';
import { HostedCommands } from './transcripts/hosted-commands';

const PAINT = {
  group: 'a.io',
  kind: 'PaintPolicy',
  plural: 'paintpolicies',
  shortName: 'paint',
  hierarchy: 'mesh',
  declaredTargets: [{ kind: 'Namespace', semantics: 'paints its services' }],
  effectiveTarget: { level: 'Rule', semantics: 'is painted' },
  schema: { type: 'object', properties: { colour: { type: 'string' } } },
};

/** Completes `words` in a real shell, which reads `$COMPLETION`: returns what it would offer for the last word. */
const DRIVERS = {
  bash: `
    causeway() { "$PROGRAM" "$@"; }
    compopt() { :; }
    source "$COMPLETION"
    COMP_WORDS=(causeway "$@"); COMP_CWORD=$#
    _causeway; printf '%s\\n' "\${COMPREPLY[@]}"`,
  zsh: `
    causeway() { "$PROGRAM" "$@" }
    compdef() { : }
    _files() { print -l -- $words[CURRENT]*(N) }
    _describe() { local -a all; all=("\${(@P)3}"); print -rl -- "\${(@)all%%:*}" }
    source "$COMPLETION"
    words=(causeway "$@"); CURRENT=$(( $# + 1 ))
    _causeway`,
  fish: `
    function causeway; $PROGRAM $argv; end
    source $COMPLETION
    complete -C "causeway $argv" | string replace -r '\\t.*' ''`,
} as const;
type Shell = keyof typeof DRIVERS;

const installed = (shell: string): boolean => spawnSync(shell, ['-c', 'exit 0']).status === 0;
const SHELLS = (['bash', 'zsh', 'fish'] as const).filter((shell) => shell === 'bash' || installed(shell));

describe('causeway completion', () => {
  let fixture: RestFixture;
  let server: string;
  let folder: string;
  let hosted: HostedCommands;

  beforeAll(async () => {
    fixture = await restFixture();
    server = `http://127.0.0.1:${await fixture.server.listen('127.0.0.1', 0)}`;
    for (const name of ['redis', 'redis-cache', 'web']) await fixture.seed({ id: serviceId(name) });
    await fixture.seed({ id: globalIdentity('MetaresourceDefinition', 'paint'), spec: PAINT });
    await fixture.seed({ id: { ...serviceId('of-all'), kind: 'PaintPolicy' }, spec: { targetRefs: [] } });
    for (const name of ['east', 'west']) await fixture.seed({ id: globalIdentity('Zone', name) });
    folder = mkdtempSync(join(tmpdir(), 'causeway-completion-'));
    writeFileSync(join(folder, 'services.yaml'), '');
    // Of the commands that are completed, `edit` is asked of the built program.
    hosted = new HostedCommands(folder, `'${process.execPath}' '${PROGRAM}'`);
    hosted.install(join(folder, 'causeway'));
    const contexts = { contexts: { home: { server }, office: { server } } };
    writeFileSync(join(folder, 'contexts.json'), JSON.stringify(contexts), { mode: 0o600 });
    for (const shell of SHELLS)
      writeFileSync(completionOf(shell), (await runCauseway(server, ['completion', shell])).out);
  });
  afterAll(async () => {
    hosted.close();
    rmSync(folder, { recursive: true });
    await fixture.close();
  });

  /** The file with what `causeway completion` prints for a shell. */
  const completionOf = (shell: Shell): string => join(folder, `completion.${shell}`);

  /** Returns the completions that a shell offers for the last of `words`; the program asks `at`. */
  async function offered(shell: Shell, words: readonly string[], at = server): Promise<readonly string[]> {
    const own = {
      PROGRAM: join(folder, 'causeway'),
      COMPLETION: completionOf(shell),
      CAUSEWAY_SERVER: at,
      CAUSEWAY_CONTEXTS_FILE: join(folder, 'contexts.json'),
    };
    const args =
      shell === 'fish' ? ['-c', DRIVERS[shell], '--', words.join(' ')] : ['-c', DRIVERS[shell], shell, ...words];
    const env = { ...process.env, ...own };
    const child = spawn(shell, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
    expect(err).toBe('');
    return out
      .split('\n')
      .filter((line) => line !== '')
      .sort();
  }

  describe.each(SHELLS)('in %s', (shell) => {
    it.each([
      ['commands', ['ver'], ['version']],
      ['commands below a command', ['zones', 'conf'], ['confirm', 'confirm-global']],
      ['flags of the command and of the program', ['get', '--se'], ['--selector', '--server']],
      ['kinds', ['get', 'meshser'], ['meshservices']],
      ['names of a kind', ['describe', 'msvc', 'red'], ['redis', 'redis-cache']],
      ['names that are not named yet', ['delete', 'msvc', 'redis', 'red'], ['redis-cache']],
      ['KIND/NAME', ['edit', 'msvc/w'], ['msvc/web']],
      ['kinds that the server declares', ['get', 'paint'], ['paintpolicies']],
      ['kinds that the server declares, as values', ['auth', 'can-i', 'list', 'paintp'], ['paintpolicies']],
      ['names of a kind that the server declares', ['scopes', 'paint', 'of'], ['of-all']],
      ['KIND/NAME of a kind that the server declares', ['delete', 'paint/o'], ['paint/of-all']],
      ['zones', ['zones', 'adopt', ''], ['east', 'west']],
      ['zones as values', ['get', 'msvc', '-z', 'e'], ['east']],
      ['meshes', ['get', 'msvc', '--mesh', ''], ['default']],
      ['contexts', ['config', 'use-context', ''], ['home', 'office']],
      ['contexts as values', ['--context', 'o'], ['office']],
      ['forms of output', ['get', 'msvc', '-o', 'ya'], ['yaml']],
      ['files', ['apply', '-f', 'serv'], ['services.yaml']],
      ['nothing where there is nothing', ['get', 'nokind', 'x'], []],
    ])('completes %s', async (_, words, want) => {
      expect(await offered(shell, words)).toEqual(want);
    });
  });

  it('completes what bash has split at = and :', async () => {
    expect(await offered('bash', ['get', 'msvc', '--output', '=', 'j'])).toContain('json');
    expect(await offered('bash', ['wait', 'msvc/web', '--for', '=', 'del'])).toEqual(['delete']);
  });

  describe('where the server does not answer', () => {
    let silent: Server;
    beforeAll(() => {
      silent = createServer(() => undefined);
      return new Promise<void>((listening) => silent.listen(0, '127.0.0.1', listening));
    });
    afterAll(() => {
      silent.closeAllConnections();
      silent.close();
    });

    it('offers what it knows itself, says nothing, and ends', async () => {
      const { port } = silent.address() as AddressInfo;
      for (const at of [`http://127.0.0.1:${port}`, 'http://127.0.0.1:9', 'ftp://x']) {
        const ran = await runCauseway(at, ['__complete', 'bash', '--', 'describe', 'msvc', '']);
        expect(ran).toEqual({ code: 0, out: '', err: '' });
        // Kinds of the program need no server.
        const kinds = await runCauseway(at, ['__complete', 'bash', '--', 'get', 'meshser']);
        expect(kinds).toEqual({ code: 0, out: 'meshservices\n', err: '' });
      }
    });
  });
});
