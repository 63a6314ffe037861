import { spawn } from 'node:child_process';
import { constants } from 'node:os';

// The shell holds the reading end of our pipe: when this process dies for whatever reason, kill -9 included, `cat` ends and
// the program is told to stop. When the program ends by itself the shell ends with its status, and nobody is told anything
// any more: its number may be another process's by then.
const GUARD =
  'exec 3<&0; how=$1; shift; "$@" 3<&- </dev/null & p=$!; (cat <&3 >/dev/null 2>&1; kill -$how $p) 2>/dev/null & w=$!; ' +
  'exec 3<&-; wait $p; s=$?; kill $w 2>/dev/null; exit $s';

/**
 * Starts a program that is not ours so that it ends with this process: it gets a signal (`how`: INT, TERM) when the stdin of the
 * child that this gives is ended. The child is the shell around it, and ends when the program does.
 */
export function spawnGuarded(args, { how, ...options }) {
  const child = spawn('/bin/sh', ['-c', GUARD, 'sh', how, ...args], {
    ...options,
    detached: true, // a Ctrl-C on the terminal is for the control planes first
  });
  child.stdin.on('error', () => {}); // it ended before we let go of the pipe
  return child;
}

/** Returns how the program of `spawnGuarded` ended, by the status of its shell: `(SIGKILL)`, `(code 1)`. */
export function endText(status) {
  const signal = Object.entries(constants.signals).find(([, number]) => number === status - 128);
  return `(${signal ? signal[0] : `code ${status}`})`;
}
