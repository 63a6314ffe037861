import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { globalIdentity, isJsonObject, type JsonObject } from '@causeway/resources';
import { MeshApi, type Answer } from './mesh-api';

interface Case {
  readonly row: string;
  readonly case: string;
  readonly spec?: JsonObject;
  /** Put over `spec` by a second write. */
  readonly then?: JsonObject;
  /** Fields of the last spec that are filled up to a number of characters, with `with` or an `a`. */
  readonly pad?: Readonly<Record<string, number>>;
  readonly with?: string;
  /** The fields for which the last write is refused; absent if it is accepted. */
  readonly refused?: readonly string[];
}

const cases: readonly Case[] = parse(readFileSync(join(__dirname, 'testdata/xmesh-validation.yaml'), 'utf8'));

function padded(spec: JsonObject, { pad = {}, with: letter = 'a' }: Case): JsonObject {
  const filled = Object.entries(pad).map(([field, length]) => {
    const { [field]: given } = spec;
    const text = typeof given === 'string' ? given : '';
    return [field, text + letter.repeat(length - [...text].length)] as const;
  });
  return { ...spec, ...Object.fromEntries(filled) };
}

function fieldsOf({ body }: Answer): readonly unknown[] {
  const parameters: readonly unknown[] = body.invalid_parameters ?? [];
  return parameters.map((one) => (isJsonObject(one) ? one['field'] : one));
}

describe('what the schema of XMesh says', () => {
  let api: MeshApi;
  beforeAll(async () => void (api = await MeshApi.open()));
  afterAll(() => api.close());

  const put = (name: string, spec: JsonObject | undefined): Promise<Answer> =>
    api.ask('PUT', `/xmeshes/${name}`, {
      apiVersion: 'gateway.networking.x-k8s.io/v1alpha1',
      kind: 'XMesh',
      metadata: { name },
      ...(spec ? { spec } : {}),
    });

  it.each(cases.map((one, i) => [`${one.row} ${one.refused ? 'refuses' : 'takes'} ${one.case}`, one, i] as const))(
    '%s',
    async (_, input, i) => {
      const name = `m${i}`;
      const { spec, then, refused } = input;
      if (then) expect((await put(name, spec)).status).toBe(201);
      const before = await api.revision();
      const last = then ?? spec;
      const wanted = last && padded(last, input);
      const answer = await put(name, wanted);
      const stored = await api.store.get(globalIdentity('Mesh', name));
      if (refused) {
        expect([answer.status, fieldsOf(answer)]).toEqual([422, refused]);
        expect([await api.revision(), stored?.spec]).toEqual([before, then ? spec : undefined]);
      } else {
        expect([answer.status, stored?.spec]).toEqual([then ? 200 : 201, wanted]);
      }
    },
  );
});
