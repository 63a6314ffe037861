import { spawn } from 'node:child_process';

/**
 * Runs a program to its end, quietly: `{ status, output, text }`, where `output` is all that it wrote and `text` its standard
 * output. An aborted signal ends it and rejects.
 */
export function run(command, args, { cwd, env, signal }) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env, signal, stdio: ['ignore', 'pipe', 'pipe'] });
    let [output, text] = ['', ''];
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (piece) => (output += piece));
    child.stdout.on('data', (piece) => (text += piece));
    child.once('error', reject);
    child.once('close', (status) => resolve({ status, output, text }));
  });
}
