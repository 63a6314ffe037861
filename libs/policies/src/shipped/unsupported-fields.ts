import type { Plane, UnsupportedField } from './shipped-policy';

type Reason<Spec> = string | ((spec: Spec) => string);
/** A field, why it cannot be done, and whether a spec asks for it. */
type Limit<Spec> = readonly [field: string, reason: Reason<Spec>, asked: (spec: Spec) => boolean];

/** Planes that pass bytes on without a look at requests, so that no policy on requests can hold there. */
const BYTES: Partial<Readonly<Record<Plane, string>>> = {
  builtin: 'the builtin proxy passes requests on as bytes',
  direct: 'connections are led in the kernel, as bytes',
};

type Limits<Spec> = Partial<Readonly<Record<Plane, readonly Limit<Spec>[]>>>;

/** What of a policy the planes cannot do: what their limits say. */
export function unsupportedBy<Spec>(limits: Limits<Spec>) {
  return (plane: Plane, spec: Spec): readonly UnsupportedField[] =>
    (limits[plane] ?? []).flatMap(([field, reason, asked]) =>
      asked(spec) ? [{ field, reason: typeof reason === 'string' ? reason : reason(spec) }] : [],
    );
}

/** What of a policy on requests the planes cannot do: all of it where requests are bytes, else what their limits say. */
export function unsupportedForRequests<Spec>(limits: Limits<Spec>) {
  const others = unsupportedBy(limits);
  return (plane: Plane, spec: Spec): readonly UnsupportedField[] => {
    const bytes = BYTES[plane];
    return bytes !== undefined ? [{ field: '', reason: bytes }] : others(plane, spec);
  };
}
