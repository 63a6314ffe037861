import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ts from 'typescript';

/*
 * Rows are read and written one by one through repositories. Each SQL text in the sources is in the table of ADR 36 with
 * the reason why it is one: by its file, and by the constant or the function that has it.
 */

const REPO = resolve(__dirname, '..', '..', '..');
const ADR = 'docs/adr/0036-repositories.md';
/** A statement, or a statement within a text. */
const SQL =
  /^\s*(BEGIN|COMMIT|ROLLBACK|LISTEN|NOTIFY|DECLARE|FETCH|CLOSE|LOCK|COPY|TRUNCATE|CALL|SET|SHOW|WITH \w+ AS|CREATE|ALTER|DROP) ?\b|\b(SELECT\s|INSERT INTO\s|UPDATE \w+( \w+)?\s+SET\s|DELETE FROM\s)/;

it('a SQL text of the sources is in the table of ADR 36', () => {
  const used = listSources().flatMap((file) => statementNames(file).map((name) => `${file} ${name}`));
  expect([...new Set(used)].sort()).toEqual(listedStatements());
});

it('finds statements in constants, functions, methods and parts of texts', () => {
  const source = [
    'const A = `SELECT 1`;',
    "function f(): string { return 'BEGIN'; }",
    'class C { async m(x: string) { await q(`${x} WITH a AS (DELETE FROM t)`); } }',
    "const g = { d: 'UPDATE leader SET a = 1', e: 'Update the spec, SET of names' };",
    "// 'SELECT 2'\nconst PLAIN = 'a selected row';",
  ].join('\n');
  expect(namesIn('some.ts', source)).toEqual(['A', 'f', 'm', 'g']);
});

function listSources(): readonly string[] {
  const listed = execFileSync('git', ['ls-files', 'apps/*.ts', 'libs/*.ts'], { cwd: REPO, encoding: 'utf8' }).trimEnd();
  return listed.split('\n').filter((file) => file.includes('/src/') && !/\.spec\.ts$|^libs\/proto-gen\//.test(file));
}

function statementNames(file: string): readonly string[] {
  const source = readFileSync(join(REPO, file), 'utf8');
  return /\b(SELECT|INSERT INTO|UPDATE|DELETE FROM|BEGIN|LISTEN|COPY|LOCK|FETCH)\b/.test(source)
    ? namesIn(file, source)
    : [];
}

function namesIn(file: string, source: string): readonly string[] {
  const names: string[] = [];
  const visit = (node: ts.Node, name: string): void => {
    const own = findDeclaredName(node) ?? name;
    const text = ts.isTemplateExpression(node) || ts.isStringLiteralLike(node) ? node.getText().slice(1, -1) : '';
    if (SQL.test(text)) names.push(own);
    ts.forEachChild(node, (child) => visit(child, own));
  };
  visit(ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true), '');
  return names;
}

/** The name of a constant of a file, of a function or of a method. */
function findDeclaredName(node: ts.Node): string | undefined {
  const isNamed = ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node);
  if (isNamed) return node.name?.getText();
  const isConstant = ts.isVariableDeclaration(node) && ts.isSourceFile(node.parent.parent.parent);
  return isConstant ? node.name.getText() : undefined;
}

/** The rows `| file | names | reason |` of the ADR. */
function listedStatements(): readonly string[] {
  const rows = readFileSync(join(REPO, ADR), 'utf8').matchAll(/^\| `(\S+\.ts)` \| ([^|]+) \| [^|]+ \|$/gm);
  return [...rows]
    .flatMap(([, file = '', names = '']) => [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => `${file} ${name}`))
    .sort();
}
