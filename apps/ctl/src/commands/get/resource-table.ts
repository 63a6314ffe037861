import { isJsonObject, type JsonObject, type Kind } from '@causeway/resources';
import { colourOf, type Paint } from '../../colour';
import { nounOf } from '../../refs';
import { age, objectAt, textAt } from '../../render';
import { columnsOf, type Column, type TableForm } from './columns';

/** How the rows of resources look. */
export interface RowForm extends TableForm {
  readonly showLabels: boolean;
  /** Whether names are shown as `kind/name`, since the output has several kinds. */
  readonly kindInName: boolean;
  readonly paint: Paint;
}

/** Titles whose cells say how well something is. */
const STATES = new Set(['STATE', 'ENABLED']);

/** Title and cells of the table of one kind. */
export class ResourceTable {
  private readonly columns: readonly Column[];

  constructor(
    private readonly kind: Kind,
    private readonly form: RowForm,
  ) {
    this.columns = columnsOf(kind, form);
  }

  get head(): readonly string[] {
    return [...this.columns.map(({ title }) => title), 'AGE', ...(this.form.showLabels ? ['LABELS'] : [])];
  }

  row(item: JsonObject, now: number): readonly string[] {
    const labels = this.form.showLabels ? [labelsText(item)] : [];
    return [
      ...this.columns.map((column) => this.cell(column, item)),
      age(textAt(item, 'creationTime'), now),
      ...labels,
    ];
  }

  private cell({ title, cell }: Column, item: JsonObject): string {
    const text = cell(item);
    const { paint, kindInName } = this.form;
    if (title === 'NAME' && kindInName) return nounOf(this.kind, text);
    if (STATES.has(title)) return paint(colourOf(text), text);
    if (title === 'HOSTNAMES') return text.includes('NotAvailable') ? paint('yellow', text) : text;
    return text;
  }
}

function labelsText(item: JsonObject): string {
  const labels = objectAt(item, 'labels');
  const texts = isJsonObject(labels) ? Object.keys(labels).map((key) => `${key}=${textAt(labels, key)}`) : [];
  return texts.length === 0 ? '<none>' : texts.sort().join(',');
}
