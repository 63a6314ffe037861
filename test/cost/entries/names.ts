import { parseAddress, parseRange, planRanges } from '@causeway/ipam';
import { checkTemplate, parseKri, parseTemplate, renderTemplate, templateRequirements } from '@causeway/naming';
import { hashName } from '@causeway/naming/testing';
import { checkName, FieldPath, isLabelKey, isLabelValue, isResourceKey, parseIdentityKey } from '@causeway/resources';
import type { Prng } from '../../simulation/engine/prng';
import { takesText, type EntryPoint } from '../entry-point';
import { numbered, textShapes } from '../shapes/texts';

/** A text in a resource may be as long as the body or message that brings it. */
const TEXT = 1024 * 1024;

const SUBJECT = {
  id: { kind: 'MeshService', mesh: 'default', zone: 'east', namespace: 'default', name: 'redis' },
  labels: { a: 'b'.repeat(63) },
};

/** Texts inside resources: templates, names, labels, identifiers, addresses. */
export function nameEntries(draw: Prng): EntryPoint[] {
  const plain = textShapes(draw);
  const templates = textShapes(draw, [
    ['{{ name }}', '{{ name }}'],
    ['{{', '}}'],
    ['{{ label "', '" }}'],
  ]);
  return [
    takesText('hostname template: check', TEXT, templates, checkTemplate),
    takesText('hostname template: parse, render', TEXT, templates, parseAndRender),
    takesText('hostname template: what a hostname needs', TEXT, [...templates, ...manyLabels], needsOf),
    takesText('name of a resource', TEXT, plain, (text) => checkName(text, FieldPath.at('name'))),
    takesText('label key and value', TEXT, plain, (text) => [isLabelKey(text), isLabelValue(text)]),
    takesText('KRI', TEXT, textShapes(draw, [['kri_', '']]), parseKri),
    takesText('KDS name', TEXT, plain, (text) => hashName('default', text)),
    takesText('identity key', TEXT, plain, (text) => isResourceKey(text) && parseIdentityKey(text)),
    takesText(
      'address',
      TEXT,
      textShapes(draw, [
        ['1.2.3.', ''],
        ['::', ''],
        ['::ffff:', ''],
      ]),
      parseAddress,
    ),
    takesText(
      'address range',
      TEXT,
      textShapes(draw, [
        ['10.0.0.0/', ''],
        ['', '/8'],
      ]),
      parseRange,
    ),
    takesText('address ranges of settings', 4_096, textShapes(draw, [['10.0.0.0/8', '']]), (text) =>
      planRanges(text.split(',').map((range) => ({ owner: 'a', range }))),
    ),
  ];
}

function parseAndRender(text: string): unknown {
  const parsed = parseTemplate(text);
  if (!parsed.ok) return parsed.reason;
  return renderTemplate(parsed.template, SUBJECT, 'east');
}

/** The longest hostname that can be requested, made so that a match fails only at its end. */
const HOSTNAME = `${'a-'.repeat(125)}!`;

const manyLabels = ['', '-', '.', 'a'].map((between) => ({
  name: `different labels with "${between}" between them`,
  make: (size: number) => numbered(size, (i) => `{{ label "l${i}" }}`, between),
}));

function needsOf(text: string): unknown {
  const parsed = parseTemplate(text);
  return parsed.ok ? templateRequirements(parsed.template, HOSTNAME) : parsed.reason;
}
