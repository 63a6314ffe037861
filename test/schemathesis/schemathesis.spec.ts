import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ControlPlane } from '@causeway/resources';
import { restFixture, ZONE_EAST } from '../rest/rest-fixture';

/** Where `st` is; test/schemathesis/run.sh sets it. */
const PROGRAM = process.env['SCHEMATHESIS'];
const CHECKS = [
  ...['not_a_server_error', 'status_code_conformance', 'content_type_conformance', 'response_headers_conformance'],
  ...['response_schema_conformance', 'unsupported_method', 'allow_header_conformance'],
];

function run(url: string, folder: string): Promise<{ code: number | null; output: string }> {
  const args = ['run', `${url}/openapi.json`, '--checks', CHECKS.join(','), '--phases', 'examples,coverage,fuzzing'];
  const options = [
    '--max-examples',
    process.env['SCHEMATHESIS_EXAMPLES'] ?? '30',
    '--workers',
    '1',
    '--no-color',
    '--no-shrink',
  ];
  return new Promise((resolve, reject) => {
    const child = spawn(PROGRAM ?? 'st', [...args, ...options], { cwd: folder });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
  });
}

const CASES: [string, ControlPlane][] = [
  ['zone', ZONE_EAST],
  ['global', { role: 'global' }],
];

(PROGRAM === undefined ? describe.skip : describe)('schemathesis (test/schemathesis/run.sh)', () => {
  it.each(CASES)(
    'finds nothing on a %s that the document does not describe',
    async (_role, cp) => {
      const rest = await restFixture({ cp, limits: { watchTime: 5 }, insights: { explainHostname: () => ({}) } });
      const folder = mkdtempSync(join(tmpdir(), 'causeway-schemathesis-'));
      try {
        const port = await rest.server.listen('127.0.0.1', 0);
        const { code, output } = await run(`http://127.0.0.1:${port}`, folder);
        // Generated values can be long; what went wrong stands at the start of a line.
        const shown = output.split('\n').map((line) => line.slice(0, 500));
        if (code !== 0) throw new Error(shown.join('\n'));
      } finally {
        rmSync(folder, { recursive: true, force: true });
        await rest.close();
      }
    },
    1_200_000,
  );
});
