import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sharedHelp, sharedSettings } from '@causeway/control-plane';
import { settingsSchema, settingsTable, type DescribedSettings } from '@causeway/control-plane/testing';
import { agentVariables, readEnvironment } from '../../apps/agent/src/config';
import { cliVariables, readCliConfig } from '../../apps/ctl/src/config';
import { globalProgram } from '../../apps/global/src/config';
import { zoneProgram } from '../../apps/zone/src/config';

const ROOT = join(__dirname, '..', '..');
const PAGE = join(ROOT, 'docs', 'reference', 'settings.md');

const shared: DescribedSettings = { description: '', settings: sharedSettings, help: sharedHelp };

/** The page with its generated parts made anew. */
function made(page: string): string {
  const parts = {
    shared: settingsTable(shared),
    global: settingsTable(globalProgram, sharedSettings),
    zone: settingsTable(zoneProgram, sharedSettings),
    agent: variablesTable(agentVariables),
    causeway: variablesTable(cliVariables),
  };
  return Object.entries(parts).reduce((text, [name, table]) => {
    const [before = '', rest = ''] = text.split(`<!-- ${name} -->`);
    const [, after = ''] = rest.split(`<!-- end of ${name} -->`);
    return `${before}<!-- ${name} -->\n\n${table}\n\n<!-- end of ${name} -->${after}`;
  }, page);
}

function variablesTable(variables: Readonly<Record<string, string>>): string {
  const rows = Object.entries(variables).map(([name, help]) => `| \`${name}\` | ${help} |`);
  return ['| variable | |', '| --- | --- |', ...rows].join('\n');
}

/** The variables that a function asks its environment for. */
function askedBy(read: (env: Readonly<Record<string, string | undefined>>) => unknown): readonly string[] {
  const asked = new Set<string>();
  read(
    new Proxy<Readonly<Record<string, string | undefined>>>(
      {},
      {
        get: (_, name) => {
          if (typeof name === 'string') asked.add(name);
          return undefined;
        },
      },
    ),
  );
  return [...asked].filter((name) => !['PATH', 'HOME', 'XDG_CONFIG_HOME', 'XDG_STATE_HOME'].includes(name)).sort();
}

describe('the reference of settings', () => {
  it('is what the programs declare (UPDATE_GOLDEN=1 writes it)', () => {
    const page = readFileSync(PAGE, 'utf8');
    if (process.env['UPDATE_GOLDEN']) writeFileSync(PAGE, made(page));
    expect(readFileSync(PAGE, 'utf8')).toBe(made(page));
  });

  it.each([
    ['global', globalProgram],
    ['zone', zoneProgram],
  ])('has the schema of the file of a %s (UPDATE_GOLDEN=1 writes it)', (name, program) => {
    const [path, schema] = [join(ROOT, 'deploy', 'schemas', `${name}.schema.json`), settingsSchema(program)];
    // The formatter lays it out.
    if (process.env['UPDATE_GOLDEN']) writeFileSync(path, JSON.stringify(schema, undefined, 2));
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(JSON.parse(JSON.stringify(schema)));
  });

  it('names each variable that the command line tool and the agent ask for', () => {
    expect(askedBy(readCliConfig)).toEqual(Object.keys(cliVariables).sort());
    expect(askedBy(readEnvironment)).toEqual(Object.keys(agentVariables).sort());
  });
});
