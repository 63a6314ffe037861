import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** Sections of the manual: commands of users, and programs of administrators. */
const PAGES = [
  { name: 'causeway', program: 'ctl', section: 1, about: 'looks at and changes a Causeway control plane' },
  { name: 'causeway-agent', program: 'agent', section: 8, about: 'runs the services of a machine in a Causeway mesh' },
  { name: 'causeway-global', program: 'global', section: 8, about: 'the global control plane of Causeway' },
  { name: 'causeway-zone', program: 'zone', section: 8, about: 'the control plane of a Causeway zone' },
];

/** Makes the pages of the manual from the help of the programs of a built tree: `{name, section, text}` of each, in roff. */
export function makeManPages(tree, version) {
  return PAGES.map(({ name, program, section, about }) => {
    const help = (...words) => readHelp(join(tree, 'apps', program, 'src', 'main.js'), words);
    const main = help();
    const parts = commandsIn(main).map((command) => part(`${name} ${command}`, help(command)));
    const text = [
      `.TH ${name.toUpperCase()} ${section} "" "Causeway ${version}" "Causeway"`,
      '.SH NAME',
      `${escaped(name)} \\- ${about}`,
      part(name, main),
      ...parts,
      '.SH SEE ALSO',
      PAGES.filter((one) => one.name !== name)
        .map((one) => `.BR ${escaped(one.name)} (${one.section})`)
        .join(',\n'),
    ];
    return { name, section, text: `${text.join('\n')}\n` };
  });
}

function readHelp(main, words) {
  const env = { ...process.env, COLUMNS: '78' };
  return execFileSync(process.execPath, [main, ...words, '--help'], { encoding: 'utf8', env });
}

/** Returns the commands that a help lists below its headings: a name, then its arguments or its description. */
function commandsIn(help) {
  if (!help.startsWith('Usage:')) return [];
  const names = [...help.matchAll(/^ {2}([a-z][a-z-]*)(?= |$)/gm)].map(([, name]) => name);
  return [...new Set(names)].filter((name) => name !== 'help');
}

/** A section with the text of a help as it stands. */
function part(title, help) {
  const lines = help.trimEnd().split('\n').map(escaped);
  return [`.SH "${escaped(title).toUpperCase()}"`, '.nf', ...lines, '.fi'].join('\n');
}

/** A line that roff shows as it is. */
function escaped(line) {
  return line
    .replace(/\\/g, '\\e')
    .replace(/-/g, '\\-')
    .replace(/^([.'])/, '\\&$1');
}
