import { spawn } from 'node:child_process';

/** Result of a program. */
interface ProgramResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The programs by which the network of a machine is changed. */
export interface NetworkTools {
  /** Resolves with what it printed. Rejects where it cannot be started, fails, or takes too long. */
  run(program: 'nft' | 'ip', args: readonly string[], input?: string): Promise<string>;
}

/** Packages that have the programs. */
const PACKAGES = { nft: 'nftables', ip: 'iproute2' };
const ENVIRONMENT = { PATH: '/usr/sbin:/sbin:/usr/bin:/bin:/usr/local/sbin:/usr/local/bin', LANG: 'C' };
/** 10,000 services take a third of a second, ms. */
const TIMEOUT = 20_000;
/** Maximum length of kept output, characters. */
const MAX_OUTPUT = 64 * 1024;
const FORBIDDEN = /operation not permitted|permission denied|you must be root/i;

/** A change of the network that could not be made. */
export class NetworkFailure extends Error {
  constructor(
    message: string,
    /** Output of the program. */
    readonly said: string,
  ) {
    super(message);
  }
}

/** The programs of this machine. */
export const systemTools: NetworkTools = {
  async run(program, args, input = '') {
    const { code, stdout, stderr } = await runProgram(program, args, input);
    if (code === 0) return stdout;
    const said = stderr.trim();
    const first = said.split('\n')[0] ?? '';
    if (code === null) throw new NetworkFailure(`${program} did not end within ${TIMEOUT} ms`, said);
    if (FORBIDDEN.test(said))
      throw new NetworkFailure(`${program} is refused: the agent must be root or have CAP_NET_ADMIN`, said);
    throw new NetworkFailure(`${program} ${args.join(' ')} failed: ${first.slice(0, 500)}`, said);
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
    // A program that fails early reads nothing.
    child.stdin.on('error', () => undefined).end(input);
  });
}
