import type { DataplaneMode, UnsupportedField } from './shipped-policy';

type FieldReason<Spec> = string | ((spec: Spec) => string);
/** A field, why it is not supported, and whether a spec uses it. */
type Limit<Spec> = readonly [field: string, reason: FieldReason<Spec>, asked: (spec: Spec) => boolean];

/** Dataplane modes that forward bytes without parsing requests, so that policies on requests have no effect. */
const BYTES: Partial<Readonly<Record<DataplaneMode, string>>> = {
  builtin: 'the builtin proxy passes requests on as bytes',
  direct: 'the plane direct leaves connections to the kernel, as bytes',
};

type Limits<Spec> = Partial<Readonly<Record<DataplaneMode, readonly Limit<Spec>[]>>>;

/** Returns a function that lists the unsupported fields of a policy by the limits of each dataplane mode. */
export function unsupportedBy<Spec>(limits: Limits<Spec>) {
  return (plane: DataplaneMode, spec: Spec): readonly UnsupportedField[] =>
    (limits[plane] ?? []).flatMap(([field, reason, asked]) =>
      asked(spec) ? [{ field, reason: typeof reason === 'string' ? reason : reason(spec) }] : [],
    );
}

/**
 * Returns a function that lists the unsupported fields of a policy on requests: all of them if requests are forwarded
 * as bytes, else by the limits of each dataplane mode.
 */
export function unsupportedForRequests<Spec>(limits: Limits<Spec>) {
  const others = unsupportedBy(limits);
  return (plane: DataplaneMode, spec: Spec): readonly UnsupportedField[] => {
    const bytes = BYTES[plane];
    return bytes !== undefined ? [{ field: '', reason: bytes }] : others(plane, spec);
  };
}
