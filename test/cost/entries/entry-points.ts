import { Prng } from '../../simulation/engine/prng';
import type { EntryPoint } from '../entry-point';
import { bodyEntries } from './bodies';
import { credentialEntries } from './credentials';
import { dnsEntries } from './dns';
import { kdsEntries } from './kds';
import { nameEntries } from './names';
import { restEntries } from './rest';
import { xdsEntries } from './xds';

/** Every place where bytes of others come in; the draw of the seed makes some of the shapes. */
export function entryPoints(seed: number): readonly EntryPoint[] {
  const draw = new Prng(seed);
  return [
    ...nameEntries(draw.fork('names')),
    ...bodyEntries(draw.fork('bodies')),
    ...restEntries(draw.fork('rest')),
    ...kdsEntries(draw.fork('kds')),
    ...dnsEntries(draw.fork('dns')),
    ...credentialEntries(draw.fork('credentials')),
    ...xdsEntries(draw.fork('xds')),
  ];
}
