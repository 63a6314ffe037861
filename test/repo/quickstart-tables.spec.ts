import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';

const ROOT = resolve(__dirname, '..', '..');

/** Returns the output of a module of the quickstart, or its error. */
function printed(script: string): string {
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  return stdout + stderr;
}

describe('the table of the quickstart', () => {
  const table = (services: readonly unknown[]): string[] =>
    printed(
      `import { serviceTable } from './scripts/quickstart/table.mjs'; console.log(serviceTable(${JSON.stringify(services)}));`,
    )
      .trimEnd()
      .split('\n')
      .map((line) => line.trim().replace(/ {2,}/g, ' | '));

  it('shows an address without a hostname, whose generator reads a label that the service lacks', () => {
    const reason = 'label "team" is missing';
    const addresses = [
      { hostname: 'redis.mesh', status: 'Available' },
      { status: 'NotAvailable', reason, origin: { kind: 'HostnameGenerator', name: 'teams' } },
      { hostname: 'a.mesh', status: 'Available' },
    ];
    expect(table([{ name: 'redis', zone: 'east', ip: '241.0.0.1', addresses }])).toEqual([
      'SERVICE | ZONE | VIP | HOSTNAME | STATUS',
      'redis | east | 241.0.0.1 | a.mesh | Available',
      `none | NotAvailable: ${reason}`,
      'redis.mesh | Available',
    ]);
  });

  it('shows a service that has nothing yet', () => {
    expect(table([{ name: 'redis', zone: 'east', addresses: [] }])[1]).toBe('redis | east | none yet | none yet');
  });
});

describe('a list that the quickstart reads', () => {
  it('is empty where its mesh was deleted', () => {
    const script = `
      import { createServer } from 'node:http';
      import { restApi } from './scripts/quickstart/rest-api.mjs';
      const server = createServer((_, response) => response.writeHead(404).end('{}')).listen(0, '127.0.0.1', async () => {
        const api = restApi({ name: 'east', restUrl: 'http://127.0.0.1:' + server.address().port }, {});
        console.log(JSON.stringify(await api.list('/meshes/default/meshservices')));
        server.close();
      });`;
    expect(printed(script)).toBe('[]\n');
  });
});

const hasScript = spawnSync('script', ['-qec', 'true', '/dev/null'], { stdio: 'ignore' }).status === 0;

describe('Enter, while the quickstart runs', () => {
  const PROGRAM = `
    import { atEnter } from './scripts/quickstart/traffic/demo.mjs';
    const terminal = atEnter(() => {
      console.log('pressed');
      terminal.stop();
    });
    console.log('read: ' + terminal.isThere);`;

  /** Returns the output of the program at a terminal where Enter is pressed once it has begun. */
  async function atTerminal(command: string): Promise<string> {
    const env = { ...process.env, PROGRAM };
    const child = spawn('script', ['-qec', command, '/dev/null'], {
      cwd: ROOT,
      env,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
      if (piece.includes('read: ')) child.stdin.write('\n');
    });
    await once(child, 'close');
    return text.replace(/\r/g, '');
  }

  (hasScript ? it : it.skip)('is noticed at a terminal, and the program ends when nobody waits for it', async () => {
    expect(await atTerminal('exec node --input-type=module --eval "$PROGRAM"')).toMatch(/^read: true\n\n?pressed\n/);
  });

  (hasScript ? it : it.skip)('is left to the shell where the program is in the background', async () => {
    const command = 'set -m; node --input-type=module --eval "$PROGRAM" & wait';
    expect(await atTerminal(command)).toMatch(/^read: false\n(?![^]*pressed)/);
  });

  it('is not waited for without a terminal', () => {
    expect(printed(PROGRAM)).toBe('read: false\n');
  });
});
