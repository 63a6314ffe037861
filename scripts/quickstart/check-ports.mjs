import { Failure } from '../lib/failure.mjs';
import { isPortFree } from '../lib/ports.mjs';
import { waitFor } from '../lib/wait.mjs';
import { portVariable } from './settings.mjs';

// An earlier start that was killed a moment ago may still be ending.
const PATIENCE_MS = 3_000;

/** A Failure that names the first taken port, who needs it and how to give it another. */
export async function requireFreePorts(controlPlanes, signal) {
  for (const { name, ports } of controlPlanes) {
    for (const [use, port] of Object.entries(ports)) {
      if (await waitFor(() => isPortFree(port), { timeoutMs: PATIENCE_MS, signal })) continue;
      throw new Failure(
        `port ${port} is taken, ${name} needs it (${use}): stop what listens there, or set ${portVariable(name, use)} to a free one`,
      );
    }
  }
}
