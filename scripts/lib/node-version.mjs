import { Failure } from './failure.mjs';

const OLDEST = [20, 19];

/** A Failure on a Node that is too old to run us. */
export function requireNode(version = process.versions.node) {
  const [major, minor] = version.split('.').map(Number);
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return;
  throw new Failure(`this is Node ${version}, Causeway needs ${OLDEST.join('.')} or newer: https://nodejs.org`);
}
