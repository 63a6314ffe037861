import { Type } from 'typebox';
import { isJsonArray, isJsonObject, type Identity, type JsonValue } from '@causeway/resources';
import { MAX_ITEMS, NonEmpty, strict, Text } from './schema-parts';

const ANY = '*';

/** User of a Secret: one resource of its mesh by kind and name, or all resources of the kind. */
const SecretUser = Type.Object(
  {
    kind: Type.String({ minLength: 1, maxLength: 63, pattern: '^[A-Za-z][A-Za-z0-9]*$', title: 'the name of a kind' }),
    /** Namespace; absent means `default`, which is also that of kinds without namespaces. `*` means all. */
    namespace: Type.Optional(NonEmpty),
    /** Name; `*` means all. */
    name: NonEmpty,
    /** Zone of origin; empty means the global, absent or `*` any. */
    zone: Type.Optional(Text),
  },
  strict,
);

/** Resources that may use a Secret. */
export const SecretUsers = Type.Array(SecretUser, { maxItems: MAX_ITEMS });

/** Whether a list of users includes a resource. Invalid entries include none. Linear in the list. */
export function includesUser(
  users: JsonValue | undefined,
  { kind, zone, namespace, name }: Omit<Identity, 'mesh'>,
): boolean {
  if (!isJsonArray(users)) return false;
  const own = namespace === '' ? 'default' : namespace;
  return users.slice(0, MAX_ITEMS).some((user) => {
    if (!isJsonObject(user) || Object.keys(user).some((field) => !FIELDS.includes(field))) return false;
    return (
      user['kind'] === kind &&
      fits(user['name'], name) &&
      fits(user['namespace'] ?? 'default', own) &&
      fits(user['zone'] ?? ANY, zone)
    );
  });
}

const FIELDS = Object.keys(SecretUser.properties);

function fits(wanted: JsonValue | undefined, value: string): boolean {
  return wanted === ANY || wanted === value;
}
