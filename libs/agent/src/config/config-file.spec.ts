/* A changed file is in force within two seconds, however it was changed. Also: test/agent/agent.spec.ts. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger, systemClock } from '@causeway/runtime';
import { until } from '../../../../test/support/until';
import { ConfigFile } from './config-file';

/** Time in which a change is in force, and that of a busy machine, ms. */
const IN_FORCE = 2_000;
const SLACK = 2_000;

describe('the configuration file', () => {
  let folder: string;
  let path: string;
  let meshes: string[];
  let end: AbortController;
  let following: Promise<void>;
  const text = (mesh: string): string =>
    `mesh: ${mesh}
controlPlanes: ['127.0.0.1:6678']
dataplanes: [{ name: a, address: 127.0.0.1, services: [] }]
`;
  const inFolder = (name: string): string => join(folder, name);

  const follow = (file: string): void => {
    end = new AbortController();
    const source = { file, flags: {} };
    following = new ConfigFile(source, { clock: systemClock, logger: silentLogger }).follow((config) => {
      meshes.push(config.mesh);
      return Promise.resolve();
    }, end.signal);
  };
  const isInForce = (mesh: string): Promise<unknown> =>
    until(`${mesh} is in force`, () => meshes.at(-1) === mesh, IN_FORCE + SLACK);

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'causeway-config-'));
    path = inFolder('agent.yaml');
    meshes = [];
  });
  afterEach(async () => {
    end.abort();
    await following;
    rmSync(folder, { recursive: true });
  });

  it('is followed where it is written in place, and where another file takes its name', async () => {
    writeFileSync(path, text('first'));
    follow(path);
    writeFileSync(path, text('in-place'));
    await isInForce('in-place');
    writeFileSync(inFolder('new'), text('renamed'));
    renameSync(inFolder('new'), path);
    await isInForce('renamed');
    rmSync(path);
    writeFileSync(path, text('again'));
    await isInForce('again');
    // One call for each change, also where the file is read again and again.
    expect(meshes).toEqual(['in-place', 'renamed', 'again']);
  });

  it('is followed through symbolic links, of which the first one or one of a folder changes', async () => {
    for (const version of ['one', 'two', 'three']) {
      mkdirSync(inFolder(version));
      writeFileSync(join(folder, version, 'agent.yaml'), text(version));
    }
    // As Kubernetes lays out a volume: agent.yaml → ..data/agent.yaml, ..data → a folder of one version.
    symlinkSync('one', inFolder('..data'));
    symlinkSync(join('..data', 'agent.yaml'), path);
    follow(path);
    symlinkSync('two', inFolder('..data.new'));
    renameSync(inFolder('..data.new'), inFolder('..data'));
    await isInForce('two');
    writeFileSync(join(folder, 'two', 'agent.yaml'), text('target'));
    await isInForce('target');
    symlinkSync(join('three', 'agent.yaml'), inFolder('agent.new'));
    renameSync(inFolder('agent.new'), path);
    await isInForce('three');
  });
});
