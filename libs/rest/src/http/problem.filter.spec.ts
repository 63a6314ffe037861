import { InUse, PreconditionFailed } from '@causeway/admission';
import { Unparsable } from '@causeway/yaml';
import { Conflict, FieldPath, Forbidden, Invalid, NotFound, Unavailable } from '@causeway/resources';
import { HttpError } from './http-error';
import { toProblem } from './problem.filter';

describe('problemOf', () => {
  it.each([
    [new NotFound('x'), 404, 'x'],
    [new Forbidden('x'), 403, 'x'],
    [new Conflict('x'), 409, 'x'],
    [new InUse('x'), 409, 'x'],
    [new PreconditionFailed('x'), 412, 'x'],
    [new Unavailable('x'), 503, 'x'],
    [new Unparsable('broken', { line: 1, column: 2 }), 400, 'The body cannot be read: line 1, column 2: broken.'],
    [new Invalid([{ field: 'a', reason: 'b', rule: 'invalid' }]), 422, '1 field breaks a rule'],
    [new HttpError(415, 'x'), 415, 'x'],
    [Object.assign(new Error('too large'), { statusCode: 413 }), 413, 'too large'],
    [new TypeError('password is hunter2'), 500, 'Something went wrong here; the log has it under this instance.'],
    [
      Object.assign(new Error('x'), { statusCode: 500 }),
      500,
      'Something went wrong here; the log has it under this instance.',
    ],
    ['a string', 500, 'Something went wrong here; the log has it under this instance.'],
    [undefined, 500, 'Something went wrong here; the log has it under this instance.'],
  ])('%s → %i', (error, status, detail) => {
    const { problem } = toProblem(error, 'urn:x');
    expect(problem).toMatchObject({ type: '/std-errors', status, detail, instance: 'urn:x' });
    expect(problem.title).not.toBe('Error');
  });

  it('says of writes only that nothing was written', () => {
    const invalid = new Invalid([
      { field: 'a', reason: 'b', rule: 'invalid' },
      { field: 'c', reason: 'd', rule: 'invalid' },
    ]);
    const titleAndDetail = (method: string) => {
      const { title, detail } = toProblem(invalid, 'urn:x', method).problem;
      return [title, detail];
    };
    for (const method of ['PUT', 'PATCH', 'DELETE'])
      expect(titleAndDetail(method)).toEqual(['Invalid resource', '2 fields break rules; nothing was written']);
    for (const method of ['GET', 'POST'])
      expect(titleAndDetail(method)).toEqual(['Invalid request', '2 fields break rules']);
  });

  it('lists every violation', () => {
    const violations = [
      { field: 'a', reason: 'b', rule: 'too-long' },
      { field: 'c', reason: 'd', rule: 'invalid' },
    ] as const;
    expect(toProblem(new Invalid(violations), 'urn:x').problem.invalid_parameters).toEqual(violations);
  });

  it('lists the first hundred of very many violations, and says how many there are', () => {
    const violations = Array.from({ length: 40_000 }, (_, i) => FieldPath.at(`f${i}`).violation('is bad'));
    const { problem } = toProblem(new Invalid(violations), 'urn:x', 'PUT');
    expect(problem.detail).toBe('40000 fields break rules; nothing was written; the first 100 are listed');
    expect(problem.invalid_parameters).toEqual(violations.slice(0, 100));
  });
});
