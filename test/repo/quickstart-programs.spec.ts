import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const root = join(__dirname, '..', '..');
const folder = mkdtempSync(join(tmpdir(), 'causeway-programs-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A program that notes each signal, and needs a moment for its end, as an agent does that ends its Envoy. */
const PROGRAM = `
import { appendFileSync, writeFileSync } from 'node:fs';
const [notes, ready] = process.argv.slice(2);
process.once('SIGTERM', () => {
  appendFileSync(notes, 'told\\n');
  setTimeout(() => {
    appendFileSync(notes, 'ended in order\\n');
    process.exit(0);
  }, 500);
});
setInterval(() => undefined, 1_000);
writeFileSync(ready, '');
`;

const STARTER = `
import { existsSync } from 'node:fs';
import { startProgram } from ${JSON.stringify(pathToFileURL(join(root, 'scripts/quickstart/program.mjs')).href)};
const [file, preload, notes, ready, logDir] = process.argv.slice(2);
const program = startProgram({
  ...{ name: 'program', file, args: [notes, ready], execArgv: ['--require', preload] },
  ...{ cwd: logDir, env: process.env, logDir },
});
while (!existsSync(ready)) await new Promise((resolve) => setTimeout(resolve, 20));
await program.stop();
`;

it('a program of the quickstart is told once to end, and ends in order', async () => {
  const [file, starter, notes, ready] = ['program.mjs', 'starter.mjs', 'notes', 'ready'].map((name) =>
    join(folder, name),
  ) as [string, string, string, string];
  writeFileSync(file, PROGRAM);
  writeFileSync(starter, STARTER);
  const preload = join(root, 'scripts', 'quickstart', 'traffic', 'ends-with-starter.cjs');
  // The disconnect of the channel and the signal come in either order: some rounds meet both.
  for (let round = 0; round < 6; round += 1) {
    rmSync(ready, { force: true });
    await promisify(execFile)(process.execPath, [starter, file, preload, notes, ready, folder]);
  }
  expect(readFileSync(notes, 'utf8')).toBe('told\nended in order\n'.repeat(6));
});
