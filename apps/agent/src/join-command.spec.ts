import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatJoinBundle } from '@causeway/identity';
import { Command } from 'commander';
import { parse } from 'yaml';
import { registerJoin } from './join-command';

function makeBundle(claims: object): string {
  const token = `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2ln`;
  return formatJoinBundle({ controlPlanes: ['127.0.0.1:5678'], zone: 'east', mesh: 'default', token });
}

const REDIS = { Mesh: 'default', Namespace: 'default', Name: 'redis-1', Services: ['redis'] };

describe('causeway-agent join', () => {
  let folder: string;
  let [out, err]: [string[], string[]] = [[], []];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'causeway-join-'));
    [out, err] = [[], []];
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const at = (name: string): string => join(folder, 'etc', name);
  const run = async (...args: readonly string[]): Promise<number | undefined> => {
    let code: number | undefined;
    const program = new Command().exitOverride();
    const context = {
      environment: { envoy: {}, state: folder },
      version: '0.1.0',
      signal: new AbortController().signal,
      isTerminal: false,
      print: (line: string) => out.push(line),
      printError: (line: string) => err.push(line),
    };
    registerJoin(program, context, (given) => (code = given));
    await program.parseAsync(['join', ...args, '--folder', join(folder, 'etc')], { from: 'user' });
    return code;
  };

  it('writes the bundle for its owner, and the configuration from the token and the address of the machine', async () => {
    writeFileSync(join(folder, 'line'), `${makeBundle(REDIS)}\n`);
    expect(await run(join(folder, 'line'), '--service', 'redis:6380:6379/tcp')).toBe(0);
    expect(readFileSync(at('bundle'), 'utf8')).toBe(`${makeBundle(REDIS)}\n`);
    expect((statSync(at('bundle')).mode & 0o777).toString(8)).toBe('600');
    expect(parse(readFileSync(at('agent.yaml'), 'utf8'))).toEqual({
      bundle: at('bundle'),
      mesh: 'default',
      capture: 'redirect',
      dataplanes: [
        {
          name: 'redis-1',
          namespace: 'default',
          address: '127.0.0.1',
          services: [{ name: 'redis', port: 6380, servicePort: 6379, health: { tcp: {} }, protocol: 'tcp' }],
        },
      ],
      dns: { port: 5300 },
    });
    expect(out.at(-1)).toBe('it joins zone east at 127.0.0.1:5678; now run: systemctl enable --now causeway-agent');

    const before = statSync(at('agent.yaml')).mtimeMs;
    expect(await run(makeBundle({ ...REDIS, Name: 'other' }), '--service', 'redis:1')).toBe(0);
    expect(out.at(-1)).toMatch(/^nothing is to be done: /);
    expect(statSync(at('agent.yaml')).mtimeMs).toBe(before);
    expect(err).toEqual([]);
  });

  it('names a machine of a group as the machine, with its workload', async () => {
    const group = { Mesh: 'default', Namespace: 'shop', Workload: 'web', Services: [] };
    expect(await run(makeBundle(group), '--dns-port', '0', '--address', '10.0.0.7')).toBe(0);
    expect(parse(readFileSync(at('agent.yaml'), 'utf8'))).toMatchObject({
      dataplanes: [
        {
          name: hostname().split('.')[0],
          namespace: 'shop',
          address: '10.0.0.7',
          labels: { 'kuma.io/workload': 'web' },
        },
      ],
    });
  });

  it('runs an ingress with its bundle', async () => {
    expect(await run(makeBundle({ Zone: 'east', Scope: ['ingress'] }), '--ingress', 'in-1')).toBe(0);
    expect(parse(readFileSync(at('agent.yaml'), 'utf8'))).toEqual({ bundle: at('bundle'), ingress: { name: 'in-1' } });
  });

  it.each<[string, readonly string[], string]>([
    ['a service without its port', [makeBundle(REDIS)], 'the bundle is of the service redis: say where it listens'],
    ['an ingress without its name', [makeBundle({ Scope: ['ingress'] })], 'name its ZoneIngress, --ingress NAME'],
    ['the name of an ingress for a Dataplane', [makeBundle(REDIS), '--ingress', 'x'], 'the bundle is of a Dataplane'],
  ])('refuses %s, and writes nothing', async (_, args, reason) => {
    await expect(run(...args)).rejects.toThrow(reason);
    expect(existsSync(join(folder, 'etc'))).toBe(false);
  });

  it('refuses another text, and takes back a configuration that the agent would refuse', async () => {
    expect(await run('causeway-invite-1.e30')).toBe(2);
    expect(err.pop()).toMatch(/^the bundle must be what/);
    expect(await run(makeBundle(REDIS), '--service', 'redis:6379', '--capture', 'nets')).toBe(2);
    expect(err.join('\n')).toContain('capture');
    expect([existsSync(at('bundle')), existsSync(at('agent.yaml'))]).toEqual([false, false]);
  });
});
