import { TrialTree } from './trial-tree';

/** Each line breaks the rule it is named with. */
const OFFENDERS: readonly (readonly [rule: string, file: string, source: string])[] = [
  ['no-restricted-syntax', 'libs/x/src/an-enum.ts', `export enum Colour { Red }`],
  ['no-restricted-syntax', 'libs/x/src/a-namespace.ts', `export declare namespace Paint { const red: string }`],
  ['no-restricted-syntax', 'libs/x/src/a-default.ts', `export default 1;`],
  ['no-restricted-syntax', 'libs/x/src/a-star.ts', `export * from './an-enum';`],
  ['no-restricted-syntax', 'libs/x/src/a-banned-name.ts', `export class ZoneManager { readonly a = 1; }`],
  ['no-restricted-syntax', 'libs/x/src/environment.ts', `export const home = process.env['HOME'];`],
  ['no-restricted-syntax', 'libs/x/src/positions.ts', `export const x = { inject: ['a'], useFactory: (a: 1) => a };`],
  [
    'no-restricted-syntax',
    'libs/x/src/a-reload.ts',
    `export const isReload = (event: { readonly reloaded: boolean }): boolean => event.reloaded;`,
  ],
  [
    'no-restricted-syntax',
    'apps/x/src/a-reload.ts',
    `export const isReload = ({ reloaded }: { readonly reloaded: boolean }): boolean => reloaded;`,
  ],
  ['no-restricted-globals', 'libs/x/src/a-timer.ts', `setTimeout(() => undefined, 1);`],
  [
    'max-params',
    'libs/x/src/five.ts',
    `export const five = (a: 1, b: 1, c: 1, d: 1, e: 1): number => a + b + c + d + e;`,
  ],
  ['max-lines', 'libs/x/src/long.ts', `export const a = 1;\n`.repeat(1) + '// line\n'.repeat(400)],
  ['max-lines-per-function', 'libs/x/src/long-function.ts', `export function f(): void {\n${'  f();\n'.repeat(50)}}\n`],
  ['@typescript-eslint/no-explicit-any', 'libs/x/src/an-any.ts', `export let value: any;`],
  [
    '@typescript-eslint/no-non-null-assertion',
    'libs/x/src/a-bang.ts',
    `export const first = (a: string[]): string => a[0]!;`,
  ],
  [
    '@typescript-eslint/consistent-type-assertions',
    'libs/x/src/a-cast.ts',
    `export const cast = (value: unknown): string => value as string;`,
  ],
  [
    '@typescript-eslint/consistent-type-imports',
    'libs/x/src/a-type-import.ts',
    `import { Server } from 'node:http'; export const close = (server: Server): Server => server.close();`,
  ],
  ['causeway/no-literal-spread', 'libs/x/src/spread-object.ts', `export const a = { ...{ b: 1, c: 2 }, d: 3 };`],
  ['causeway/no-literal-spread', 'libs/x/src/spread-list.ts', `export const a = [...['b', 'c'], 'd'];`],
  ['@typescript-eslint/no-floating-promises', 'libs/x/src/floating.ts', `Promise.resolve(1);`],
];

const CLEAN: Readonly<Record<string, string>> = {
  'libs/store/src/a-kit.ts': `export const isReload = ({ reloaded }: { readonly reloaded: boolean }): boolean => reloaded;`,
  'libs/x/src/decode.ts': `export const decoded = (value: unknown): string => value as string;`,
  'libs/x/src/constant.ts': `export const sides = ['left', 'right'] as const;`,
  'libs/runtime/src/clock.ts': `export const later = (work: () => void): unknown => setTimeout(work, 1);`,
  'apps/zone/src/config.ts': `export const home = process.env['HOME'];`,
  'libs/x/src/spread.ts': `export const all = (more?: { b: 1 }): object => ({ a: 1, ...(more ? { b: 2 } : {}) });`,
  'libs/x/src/cast.spec.ts': `export const cast = (value: unknown): string => value as string;`,
};

type Report = readonly {
  readonly filePath: string;
  readonly messages: readonly { readonly ruleId: string | null }[];
}[];

describe('the lint rules', () => {
  const findings = new Map<string, readonly (string | null)[]>();

  beforeAll(() => {
    const tree = new TrialTree({
      ...CLEAN,
      ...Object.fromEntries(OFFENDERS.map(([, file, source]) => [file, source])),
    });
    const report = tree.runJson('eslint/bin/eslint.js', '--format', 'json', 'apps', 'libs') as Report;
    for (const { filePath, messages } of report) {
      findings.set(
        tree.relative(filePath),
        messages.map(({ ruleId }) => ruleId),
      );
    }
    tree.remove();
  });

  it.each(OFFENDERS)('%s fires for %s', (rule, file) => {
    expect(findings.get(file)).toContain(rule);
  });

  it.each(Object.keys(CLEAN))('%s is as it should be', (file) => {
    expect(findings.get(file)).toEqual([]);
  });
});
