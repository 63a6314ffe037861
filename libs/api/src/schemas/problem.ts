import { Type } from 'typebox';
import { component, Integer, strict, Text } from '../schema';

const Violation = Type.Object(
  {
    field: Text,
    reason: Text,
    rule: Type.String({ description: 'Which rule is broken, for programs: required, wrong-type, too-many, ...' }),
  },
  component('Violation', strict),
);

/** The reason of a failed request (RFC 9457). */
export const Problem = Type.Object(
  {
    type: Text,
    title: Text,
    status: Integer,
    detail: Text,
    instance: Text,
    invalid_parameters: Type.Optional(Type.Array(Violation)),
  },
  component('Problem', { description: 'Why a request failed (RFC 9457).', ...strict }),
);
