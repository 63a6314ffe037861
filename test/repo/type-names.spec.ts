import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ts from 'typescript';

/*
 * One type name is one idea: a name that two files declare is listed here with its reason, and the list only shrinks.
 */

const REPO = resolve(__dirname, '..', '..');
const ADAPTER =
  'a client and the control plane each have their form of one idea; one of them goes with its next rewrite';
const SCHEMA = 'the type of the schema of an operation, beside the type of the domain that it shows';

const ALLOWED: Readonly<Record<string, string>> = {
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

function declaredTypes(file: string): readonly string[] {
  const source = ts.createSourceFile(file, readFileSync(join(REPO, file), 'utf8'), ts.ScriptTarget.Latest);
  return source.statements.flatMap((one) =>
    ts.isInterfaceDeclaration(one) || ts.isTypeAliasDeclaration(one) || ts.isClassDeclaration(one)
      ? (one.name?.text ?? [])
      : [],
  );
}

it('a type name is declared in one file', () => {
  const listed = execFileSync('git', ['ls-files', 'apps/*.ts', 'libs/*.ts'], { cwd: REPO, encoding: 'utf8' }).trimEnd();
  const files = listed.split('\n').filter((file) => !/\.spec\.ts$|^libs\/proto-gen\//.test(file));
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const file of files)
    for (const name of new Set(declaredTypes(file))) {
      if (seen.has(name)) repeated.add(name);
      seen.add(name);
    }
  expect([...repeated].sort()).toEqual(Object.keys(ALLOWED).sort());
});
