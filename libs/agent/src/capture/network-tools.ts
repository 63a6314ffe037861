import { spawn } from 'node:child_process';
import { ENVIRONMENT } from '../programs/lasting-program';

interface ProgramResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Programs that change the network of a machine. */
export interface NetworkTools {
  /** Resolves with the output. Rejects if the program cannot be started, fails, or exceeds its timeout. */
  run(program: 'nft' | 'ip', args: readonly string[], input?: string): Promise<string>;
  /** Command before that of a program that lasts, which runs it where `run` does. */
  readonly enterCommand?: readonly string[];
}

/** Debian packages of the programs. */
const PACKAGES = { nft: 'nftables', ip: 'iproute2' };
/** Timeout of a program, ms; a change of 10,000 services takes a third of a second. */
const TIMEOUT = 20_000;
/** Maximum length of kept output, characters. */
const MAX_OUTPUT = 64 * 1024;
const FORBIDDEN = /operation not permitted|permission denied|you must be root/i;

/** Network change that failed. */
export class NetworkFailure extends Error {
  constructor(
    message: string,
    /** Error output of the program. */
    readonly output: string,
  ) {
    super(message);
  }
}

/** Programs of this machine. */
export const systemTools: NetworkTools = {
  async run(program, args, input = '') {
    const { code, stdout, stderr } = await runProgram(program, args, input);
    if (code === 0) return stdout;
    const output = stderr.trim();
    const first = output.split('\n')[0] ?? '';
    if (code === null) throw new NetworkFailure(`${program} did not end within ${TIMEOUT} ms`, output);
    if (FORBIDDEN.test(output))
      throw new NetworkFailure(`${program} is refused: the agent must be root or have CAP_NET_ADMIN`, output);
    throw new NetworkFailure(`${program} ${args.join(' ')} failed: ${first.slice(0, 500)}`, output);
  },
};

function runProgram(program: 'nft' | 'ip', args: readonly string[], input: string): Promise<ProgramResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env: ENVIRONMENT, stdio: 'pipe', timeout: TIMEOUT, killSignal: 'SIGKILL' });
    const output = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (text: string) => {
        output[name] += text.slice(0, Math.max(0, MAX_OUTPUT - output[name].length));
      });
    child.once('error', (cause) => {
      const isMissing = 'code' in cause && cause.code === 'ENOENT';
      const reason = isMissing ? `is not installed (package ${PACKAGES[program]})` : 'cannot be started';
      reject(new Error(`${program} ${reason}`, { cause }));
    });
    child.once('close', (code) => resolve({ code, ...output }));
    // A program that fails early does not read its input.
    child.stdin.on('error', () => undefined).end(input);
  });
}
