import tseslint from 'typescript-eslint';
import { noLiteralSpread } from './tools/eslint-no-literal-spread.mjs';

const TYPESCRIPT = ['**/*.ts'];
const SCRIPTS = ['**/*.{js,cjs,mjs}'];
const TESTS = ['**/*.spec.ts', '**/*.e2e-spec.ts', 'test/**/*.ts', 'libs/store/testing/conformance/**/*.ts'];

// Words that name no idea (docs/glossary.md has the ones that do). TypeORM's DataSource is TypeORM's.
const BANNED_WORDS =
  '/(^|[a-z0-9])(Managers?|Helpers?|Utils?|Common|Base|Abstract|Processors?|Data(?!Source)|Info)(?![a-z0-9])/';
const BANNED_NAME =
  'A name with Manager, Helper, Util, Common, Base, Abstract, Processor, Data or Info hides an unfinished idea.';

const LANGUAGE = [
  { selector: 'TSEnumDeclaration', message: 'Use a union of string literals.' },
  { selector: 'TSModuleDeclaration', message: 'Use a file: namespaces are not for us.' },
  { selector: 'ExportDefaultDeclaration', message: 'Export by name.' },
  {
    selector: 'Property[key.name="inject"][value.type="ArrayExpression"]',
    message: 'Name what a factory gets: provideFrom or injectFrom of @causeway/runtime.',
  },
  { selector: 'ExportAllDeclaration', message: 'List what you export: `export *` hides it.' },
  ...[
    'ClassDeclaration',
    'FunctionDeclaration',
    'TSInterfaceDeclaration',
    'TSTypeAliasDeclaration',
    'ExportNamedDeclaration > VariableDeclaration > VariableDeclarator',
  ].map((kind) => ({ selector: `${kind} > Identifier[name=${BANNED_WORDS}].id`, message: BANNED_NAME })),
];
const ENVIRONMENT = {
  selector: "MemberExpression[object.name='process'][property.name='env']",
  message: 'Only apps/*/config.ts reads the environment; pass plain objects down.',
};
const RELOADED_MESSAGE =
  'Follow the index by DerivedTable, or by followIndex of @causeway/store: they tell a reload from a change (CONTRIBUTING.md, Add a derived table).';
const RELOADED = [
  { selector: 'MemberExpression[property.name="reloaded"]', message: RELOADED_MESSAGE },
  { selector: 'ObjectPattern > Property[key.name="reloaded"]', message: RELOADED_MESSAGE },
];
/** The kit itself; and who ends with the load that it was of: a term's loops, a watch. */
const READERS_OF_RELOADED = [
  'libs/store/src/**/*.ts',
  'libs/loops/src/runner/loop-runner.ts',
  'libs/queries/src/watch/watch.ts',
];
const TIMERS = ['setTimeout', 'setInterval', 'setImmediate'].map((name) => ({
  name,
  message: 'Take a Clock from @causeway/runtime: a test must be able to drive time.',
}));
const SIZE = {
  'max-lines': ['error', { max: 400 }],
  'max-lines-per-function': ['error', { max: 50, skipComments: true, skipBlankLines: true }],
  'max-params': ['error', { max: 4 }],
};

const SHORT_LIMITS = [
  ['/^(it|test|beforeAll|beforeEach|afterAll|afterEach)$/', 300_000],
  ['until', 120_000],
].map(([name, least]) => ({
  selector: `CallExpression[callee.name=${name}] > Literal[value<${least}]`,
  message: `A busy machine is no failure: a test may take 300 s, and until() waits for 120 s (less than ${least} ms).`,
}));

const PLAIN_LITERALS = {
  plugins: { causeway: { rules: { 'no-literal-spread': noLiteralSpread } } },
  rules: { 'causeway/no-literal-spread': 'error' },
};

export default tseslint.config(
  { ignores: ['**/dist', '**/node_modules', 'coverage', '.causeway', '.proto-deps', 'libs/proto-gen/src/gen'] },
  { files: [...TYPESCRIPT, ...SCRIPTS], ...PLAIN_LITERALS },
  {
    files: TYPESCRIPT,
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      ...SIZE,
      eqeqeq: 'error',
      'no-console': 'error',
      'no-restricted-globals': ['error', ...TIMERS],
      'no-restricted-syntax': ['error', ...LANGUAGE, ENVIRONMENT, ...RELOADED],
      '@typescript-eslint/consistent-type-assertions': ['error', { assertionStyle: 'never' }],
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-empty-object-type': ['error', { allowInterfaces: 'with-single-extends' }],
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/require-await': 'off', // `async` also turns a throw into a rejection
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    },
  },
  {
    files: ['**/*decode.ts'], // the border, where `unknown` becomes a type
    rules: { '@typescript-eslint/consistent-type-assertions': 'off' },
  },
  {
    files: READERS_OF_RELOADED,
    rules: { 'no-restricted-syntax': ['error', ...LANGUAGE, ENVIRONMENT] },
  },
  {
    files: ['libs/runtime/src/**/*.ts', 'apps/**/*.ts', 'bench/**/*.ts'],
    rules: { 'no-restricted-globals': 'off' },
  },
  {
    files: ['apps/*/src/config.ts', 'bench/**/*.ts'],
    rules: { 'no-restricted-syntax': ['error', ...LANGUAGE] },
  },
  {
    files: ['apps/ctl/**/*.ts', 'apps/agent/**/*.ts', 'bench/**/*.ts'],
    rules: { 'no-console': 'off' },
  },
  {
    files: ['libs/proto-gen/src/**/*.ts'], // generated names are not ours
    rules: { 'no-restricted-syntax': ['error', ...LANGUAGE.filter(({ message }) => message !== BANNED_NAME)] },
  },
  {
    files: TESTS,
    rules: {
      'max-lines': 'off',
      'max-lines-per-function': 'off',
      'no-console': 'off',
      'no-restricted-globals': 'off',
      'no-restricted-syntax': ['error', ...LANGUAGE, ...SHORT_LIMITS],
      '@typescript-eslint/consistent-type-assertions': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/unbound-method': 'off',
    },
  },
  {
    files: SCRIPTS,
    rules: {
      ...SIZE,
      eqeqeq: 'error',
      'no-unused-vars': 'error',
      'no-unreachable': 'error',
      'prefer-const': 'error',
    },
  },
);
