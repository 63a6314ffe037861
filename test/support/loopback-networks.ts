import { randomInt } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Folder in which test programs claim networks of loopback: a file a network, with the id of the process. */
const CLAIMS = join(tmpdir(), 'causeway-networks');
const TRIES = 1_000;

/** The second numbers of networks: of blocks, of whole networks of a test, and of the demo's. */
const BLOCKS = [20, 128] as const;
const NETWORKS = [128, 224] as const;
const DEMOS = [224, 255] as const;

/** A network of loopback that no other test has, as `127.X`, until it is given back or this process ends. */
export interface LoopbackNetwork {
  readonly prefix: string;
  release(): void;
}

/** For a test that wants many addresses. */
export function loopbackNetwork(): LoopbackNetwork {
  return drawn(() => `127.${randomInt(...NETWORKS)}`);
}

/** For a run of the demo. */
export function demoNetwork(): LoopbackNetwork {
  return drawn(() => `127.${randomInt(...DEMOS)}`);
}

/** Gives addresses of one block of loopback, by their last number; other suites that run have other blocks. */
export function loopbackBlock(): (last: number) => string {
  const { prefix } = drawn(() => `127.${randomInt(...BLOCKS)}.${randomInt(256)}`);
  return (last) => `${prefix}.${last}`;
}

function drawn(draw: () => string): LoopbackNetwork {
  for (let tries = 0; tries < TRIES; tries++) {
    const prefix = draw();
    const file = join(CLAIMS, prefix);
    if (claim(file)) return { prefix, release: () => rmSync(file, { force: true }) };
  }
  throw new Error(`${TRIES} networks of loopback were drawn, and all of them are other tests'`);
}

/** False where a process that still runs has it. */
function claim(file: string): boolean {
  mkdirSync(CLAIMS, { recursive: true });
  try {
    if (!isRunning(Number(readFileSync(file, 'utf8')))) rmSync(file, { force: true });
  } catch {
    // No process has it.
  }
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    return false;
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
