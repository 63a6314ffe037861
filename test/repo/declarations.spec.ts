import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ts from 'typescript';

/*
 * One type name is one idea: a name that two files declare is listed here with its reason, and the list only shrinks.
 *
 * No module keeps state: two control planes in one process, or two test files (tools/jest-runtime.js evaluates a source once a process), would
 * share it. A `WeakMap` of what was computed from an object is none. What else a module keeps is listed with its reason too.
 */

const REPO = resolve(__dirname, '..', '..');
const ADAPTER =
  'a client and the control plane each have their form of one idea; one of them goes with its next rewrite';
const SCHEMA = 'the type of the schema of an operation, beside the type of the domain that it shows';

const REPEATED_TYPES: Readonly<Record<string, string>> = {
  AffectingPolicies: SCHEMA,
  AgentLease: SCHEMA,
  AnsweredCall: ADAPTER,
  ApplyOptions: ADAPTER,
  AuditEntry: SCHEMA,
  Change: ADAPTER,
  DeclaredTarget: SCHEMA,
  DeleteOptions: ADAPTER,
  Output: ADAPTER,
  PolicyImpact: SCHEMA,
  PolicyScopes: SCHEMA,
  Proxy: SCHEMA,
  ProxyFacts: ADAPTER,
  ProxyFault: SCHEMA,
  RequestQuestion: SCHEMA,
  Route: ADAPTER,
  Selection: ADAPTER,
  Servers: ADAPTER,
  ServiceName: SCHEMA,
  Topology: SCHEMA,
  WatchRequest: ADAPTER,
  WorkloadAuthority: SCHEMA,
  WriteResult: ADAPTER,
};

const COMPILED = 'regular expressions by their text: a cache with a bound';

const MODULE_STATE: Readonly<Record<string, string>> = {
  'libs/agent/src/builtin/listen/young-garbage.ts collect': "V8's own function, looked up once",
  'libs/agent/src/builtin/processes/plane-worker.ts planes': 'a program of its own: it lives as long as its process',
  'libs/kds/src/session/synced-kinds.ts UNDECLARED':
    'kinds by the name that a peer gave them: equal names are one object',
  'libs/kinds/src/declared/evaluate-definitions.ts shippedKinds':
    'what a pure function makes of the definitions that ship, one a name: a cache with a bound',
  'libs/resources/src/schema/schema.ts COMPILED': COMPILED,
  'libs/routing/src/rules/regular-expression.ts compilations': COMPILED,
  'libs/store/testing/conformance/store-fixture.ts made': 'counts identities, so that none is used twice',
  'libs/xds-server/src/resources/any.ts idleWriter': 'memory that is written in, of no content',
  'libs/xds-server/src/resources/value-rules.ts compiled': COMPILED,
  'test/support/built-programs.ts namesByTree': 'names of settings in built trees, which do not change',
  'test/support/ends-with-program.ts children': 'those that end with the process',
  'test/support/mesh-processes.ts contexts': 'contexts of TLS by their certificate, which are never changed',
  'test/support/migrated-database.ts template': 'the database that all test files copy, on the one server of the run',
  'test/support/namespace-programs.ts dialers': 'by the namespace that they run in, which a test file makes for itself',
};

/** Sources with test support; without generated code and tests. */
function readSources(...patterns: readonly string[]): readonly ts.SourceFile[] {
  const listed = execFileSync('git', ['ls-files', ...patterns], { cwd: REPO, encoding: 'utf8' })
    .trimEnd()
    .split('\n');
  return listed
    .filter((file) => !/spec\.ts$|^libs\/proto-gen\//.test(file))
    .map((file) => ts.createSourceFile(file, readFileSync(join(REPO, file), 'utf8'), ts.ScriptTarget.Latest, true));
}

const SOURCES = readSources('apps/*.ts', 'libs/*.ts', 'migrations/*.ts');

function declaredTypes(source: ts.SourceFile): readonly string[] {
  return source.statements.flatMap((one) =>
    ts.isInterfaceDeclaration(one) || ts.isTypeAliasDeclaration(one) || ts.isClassDeclaration(one)
      ? (one.name?.text ?? [])
      : [],
  );
}

/** Names of the variables and static fields of a source that keep state. */
function listStates(source: ts.SourceFile): readonly string[] {
  return source.statements.flatMap((one) => {
    if (ts.isVariableStatement(one)) return one.declarationList.declarations.filter(keepsState).map(getName);
    return ts.isClassDeclaration(one) ? one.members.filter(isChangingStatic).map(getName) : [];
  });
}

/** Whether a variable can be assigned to, or is a collection that begins empty and that its type lets change. */
function keepsState(one: ts.VariableDeclaration): boolean {
  if ((one.parent.flags & ts.NodeFlags.Const) === 0) return true;
  if (/^Readonly|^readonly /.test(one.type?.getText() ?? '')) return false;
  const { initializer } = one;
  if (initializer === undefined) return false;
  if (ts.isArrayLiteralExpression(initializer)) return initializer.elements.length === 0;
  return (
    ts.isNewExpression(initializer) && /^(Map|Set)$/.test(initializer.expression.getText()) && isEmpty(initializer)
  );
}

const isEmpty = ({ arguments: given }: ts.NewExpression): boolean => (given?.length ?? 0) === 0;

function isChangingStatic(one: ts.ClassElement): boolean {
  const has = (kind: ts.SyntaxKind): boolean =>
    ts.canHaveModifiers(one) && ts.getModifiers(one)?.some((modifier) => modifier.kind === kind) === true;
  return ts.isPropertyDeclaration(one) && has(ts.SyntaxKind.StaticKeyword) && !has(ts.SyntaxKind.ReadonlyKeyword);
}

const getName = ({ name }: ts.NamedDeclaration): string => name?.getText() ?? '';

it('a type name is declared in one file', () => {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const source of SOURCES)
    for (const name of new Set(declaredTypes(source))) {
      if (seen.has(name)) repeated.add(name);
      seen.add(name);
    }
  expect([...repeated].sort()).toEqual(Object.keys(REPEATED_TYPES).sort());
});

it('no module keeps state', () => {
  const found = [...SOURCES, ...readSources('test/support/*.ts')].flatMap((source) =>
    listStates(source).map((name) => `${source.fileName} ${name}`),
  );
  expect(found.sort()).toEqual(Object.keys(MODULE_STATE).sort());
});
