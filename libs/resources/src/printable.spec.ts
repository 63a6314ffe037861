import { escapedLine, escapedLines, escapedYaml, hasUnprintable, printableText } from './printable';

/** Characters that move a cursor, set a title, hide text or turn its direction. */
const HOSTILE = [
  '\u001b]0;owned\u0007',
  '\u001b[2J\u001b[31m',
  '\u009b31m',
  '\u009d0;owned\u009c',
  '\u202Egnp.exe',
  '\u2066a\u2069',
  '\u200Fa',
  'a\rb',
  'a\u0008b',
  '\u{E0041}',
  '\uD800',
  '\u2028a',
  '\uFEFF',
];
const RAW = /[\p{Cc}\p{Cs}\p{Cf}\p{Zl}\p{Zp}]/u;

describe('printable texts', () => {
  it.each(HOSTILE)('%j has nothing left that a terminal obeys', (text) => {
    expect(hasUnprintable(text)).toBe(true);
    for (const made of [printableText(text, 100), escapedLine(text), escapedLines(text)]) expect(made).not.toMatch(RAW);
    const json = escapedLines(JSON.stringify({ text }));
    expect(json).not.toMatch(RAW);
    expect(JSON.parse(json)).toEqual({ text });
  });

  it('what people write stays as it is', () => {
    const text = 'Größe 日本 😀 👩‍👩‍👧 می‌خواهم "x"';
    expect([printableText(text, 100), escapedLine(text), escapedLines(text), escapedYaml(text)]).toEqual(
      Array(4).fill(text),
    );
  });

  it('lines are kept where they are asked for', () => {
    expect(printableText('a\n\tb\u001bc', 100)).toBe('a  b?c');
    expect(printableText('a\n\tb\u001bc', 100, { lines: true })).toBe('a\n\tb?c');
    expect([escapedLine('a\nb\u001b'), escapedLines('a\nb\u001b')]).toEqual(['a\\nb\\u001b', 'a\nb\\u001b']);
  });

  it('is bounded, and a character that is cut is no half one', () => {
    expect(printableText('x'.repeat(2_000_000), 10)).toBe(`${'x'.repeat(9)}…`);
    expect(printableText('aaa😀bbbb', 5)).toBe('aaa?…');
  });
});
