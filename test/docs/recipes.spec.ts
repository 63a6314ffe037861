import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '..', '..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

describe('the recipes of CONTRIBUTING.md', () => {
  it('show code that a test or a control plane runs', () => {
    const blocks = [...read('CONTRIBUTING.md').matchAll(/```ts\n([^]*?)\n```/g)].map(([, code]) => code);
    expect(blocks).toHaveLength(3);
    const files = [
      'libs/loops/src/reconcile/keyed-reconciler.spec.ts',
      'libs/store/src/derived/recipe.spec.ts',
      'apps/control-plane/src/api/audit.module.ts',
    ];
    const tested = files.map(read).join('\n');
    expect(blocks.filter((code) => code === undefined || !tested.includes(code))).toEqual([]);
  });

  it('name files that exist', () => {
    const named = new Set(
      read('CONTRIBUTING.md').match(/\b(?:libs|apps|test|scripts|migrations|bench)\/[\w./-]+\.(?:ts|mjs|md)\b/g),
    );
    for (const file of named) if (!file.includes('NNNN')) expect(read(file)).not.toBe('');
  });
});
