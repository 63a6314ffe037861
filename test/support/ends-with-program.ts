import type { ChildProcess } from 'node:child_process';

const children = new Set<ChildProcess>();

/** Kills a process when this one exits, if it still runs: a process without a channel to this one would not notice its end. */
export function endsWithProgram<T extends ChildProcess>(child: T): T {
  if (!process.listeners('exit').includes(killAll)) process.on('exit', killAll);
  children.add(child);
  child.once('exit', () => children.delete(child));
  return child;
}

function killAll(): void {
  for (const child of children) child.kill('SIGKILL');
}
