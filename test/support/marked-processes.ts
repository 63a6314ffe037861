import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** A living process that inherited a marked environment. */
export interface MarkedProcess {
  readonly pid: number;
  readonly environment: string;
}

/** All living processes whose environment holds `mark`: whatever was started under it, however far down. */
export function markedProcesses(mark: string): readonly MarkedProcess[] {
  const all = existsSync('/proc/self/environ') ? fromProc() : fromPs();
  return all.filter(({ environment }) => environment.includes(mark));
}

function fromProc(): readonly MarkedProcess[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({ pid: Number(name), environment: readEnvironment(name) }));
}

function readEnvironment(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8');
  } catch {
    return ''; // it ended, or it belongs to another
  }
}

function fromPs(): readonly MarkedProcess[] {
  const { stdout } = spawnSync('ps', ['axeww', '-o', 'pid=,command='], { encoding: 'utf8' });
  return stdout
    .split('\n')
    .map((line) => ({ pid: Number.parseInt(line, 10), environment: line }))
    .filter(({ pid }) => pid > 0);
}
