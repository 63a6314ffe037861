import { FieldPath, type Kind, type Resource, type Violation } from '@causeway/resources';

/** Most violations that a condition spells out. */
const SHOWN = 5;

/** What a broken rule keeps us from doing; the first that fits a violation counts. */
interface Consequence {
  readonly field: RegExp;
  readonly reason: RegExp;
  readonly text: string;
}

const ANY = /(?:)/;
const CONSEQUENCES: readonly Consequence[] = [
  { field: ANY, reason: /^is not a known field/, text: 'nothing here reads it' },
  { field: /\.port$/, reason: /^must be (?!unique)/, text: 'DNS has no SRV record for it' },
  { field: /\.(port|name)$/, reason: /^must be unique/, text: 'DNS answers for the first of them only' },
  { field: /\.(appProtocol|protocol)$/, reason: ANY, text: 'it is taken for tcp' },
  { field: /^spec\.template$/, reason: ANY, text: 'it makes no hostname' },
];

/**
 * Which of our rules a resource breaks, and what is therefore not done with it, in one line; undefined where it breaks
 * none. A user's write would be refused for each; what came by sync is kept and handed on (design.md §5 Strict at the
 * door, tolerant on the wire).
 */
export function brokenRules(kind: Kind, { spec }: Resource): string | undefined {
  const { first, total } = kind.check(spec, FieldPath.at('spec'));
  if (total === 0) return undefined;
  const lines = first.slice(0, SHOWN).map(describe);
  const more = total > SHOWN ? [`and ${total - SHOWN} more`] : [];
  return `kept and handed on unchanged: ${[...lines, ...more].join('; ')}`;
}

function describe({ field, reason }: Violation): string {
  const consequence = CONSEQUENCES.find((each) => each.field.test(field) && each.reason.test(reason));
  return `${field} ${reason}${consequence ? ` (${consequence.text})` : ''}`;
}
