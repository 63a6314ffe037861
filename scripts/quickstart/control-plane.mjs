import { join } from 'node:path';
import { Failure } from '../lib/failure.mjs';
import { waitFor } from '../lib/wait.mjs';
import { startProgram } from './program.mjs';

const READY_TIMEOUT_MS = 60_000;

/** Runs one control plane as a process. */
export function startControlPlane({ plane, root, logDir, env }) {
  const file = join(root, 'dist', 'apps', plane.app, 'src', 'main.js');
  return startProgram({ name: plane.name, file, execArgv: ['--enable-source-maps'], cwd: root, env, logDir });
}

/** Whether a control plane answers that it is ready. */
export function isReady({ diagnosticsUrl }, signal) {
  return fetch(`${diagnosticsUrl}/ready`, { signal }).then(
    ({ status }) => status === 200,
    () => false,
  );
}

/** Waits until a control plane is ready; a Failure when it takes too long. */
export async function untilReady(plane, { logFile, signal }) {
  const ready = await waitFor(() => isReady(plane, signal), { timeoutMs: READY_TIMEOUT_MS, everyMs: 30, signal });
  if (!ready)
    throw new Failure(`${plane.name} was not ready after ${READY_TIMEOUT_MS / 1000} s: its log is ${logFile}`);
}
