import { spawn } from 'node:child_process';

/** Runs a program to its end, quietly: `{ status, output }`. An aborted signal ends it and rejects. */
export function run(command, args, { cwd, signal }) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, signal, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => (output += text));
    child.once('error', reject);
    child.once('close', (status) => resolve({ status, output }));
  });
}
