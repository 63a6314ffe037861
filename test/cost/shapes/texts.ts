import type { Prng } from '../../simulation/engine/prng';
import type { TextShape } from '../entry-point';

/** Pieces that parsers trip over when they come a hundred thousand times. */
const PIECES: readonly string[] = [
  'a',
  'A',
  '0',
  '9',
  ' ',
  '\n',
  '\t',
  '\r\n',
  '.',
  '-',
  '_',
  '/',
  ',',
  ':',
  ';',
  '=',
  '!',
  '*',
  '%',
  '%41',
  '~',
  '{',
  '}',
  '{{',
  '}}',
  '{{-',
  '{{ name }}',
  '{{ label "a" }}',
  '{{ label "',
  '{{- .Name -}}.',
  '{{ }',
  '"',
  "'",
  '\\',
  '\\"',
  '""',
  '(',
  ')',
  '()',
  '[',
  ']',
  '[]',
  '<',
  '>',
  '#',
  '&',
  '|',
  '?',
  '@',
  '`',
  '^',
  '$',
  'a.',
  'a-',
  '-a',
  '.a',
  'a,',
  'a=b,',
  'a!=b,',
  'a in (b),',
  'a in (',
  '!a,',
  'a b',
  'kri_',
  '__',
  '::',
  '0:',
  'ffff:',
  '1.',
  '1/',
  'xn--',
  '\u0000',
  '\u0001',
  '\u007f',
  'é',
  '😀',
  '\ud800',
  '\u2028',
  '\ufeff',
  '\u0301',
  'a\n',
  ' a',
  '"a",',
  '*,',
  '"a.1", ',
  'Bearer ',
  'eyJ',
  '1h',
  '1h30m',
];

/**
 * Texts that repeat one piece, the same between a head and a tail that let them get further into a parser, and some
 * that the draw makes up.
 */
export function textShapes(draw: Prng, frames: readonly (readonly [head: string, tail: string])[] = []): TextShape[] {
  const drawn = Array.from({ length: 6 }, () => drawnPiece(draw));
  const all = [['', ''] as const, ...frames];
  return [
    ...all.flatMap(([head, tail]) =>
      [...PIECES, ...drawn].map((piece) => ({
        name: `${show(head)}${show(piece)}×n${show(tail)}`,
        make: (size: number) => head + repeated(piece, size - head.length - tail.length) + tail,
      })),
    ),
    { name: 'halves "{{" and "}}"', make: (size) => '{{'.repeat(size / 4) + '}}'.repeat(size / 4) },
    { name: 'halves "(" and ")"', make: (size) => '('.repeat(size / 2) + ')'.repeat(size / 2) },
    randomText(draw),
  ];
}

/** A few texts of each sort, for places that are many. */
export function fewTexts(draw: Prng): TextShape[] {
  const pieces = [
    'a',
    '{{',
    '"',
    '\\',
    '.',
    'a.',
    'a-',
    '{{ name }}.',
    '😀',
    '\u0000',
    ' ',
    '0',
    draw.pick(PIECES),
    drawnPiece(draw),
  ];
  return [...new Set(pieces)].map((piece) => ({
    name: `${show(piece)}×n`,
    make: (size) => repeated(piece, size),
  }));
}

/** One piece again and again, about `size` characters. */
export function repeated(piece: string, size: number): string {
  return piece.repeat(Math.max(0, Math.floor(size / piece.length)));
}

/** Numbered items until the text has about `size` characters. */
export function numbered(size: number, item: (i: number) => string, separator = ','): string {
  const items: string[] = [];
  for (let length = 0, i = 0; length < size; i++) {
    const text = item(i);
    items.push(text);
    length += text.length + separator.length;
  }
  return items.join(separator);
}

/** A piece of two to five of the others. */
function drawnPiece(draw: Prng): string {
  return Array.from({ length: draw.between(2, 5) }, () => draw.pick(PIECES)).join('');
}

function randomText(draw: Prng): TextShape {
  const pieces = Array.from({ length: 257 }, () => draw.pick(PIECES));
  return { name: 'drawn pieces', make: (size) => repeated(pieces.join(''), size).padEnd(size, 'a') };
}

function show(text: string): string {
  return text === '' ? '' : JSON.stringify(text.length > 24 ? `${text.slice(0, 24)}…` : text);
}
