import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';

const MODULE = join(resolve(__dirname, '..', '..'), 'scripts/lib/node-version.mjs');

/** The first line of the error that the starter ends with on this version of Node; empty when it starts. */
function complaint(version: string): string {
  const script = `import { requireNode } from ${JSON.stringify(MODULE)};
    try { requireNode(${JSON.stringify(version)}); } catch (error) { console.log(error.message); }`;
  return spawnSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' }).stdout;
}

describe('the starter', () => {
  it.each(['20.19.0', '20.20.2', '22.0.0', '24.11.1'])('runs on Node %s', (version) => {
    expect(complaint(version)).toBe('');
  });

  it.each(['18.20.8', '20.18.3', '16.0.0'])('says in one line what Node %s lacks', (version) => {
    expect(complaint(version)).toBe(`this is Node ${version}, Causeway needs 20.19 or newer: https://nodejs.org\n`);
  });
});
