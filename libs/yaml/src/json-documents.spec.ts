import fc from 'fast-check';
import { Unparsable } from './parse-yaml';
import { JsonDocuments } from './json-documents';

const limits = { documents: 4, bytes: 1_000 };

/** Returns the documents of a text, whatever the pieces in which it arrives. */
function split(text: string, sizes: readonly number[] = [Infinity]): readonly (readonly [unknown, number, number])[] {
  const documents = new JsonDocuments(limits);
  const bytes = Buffer.from(text, 'latin1');
  const found: (readonly [unknown, number, number])[] = [];
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const size = Math.max(1, sizes[i % sizes.length] ?? 1);
    for (const one of documents.push(bytes.subarray(at, at + size)))
      found.push([JSON.parse(one.bytes.toString()), one.position.line, one.position.column]);
    at += size;
  }
  documents.finish();
  return found;
}

const utf8 = (text: string): string => Buffer.from(text).toString('latin1');

describe('JsonDocuments', () => {
  it.each<[string, string, readonly (readonly [unknown, number, number])[]]>([
    ['nothing', ' \n\t\r\n', []],
    [
      'lines',
      '{"a":1}\n\n {"b":"}\\"{"}\r\n',
      [
        [{ a: 1 }, 1, 1],
        [{ b: '}"{' }, 3, 2],
      ],
    ],
    [
      'no newline at the end',
      '{}\n{}',
      [
        [{}, 1, 1],
        [{}, 2, 1],
      ],
    ],
    ['one object over lines', '{\n "a": [1,\n {"b": 2}]\n}\n', [[{ a: [1, { b: 2 }] }, 1, 1]]],
    [
      'a list',
      '[{"a":1},\n  {"a":2}\n]\n',
      [
        [{ a: 1 }, 1, 2],
        [{ a: 2 }, 2, 3],
      ],
    ],
    ['an empty list', ' [ ]', []],
    ['a byte order mark', utf8('\ufeff{}'), [[{}, 1, 2]]],
    [
      'columns of characters',
      utf8('{"a":"üü"} {}'),
      [
        [{ a: 'üü' }, 1, 1],
        [{}, 1, 12],
      ],
    ],
  ])('finds the objects in %s', (_, text, want) => {
    expect(split(text)).toEqual(want);
    expect(split(text, [1])).toEqual(want);
  });

  it.each([
    ['garbage', 'hello', 'line 1, column 1: a JSON object or a list of objects must stand here, not "h"'],
    ['garbage behind a line', '{}\nhello', 'line 2, column 1: a JSON object must stand here, not "h"'],
    ['NUL', '{}\n\0', 'line 2, column 1: a JSON object must stand here, not the byte 0x00'],
    ['half a line', '{}\n{"a":', 'line 2, column 6: the text ends inside the object that begins at line 2, column 1'],
    ['an open string', '{"a":"', 'line 1, column 7: the text ends inside the object that begins at line 1, column 1'],
    ['an open list', '[{},', 'line 1, column 5: the text ends inside the list'],
    ['a list without a comma', '[{} {}]', 'line 1, column 5: "," or "]" must stand here, not "{"'],
    ['a list of numbers', '[1]', 'line 1, column 2: a JSON object or "]" must stand here, not "1"'],
    ['two lists', '[] []', 'line 1, column 4: nothing more must stand here, not "["'],
    ['a comma between lines', '{},{}', 'line 1, column 3: a JSON object must stand here, not ","'],
    ['too many', '{}{}{}{}\n{}', 'line 2, column 1: there are more than 4 documents'],
    ['a long one', `{}\n{"a":"${'x'.repeat(1_000)}"}`, 'line 2, column 1: the document has more than 1000 bytes'],
  ])('refuses %s, with its place', (_, text, message) => {
    for (const sizes of [[Infinity], [1]]) {
      expect(() => split(text, sizes)).toThrow(Unparsable);
      expect(() => split(text, sizes)).toThrow(message);
    }
  });

  it('finds the same in any pieces', () => {
    const objects = fc.array(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })), { maxLength: 4 });
    fc.assert(
      fc.property(
        objects,
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
        fc.boolean(),
        (values, sizes, list) => {
          const texts = values.map((value) => JSON.stringify(value));
          const text = utf8(list ? `[${texts.join(' ,')}]` : texts.join('\n'));
          if (texts.some((one) => Buffer.byteLength(one) > limits.bytes)) return;
          expect(split(text, sizes).map(([value]) => value)).toEqual(texts.map((one): unknown => JSON.parse(one)));
        },
      ),
    );
  });
});
