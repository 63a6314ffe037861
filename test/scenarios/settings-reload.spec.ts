import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentProcess } from '../support/agent-process';
import { createMigratedDatabase } from '../support/migrated-database';
import type { TestDatabase } from '../support/postgres';
import { ProcessPlane } from '../support/process-plane';
import { until } from '../support/until';

describe('a running control plane whose settings change', () => {
  let database: TestDatabase;
  let folder: string;
  let plane: ProcessPlane | undefined;

  beforeEach(async () => {
    database = await createMigratedDatabase();
    folder = mkdtempSync(join(tmpdir(), 'settings-'));
  });
  afterEach(async () => {
    await plane?.stop();
    rmSync(folder, { recursive: true });
    await database.drop();
  });

  const write = (name: string, content: string): string => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };

  const said = (running: ProcessPlane, message: string, fields: object): Promise<unknown> =>
    until(`the log says: ${message}`, () => {
      const lines = running.lastLines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as object);
      return lines.some((line) => Object.entries({ msg: message, ...fields }).every((one) => holds(line, one)));
    });

  const status = async (running: ProcessPlane, token: string): Promise<number> => {
    const answer = await fetch(`${running.restUrl}/meshes`, { headers: { authorization: `Bearer ${token}` } });
    await answer.arrayBuffer();
    return answer.status;
  };

  it('logs from the new level on, takes the new token and not the former, and keeps what it has where a file is wrong', async () => {
    const config = write('global.yaml', 'logLevel: info\n');
    const token = write('token', 'first\n');
    plane = await ProcessPlane.start('global', 'global', {
      // Settings that are not here stand in the file.
      DATABASE_URL: database.url,
      LOG_LEVEL: '',
      CAUSEWAY_OPERATOR_TOKEN: '',
      CAUSEWAY_USER_RATE: '',
      CAUSEWAY_CONFIG: config,
      CAUSEWAY_OPERATOR_TOKEN_FILE: token,
    });
    expect([await status(plane, 'first'), await status(plane, 'second')]).toEqual([200, 401]);

    // Without SIGHUP: the files are looked at again by themselves.
    write('global.yaml', 'logLevel: warn\nuserRate: 7\n');
    await said(plane, 'the log level was changed', { from: 'info', to: 'warn' });
    await said(plane, 'a setting was changed: it takes effect at the next start', { setting: 'CAUSEWAY_USER_RATE' });

    write('global.yaml', '\nlogLevel: loud\nuserRate: 7\n');
    write('token', 'second\n');
    plane.signal('SIGHUP');
    const reason = `${config} line 2: logLevel: must be one of debug, info, warn, error; got "loud"`;
    await said(plane, 'changed settings were refused, the former ones stay in use', { reason });
    expect([await status(plane, 'first'), await status(plane, 'second')]).toEqual([200, 401]);

    write('global.yaml', 'logLevel: info\nuserRate: 7\n');
    plane.signal('SIGHUP');
    await said(plane, 'the log level was changed', { from: 'warn', to: 'info' });
    await said(plane, 'the operator token was replaced', { given: true });
    expect([await status(plane, 'first'), await status(plane, 'second')]).toEqual([401, 200]);
  });
});

describe('a running agent whose files change', () => {
  const folder = mkdtempSync(join(tmpdir(), 'agent-settings-'));
  const tokenFile = join(folder, 'token');
  const controlPlanes = ['127.0.0.1:1'];
  const dataplanes = [{ name: 'web-1', address: '127.0.0.1' }];
  const agent = new AgentProcess(folder, { controlPlanes, tokenFile, plane: 'builtin', dataplanes });
  afterAll(async () => {
    await agent.end();
    rmSync(folder, { recursive: true });
  });

  it('logs from the new level on, and says which file is wrong before a connection needs it', async () => {
    const logs = (line: RegExp): Promise<unknown> => until(`it says ${line.source}`, () => line.test(agent.log));
    writeFileSync(tokenFile, 'first');
    await agent.start();
    const { pid = 0 } = (await agent.status()) ?? {};
    // Without SIGHUP: the files are looked at again by themselves.
    writeFileSync(tokenFile, '\n');
    agent.write({ ...agent.settings, logLevel: 'debug' });
    await logs(/"from":"info","to":"debug","msg":"the log level was changed"/);
    await logs(/tokenFile: \S+ is empty/);
    agent.write('logLevel: [');
    writeFileSync(tokenFile, 'two words');
    process.kill(pid, 'SIGHUP');
    await logs(/the configuration file is wrong: the earlier one stays in use/);
    await logs(/tokenFile: \S+ must hold one token and nothing else/);
    writeFileSync(tokenFile, 'second');
    agent.write({ ...agent.settings, logLevel: 'warn' });
    process.kill(pid, 'SIGHUP');
    await logs(/"from":"debug","to":"warn"/);
    expect((await agent.status())?.configuration.problems).toEqual([]);
  });
});

function holds(line: object, [name, value]: readonly [string, unknown]): boolean {
  return Object.entries(line).some(([key, given]) => key === name && given === value);
}
