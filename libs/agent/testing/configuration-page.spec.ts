import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { AGENT_METRICS } from './metrics-page';
import { configurationTable } from './configuration-page';
import { checkConfig } from '../src/config/read-config';

const ROOT = join(__dirname, '..', '..', '..');
const PAGE = join(ROOT, 'docs/reference/agent.md');
const [BEGIN, END] = ['<!-- fields -->', '<!-- end of fields -->'];

describe('the documents of the configuration of an agent', () => {
  it('have the table of the schema (UPDATE_GOLDEN=1 writes it)', () => {
    const page = readFileSync(PAGE, 'utf8');
    const [before = '', rest = ''] = page.split(BEGIN);
    const after = rest.split(END)[1] ?? '';
    const wanted = `${before}${BEGIN}\n\n${configurationTable()}\n\n${END}${after}`;
    if (process.env['UPDATE_GOLDEN']) writeFileSync(PAGE, wanted);
    expect(readFileSync(PAGE, 'utf8')).toBe(wanted);
  });

  it('name each metric of the agent', () => {
    const page = readFileSync(PAGE, 'utf8');
    for (const { name, help } of AGENT_METRICS) expect(page).toContain(`| \`${name}\` | ${help} |`);
  });

  it.each(['docs/guides/agent.md', 'docs/guides/capture.md', 'docs/reference/agent.md'])(
    'show examples in %s that are valid',
    (file) => {
      const text = readFileSync(join(ROOT, file), 'utf8');
      const examples = [...text.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, yaml = '']) => yaml);
      expect(examples.length).toBeGreaterThan(0);
      for (const example of examples) expect(checkConfig(parse(example))).toMatchObject({ ok: true });
    },
  );
});
