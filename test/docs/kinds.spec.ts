import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { coreKinds } from '@causeway/kinds';
import { FieldPath } from '@causeway/resources';
import { kindSection, kindsOverview } from './kinds-page';
import { pageExamples } from './page-examples';

const PAGE = join(__dirname, '..', '..', 'docs', 'reference', 'kinds.md');
const BEGIN = '<!-- kinds: UPDATE_GOLDEN=1 npx jest test/docs/kinds.spec.ts -->';

/** The page with everything behind its introduction made anew. */
function made(page: string): string {
  const [introduction = ''] = page.split(BEGIN);
  const sections = coreKinds.kinds.map(kindSection);
  return `${[`${introduction}${BEGIN}`, kindsOverview(coreKinds.kinds), ...sections].join('\n\n')}\n`;
}

describe('docs/reference/kinds.md', () => {
  it('says what the registry says', () => {
    const page = readFileSync(PAGE, 'utf8');
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(PAGE, made(page));
    else expect(page).toBe(made(page));
  });

  it('has examples that are valid', () => {
    const examples = pageExamples(readFileSync(PAGE, 'utf8')).flatMap(({ title, blocks }) =>
      blocks.map(({ text }) => ({ title, document: decode(text) })),
    );
    expect(examples.length).toBeGreaterThan(20);
    for (const { title, document } of examples) {
      const kind = coreKinds.kinds.find(({ name }) => name === title);
      expect({ title, violations: kind?.check(document.spec, FieldPath.at('spec')).first }).toEqual({
        title,
        violations: [],
      });
    }
  });
});

function decode(text: string): { readonly spec: unknown } {
  const document: unknown = parse(text);
  if (typeof document !== 'object' || document === null || !('spec' in document)) throw new Error(`no spec: ${text}`);
  return { spec: document.spec };
}
