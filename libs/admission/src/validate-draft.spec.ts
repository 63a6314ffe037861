import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { coreKinds } from '@causeway/kinds';
import { Invalid, type ControlPlane } from '@causeway/resources';
import { DEFAULT_MESH_OWNER } from '@causeway/meshes';
import { decodeDocument } from './document/decode-document';
import type { WriteTarget } from './document/document';
import { configuredFields } from './mesh-rules';
import { validateDraft, type ValidatedDraft } from './validate-draft';

const testdata = join(__dirname, '../testdata');
const east: ControlPlane = { role: 'zone', zone: 'east', federated: true };

interface Case {
  readonly case: string;
  readonly on?: 'global';
  readonly address?: {
    readonly kind: string;
    readonly mesh?: string;
    readonly namespace?: string;
    readonly name: string;
  };
  readonly document: unknown;
}

function validated({ on, address, document }: Case): ValidatedDraft {
  const { kind: kindName, ...rest } = address ?? { kind: '' };
  const kind = coreKinds.kind(kindName);
  const target: WriteTarget = { ...rest, ...(kind ? { kind } : {}) };
  const decoded = decodeDocument(coreKinds, document, target);
  return validateDraft(decoded, on === 'global' ? { role: 'global' } : east, configuredFields(DEFAULT_MESH_OWNER));
}

function reportOf(input: Case): unknown {
  try {
    const { id, labels, spec, violations, warnings } = validated(input);
    if (violations.total > 0) throw new Invalid(violations);
    return { stored: { ...id, labels, spec }, ...(warnings.length > 0 ? { warnings } : {}) };
  } catch (error) {
    if (error instanceof Invalid) return { refused: error.violations.map((v) => `${v.field}: ${v.reason}`) };
    throw error;
  }
}

describe('the violations and warnings of documents', () => {
  const inputs = readdirSync(testdata).filter((file) => file.endsWith('.input.yaml'));

  it.each(inputs)('%s', (file) => {
    const cases: readonly Case[] = parse(readFileSync(join(testdata, file), 'utf8'));
    const actual = cases.map((input) => ({ case: input.case, ...Object(reportOf(input)) }));
    const golden = join(testdata, file.replace('.input.', '.golden.'));
    if (process.env['UPDATE_GOLDEN'] === '1') {
      writeFileSync(golden, stringify(actual, { lineWidth: 0, aliasDuplicateObjects: false }));
    }
    expect(actual).toEqual(parse(readFileSync(golden, 'utf8')));
  });
});
