import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getRegistry } from '@causeway/meshes';
import type { Writer } from '@causeway/resources/testing';
import { references } from '../support/schema-references';
import { shippedKinds, TrafficZone } from '../support/traffic-zone';

/**
 * docs/reference/references.md lists every reference that a resource can carry. The registry is walked, with the kinds that definitions declare: each
 * field in the form of a reference must be in the table, and each row of the table must be in a schema.
 */

const PAGE = join(__dirname, '../../docs/reference/references.md');
const ROLES: Readonly<Record<Writer, string>> = { owner: 'service-owner', operator: 'mesh-operator', admin: 'admin' };
interface Row {
  readonly kinds: readonly string[];
  readonly fields: readonly string[];
  readonly writer: string;
  readonly gives: string;
  readonly check: string;
}

function rows(): readonly Row[] {
  const codes = (cell: string): readonly string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
  return readFileSync(PAGE, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => {
      const [kinds = '', fields = '', writer = '', gives = '', check = ''] = line
        .split('|')
        .slice(1)
        .map((cell) => cell.trim());
      return { kinds: codes(kinds), fields: codes(fields), writer, gives, check };
    });
}

/** Matches a path against a pattern, in which `…` stands for any part. */
function fits(pattern: string, path: string): boolean {
  const parts = pattern.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`).test(path);
}

describe('docs/reference/references.md', () => {
  const registry = getRegistry(new TrafficZone(shippedKinds()).index);
  const found = registry.kinds.flatMap((kind) =>
    [...new Set(references(JSON.parse(JSON.stringify(kind.spec))))].map((path) => ({ kind, path })),
  );

  it('walks declared kinds and those of the product', () => {
    expect(registry.kind('AccessPolicy')).toBeDefined();
    expect(found.map(({ kind, path }) => `${kind.name}.${path}`)).toEqual(
      expect.arrayContaining(['MeshExternalService.tls.verification.caCert.secret', 'AccessPolicy.targetRefs[]']),
    );
  });

  it('has each reference of each kind once, with who writes it', () => {
    const wrong = found.flatMap(({ kind, path }) => {
      const fitting = rows().filter(
        ({ kinds, fields }) => kinds.includes(kind.name) && fields.some((field) => fits(field, path)),
      );
      const writer = ROLES[kind.writer];
      if (fitting.length === 1 && fitting[0]?.writer === writer) return [];
      return [`${kind.name} ${path}: ${fitting.length} rows, written by ${writer}`];
    });
    expect(wrong).toEqual([]);
  });

  it('has no row of nothing, and none that does not say what it gives and what checks it', () => {
    const idle = rows().flatMap(({ kinds, fields, gives, check }) => [
      ...kinds.flatMap((name) =>
        fields
          .filter((field) => !found.some(({ kind, path }) => kind.name === name && fits(field, path)))
          .map((field) => `${name} ${field}`),
      ),
      ...(gives === '' || check === '' ? [`${kinds.join()} ${fields.join()}: empty`] : []),
    ]);
    expect(idle).toEqual([]);
  });
});
