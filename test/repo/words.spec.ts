import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';

/*
 * Words of our own that a word of the field has replaced (docs/glossary.md): nothing that ships, and no page, brings them back.
 */

const REPO = resolve(__dirname, '..', '..');
const REPLACED = ['told', 'untold'];
const PLACES = ['libs', 'apps', 'docs', 'proto', 'README.md', 'CONTRIBUTING.md'];

/** The lines of these places that have one of the words. */
function linesWith(words: readonly string[], places: readonly string[]): readonly string[] {
  try {
    const args = ['grep', '--untracked', '-nwE', words.join('|'), '--', ...places];
    return execFileSync('git', args, { cwd: REPO, encoding: 'utf8' }).trimEnd().split('\n');
  } catch (error) {
    // `git grep` ends with 1 if it finds nothing.
    if (error instanceof Error && 'status' in error && error.status === 1) return [];
    throw error;
  }
}

it('finds a word that is there', () => {
  expect(linesWith(['Causeway'], ['README.md'])).not.toEqual([]);
});

it('words that were replaced do not come back', () => {
  expect(linesWith(REPLACED, PLACES)).toEqual([]);
});

/** Libs and programs whose functions are not renamed yet. */
const NOT_RENAMED = ['libs/rest', 'libs/queries', 'libs/api', 'libs/grpc-api', 'libs/proto-gen'];

it('functions are verb and noun: none is called xOf', () => {
  const pattern = '^(export )?(async )?function[*]? [a-z][A-Za-z]*Of[(<]';
  const args = ['grep', '--untracked', '-nE', pattern, '--', 'libs/*.ts', 'apps/*.ts'];
  const lines = execFileSync('git', args, { cwd: REPO, encoding: 'utf8' }).trimEnd().split('\n');
  // `oneOf` and `anyOf` are words of JSON Schema; predicates keep their `Of`.
  const allowed = /function (oneOf|anyOf|(is|has)[A-Z][A-Za-z]*Of)\b|\.spec\.ts:/;
  expect(
    lines.filter((line) => !allowed.test(line) && !NOT_RENAMED.some((place) => line.startsWith(`${place}/`))),
  ).toEqual([]);
});
