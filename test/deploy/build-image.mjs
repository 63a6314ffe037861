/**
 * Builds the image's tree without an engine: what the first stage of the Dockerfile copies is copied, what it runs is run, in a folder
 * of its own, so that a file that the Dockerfile forgets is missed here too. Prints where the second stage finds its tree and how large it is.
 *
 *     sh test/node/run.sh 24 …   installs the Node of the image; with it on the PATH:
 *     node test/deploy/build-image.mjs FOLDER      FOLDER must be empty; it is kept
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { Failure, runMain } from '../../scripts/lib/failure.mjs';
import { root } from '../../scripts/lib/root.mjs';

await runMain(async () => {
  const [given] = process.argv.slice(2);
  if (given === undefined) throw new Failure('name an empty folder');
  const folder = resolve(given);
  mkdirSync(folder, { recursive: true });
  if (readdirSync(folder).length > 0) throw new Failure(`${folder} is not empty`);
  const [build, image] = stagesOf(readFileSync(join(root, 'Dockerfile'), 'utf8'));
  let from = folder;
  for (const { name, words } of build) {
    if (name === 'WORKDIR') mkdirSync((from = join(folder, words)), { recursive: true });
    else if (name === 'COPY') copy(words.split(' '), from);
    else if (name === 'RUN') run(words, from);
    else if (name !== 'FROM') throw new Failure(`the first stage has ${name}, which this does not know`);
  }
  const [, source] = image.find(({ name }) => name === 'COPY').words.split(' ');
  const tree = join(folder, source);
  const size = execFileSync('du', ['-sm', tree], { encoding: 'utf8' }).split('\t')[0];
  console.log(`${tree}: ${size} MB, by Node ${process.versions.node}`);
});

/** The instructions of each stage: their name and the rest of the line. */
function stagesOf(text) {
  const lines = text.replaceAll(/\\\n\s*/g, '').split('\n');
  const instructions = lines.flatMap((line) => {
    const [, name, words] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    return name === undefined ? [] : [{ name, words }];
  });
  const second = instructions.findLastIndex(({ name }) => name === 'FROM');
  return [instructions.slice(0, second), instructions.slice(second)];
}

/** As an engine does: files into a folder, the content of a folder into another one. Only what git knows is in the context. */
function copy(words, from) {
  const to = resolve(from, words.at(-1));
  for (const each of words.slice(0, -1)) {
    const known = execFileSync('git', ['ls-files', '-z', '--', each], { cwd: root, encoding: 'utf8' }).split('\0');
    if (known.length < 2) throw new Failure(`COPY ${each}: git knows no such file`);
    for (const file of known.filter(Boolean)) {
      const inside = file === each ? basename(file) : file.slice(each.length + 1);
      cpSync(join(root, file), join(to, inside));
    }
  }
}

function run(command, cwd) {
  console.log(command);
  const { status } = spawnSync('sh', ['-c', command], { cwd, stdio: 'inherit' });
  if (status !== 0) throw new Failure(`"${command}" ended with ${status}`);
}
