import { ApiError, type ApiClient } from '@causeway/api-client';
import { declaredKind, MetaresourceDefinition } from '@causeway/kinds';
import {
  isJsonObject,
  ownField,
  type JsonObject,
  type Kind,
  type KindSource,
  type Registry,
} from '@causeway/resources';
import { listAt, textAt } from './render';

/** The kinds that the MetaresourceDefinitions of a control plane declare; read when a word names no built-in kind. */
export class DeclaredKinds implements KindSource {
  version = 0;
  kinds: readonly Kind[] = [];

  /**
   * Reads the declared kinds if `nouns` has a word that `registry` does not know. A caller without the right to read definitions gets none. Throws
   * ApiError if the control plane does not answer.
   */
  async learn(registry: Registry, nouns: readonly string[], api: () => Promise<ApiClient>): Promise<void> {
    if (this.version > 0 || nouns.every((noun) => noun === '' || registry.noun(noun.toLowerCase()))) return;
    this.kinds = await declaredBy(await api());
    this.version += 1;
  }
}

async function declaredBy(api: ApiClient): Promise<readonly Kind[]> {
  try {
    const { documents } = await api.list({ kind: MetaresourceDefinition.name });
    return documents.flatMap((document) => readDeclaredKind(document) ?? []);
  } catch (error) {
    // The caller may not read definitions, or the control plane is of an older version without that kind.
    if (
      error instanceof ApiError &&
      (error.code === 'forbidden' || error.code === 'not-found' || error.code === 'invalid')
    )
      return [];
    throw error;
  }
}

/** Returns the kind that a stored definition declares; undefined if it is invalid. */
function readDeclaredKind(document: JsonObject): Kind | undefined {
  const [spec, status] = [ownField(document, 'spec'), ownField(document, 'status')];
  const isRefused = listAt(isJsonObject(status) ? status : {}, 'conditions').some(
    (each) => textAt(each, 'type') === 'Accepted' && textAt(each, 'status') === 'False',
  );
  return isRefused || !MetaresourceDefinition.isSpec(spec) ? undefined : declaredKind(textAt(document, 'name'), spec);
}

/** A pseudo-noun that stands for all declared kinds. */
export const ANY_KIND = '*';

/** Returns the words of a command line that may be nouns: `KIND[,KIND...] NAME...`, or `KIND/NAME...`. */
export function nounsIn(operands: readonly string[]): readonly string[] {
  const [first = ''] = operands;
  if (!operands.some((word) => word.includes('/'))) return first.split(',');
  return operands.map((word) => word.split('/')[0] ?? '');
}
