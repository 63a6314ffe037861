import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getRegistry } from '@causeway/meshes';
import type { Writer } from '@causeway/resources/testing';
import { shippedKinds, TrafficZone } from '../support/traffic-zone';

/* The table of built-in roles in docs/guides/access.md names every kind that a role writes, by `writer` of its definition. */

const ROLES: readonly (readonly [role: string, writer: Writer])[] = [
  ['service-owner', 'owner'],
  ['mesh-operator', 'operator'],
  ['admin', 'admin'],
];
const page = readFileSync(join(__dirname, '../../docs/guides/access.md'), 'utf8');
const { kinds } = getRegistry(new TrafficZone(shippedKinds()).index);

/** Returns the kinds that the last cell of a role's row names. */
function writesOf(role: string): ReadonlySet<string> {
  const row = page.split('\n').find((line) => line.startsWith(`| \`${role}\` |`)) ?? '';
  return new Set(row.split('|')[3]?.match(/\b[A-Z]\w+\b/g));
}

describe('docs/guides/access.md', () => {
  it.each(ROLES)('says what %s writes', (role, writer) => {
    const written = kinds.filter((kind) => kind.writer === writer).map(({ name }) => name);
    const named = writesOf(role);
    expect(written.filter((name) => !named.has(name))).toEqual([]);
    const others = kinds.filter((kind) => kind.writer !== writer).map(({ name }) => name);
    expect(others.filter((name) => named.has(name))).toEqual([]);
  });
});
