import fc from 'fast-check';
import { RequestFields, TooCostly } from './request';
import { compileExpression } from './regular-expression';

const matches = (expression: string, value: string): boolean | string => {
  const compiled = compileExpression(expression);
  return compiled.ok ? compiled.value.matches(value) : compiled.reason;
};

it('matches the whole value', () => {
  expect(matches('/v[0-9]+(/.*)?', '/v10/x')).toBe(true);
  expect(matches('/v[0-9]+', '/v10/x')).toBe(false);
  expect(matches('^/a$', '/a')).toBe(true);
});

it.each([
  ['(?=a)b', 'is no RE2 expression'],
  ['(a)\\1', 'is no RE2 expression'],
  ['[a-', 'is no RE2 expression'],
  ['a{1001}', 'must repeat at most 1000 times in all'],
  ['((a{100}){100}){100}', 'is no RE2 expression'],
  ['.{900}'.repeat(100), 'must repeat at most 1000 times in all; repeats 90000 times'],
  ['.{500}(ab){300}', 'must compile to at most 1000 instructions'],
  ['a'.repeat(1_025), 'must be at most 1024 characters; has 1025'],
  ['('.repeat(1_000), 'is no RE2 expression'],
])('refuses %s', (expression, reason) => {
  expect(matches(expression, 'a')).toContain(reason);
});

it('agrees with a backtracking engine where both know the syntax', () => {
  const part = fc.constantFrom('a', 'b', '/', '[ab]', '[^a]', '(a|b)', '(ab)', '(?:b|/)', '\\w', '\\d', '\\.', '.');
  const piece = fc.tuple(part, fc.constantFrom('', '*', '+', '?', '{2}', '{1,3}')).map(([a, b]) => a + b);
  const expression = fc.array(piece, { maxLength: 5 }).map((pieces) => pieces.join(''));
  const value = fc.string({ unit: fc.constantFrom('a', 'b', '/', '.', '1'), maxLength: 10 });
  fc.assert(
    fc.property(expression, value, (source, text) => {
      expect(matches(source, text)).toBe(new RegExp(`^(?:${source})$`).test(text));
    }),
    { numRuns: 1_000 },
  );
});

it('all expressions that a question asks have a bound of steps together', () => {
  const compiled = compileExpression('(x{20}y?){20}z');
  const request = {
    protocol: 'http',
    scheme: 'http',
    host: 'h',
    method: 'GET',
    path: '/',
    query: [],
    headers: [],
  } as const;
  const fields = new RequestFields(request);
  const ask = (): boolean => compiled.ok && fields.matches(compiled.value, 'x'.repeat(2_000));
  expect([compiled.ok, ask()]).toEqual([true, false]);
  expect(() => {
    for (let i = 0; i < 100; i += 1) ask();
  }).toThrow(TooCostly);
});

it('compiles an expression once while few others come, and keeps a bounded number', () => {
  const first = compileExpression('kept.*');
  expect(compileExpression('kept.*')).toBe(first);
  for (let i = 0; i < 256; i++) compileExpression(`other-${i}`);
  expect(compileExpression('kept.*')).not.toBe(first);
});
