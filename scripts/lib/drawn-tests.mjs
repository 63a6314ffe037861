import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from './failure.mjs';
import { root } from './root.mjs';

const NAME = 'CAUSEWAY_LONG_TESTS';

/** Test files of which a run takes a part: each takes 15 to 80 seconds of CPU, since it starts many programs. */
const { DRAWN } = JSON.parse(readFileSync(join(root, 'tools', 'longest-tests.json'), 'utf8'));

/**
 * What of them this run leaves out: it takes one of `CAUSEWAY_LONG_TESTS` (4 where it is not set), by the seed of the run, or `all`. Throws
 * for what is neither.
 */
export function leftOutTests(seed, given = process.env[NAME]) {
  const share = given === undefined || given === '' ? '4' : given;
  if (share === 'all') return [];
  if (!/^[1-9]\d?$/.test(share))
    throw new Failure(`${NAME} must be "all" or a whole number from 1 to 99; got "${share}"`);
  return DRAWN.filter((_, at) => (at + seed) % Number(share) !== 0);
}
