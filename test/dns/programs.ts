import { execFile, spawnSync } from 'node:child_process';

/** Output and exit code of a program. */
export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end, with `input` on its standard input; never rejects because of its exit code. */
export function run(program: string, args: readonly string[], input = ''): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = execFile(program, [...args], { timeout: 60_000 }, (error, stdout, stderr) => {
      if (error && error.code === 'ENOENT') return reject(new Error(`${program} is not installed`));
      resolve({ code: typeof error?.code === 'number' ? error.code : error ? 1 : 0, stdout, stderr });
    });
    // Programs that read nothing may be gone before this is written.
    child.stdin?.on('error', () => undefined).end(input);
  });
}

/** True when the command ends well here; with the arguments it needs to show that it is there. */
export function works(program: string, ...args: string[]): boolean {
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
}

/** `describe` if `there`; else skips the tests and prints which package is missing. */
export function describeWhere(what: string, there: boolean, from: string): jest.Describe {
  if (there) return describe;
  process.stderr.write(`left out: tests with ${what}; to run them: ${from}\n`);
  return describe.skip;
}

/** `describeWhere` for what CI installs: there nothing is ever left out. */
export function describeWith(what: string, there: boolean, from: string): jest.Describe {
  return describeWhere(what, there || process.env['CI'] === 'true', from);
}
