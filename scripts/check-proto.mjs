/**
 * `npm run check:proto`: lints our protos with the STANDARD rules of buf, and compares them with those of the last release.
 * `--accept` makes the present protos the ones to compare with: after a release, never to silence a finding.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './lib/root.mjs';

/** A committed image: a clone has no other branch or tag to compare with. */
const BASELINE = 'proto/baseline.binpb';

/** The other protos of the workspace need files that only the generator makes. */
const OURS = ['--path', 'proto/causeway'];

const buf = (args, options = {}) =>
  execFileSync(join(root, 'node_modules/.bin/buf'), args, {
    cwd: root,
    stdio: ['pipe', 'pipe', 'inherit'],
    ...options,
  });

try {
  const image = buf(['build', 'proto', ...OURS, '--exclude-source-info', '-o', '-#format=binpb']);
  if (process.argv.includes('--accept')) writeFileSync(join(root, BASELINE), image);
  buf(['lint', ...OURS], { stdio: 'inherit' });
  buf(['breaking', '-#format=binpb', '--against', BASELINE], { input: image, stdio: ['pipe', 'inherit', 'inherit'] });
  console.log('protos: linted, nothing breaks what was released');
} catch (error) {
  if (typeof error.status !== 'number') throw error;
  process.exitCode = 1; // buf has said what is wrong
}
