import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';

const ROOT = resolve(__dirname, '..', '..');

/** What a module of the quickstart prints, or its error. */
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
