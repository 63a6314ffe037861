import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { NamingExample } from './naming-example';
import { pageExamples } from './page-examples';

const page = readFileSync(join(__dirname, '..', '..', 'docs', 'reference', 'naming.md'), 'utf8');
const words = (text: string): string => text.split(/\s+/).join(' ').trim();

describe('docs/reference/naming.md says what happens', () => {
  let zone: NamingExample;
  beforeEach(async () => {
    zone = new NamingExample();
    await zone.start();
  });
  afterEach(() => zone.stop());

  const examples = pageExamples(page).map(({ title, blocks }) => [title, blocks] as const);
  test.each(examples)('%s', async (_, blocks) => {
    for (const block of blocks) {
      const shown = await zone.run(block);
      if (shown !== undefined)
        expect(`line ${block.line}: ${words(shown)}`).toBe(`line ${block.line}: ${words(block.text)}`);
    }
  });
});
