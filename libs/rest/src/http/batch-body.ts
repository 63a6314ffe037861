import { JsonDocuments, parseYaml, Unparsable, type JsonDocument, type TextPosition } from '@causeway/yaml';
import { MAX_BATCH, MAX_BATCH_VALUES, type BatchDocument } from '@causeway/admission';
import { countJsonValues, jsonShapeViolation } from '@causeway/resources';
import { inTimedSlices, type Clock } from '@causeway/runtime';
import type { RestLimits } from '../rest-dependencies';
import type { BodyParser, UnreadBody } from './body-parser';
import {
  batchFormat,
  checkYamlLength,
  emptyBodyError,
  isLocatedValue,
  jsonErrorPosition,
  MAX_INLINE_BYTES,
  decodeUtf8,
} from './body-decode';
import { HttpError } from './http-error';

/** The documents of a batch as sent. */
export interface SentBatch {
  readonly documents: readonly (BatchDocument & { readonly position: TextPosition })[];
  /** Returns the position of a document's field in the body; undefined if finding it would take too long. */
  readonly locate: (index: number, field: string) => TextPosition | undefined;
}

/** Maximum number of documents whose fields are located. */
const MAX_LOCATED = 100;

/** Reads bodies of batches: JSON lines, a JSON list or object, or YAML documents. */
export class BatchBodies {
  constructor(
    readonly parser: BodyParser,
    private readonly limits: Pick<RestLimits, 'body' | 'batch' | 'batchYaml'>,
    private readonly clock: Pick<Clock, 'elapsed'>,
  ) {}

  /** Throws HttpError with line and column: 400 for syntax errors, 413 for bodies that are too large, 415, 503. */
  async read(body: UnreadBody | undefined, signal: AbortSignal): Promise<SentBatch> {
    const format = batchFormat(body?.contentType);
    if (!body) throw emptyBodyError();
    const batch = await (format === 'json' ? this.readJson(body, signal) : this.readYaml(body, signal));
    if (batch.documents.length === 0) throw emptyBodyError();
    return batch;
  }

  private async readJson(body: UnreadBody, signal: AbortSignal): Promise<SentBatch> {
    const splitter = new JsonDocuments({ documents: MAX_BATCH, bytes: this.limits.body });
    const raw: JsonDocument[] = [];
    await body.upTo(this.limits.batch).readPieces((piece) => raw.push(...splitter.push(piece)));
    splitter.finish();
    for (const { bytes, position } of raw)
      if (bytes.length > MAX_INLINE_BYTES.json) await this.checkLarge(bytes, position, signal);
    const documents: { readonly body: unknown; readonly position: TextPosition }[] = [];
    const budget = { values: 0 };
    const parse = function* (): Generator<void> {
      for (const one of raw) {
        documents.push({ body: parseObject(one, budget), position: one.position });
        yield;
      }
    };
    await inTimedSlices(parse(), { clock: this.clock, signal });
    return { documents, locate: createLocator(documents, (index) => raw[index]?.bytes.toString() ?? '') };
  }

  private async checkLarge(bytes: Buffer, { line }: TextPosition, signal: AbortSignal): Promise<void> {
    try {
      await this.parser.inWorker({ format: 'json', bytes }, signal);
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      const detail = `In the document that begins at line ${line}: ${error.message}`;
      throw new HttpError(error.status, detail, { headers: error.headers, cause: error });
    }
  }

  private async readYaml(body: UnreadBody, signal: AbortSignal): Promise<SentBatch> {
    const bytes = await body.upTo(this.limits.batch).read();
    checkYamlLength('yaml', bytes, { yaml: this.limits.batchYaml });
    const value = await this.parser.inWorker({ format: 'documents', bytes }, signal);
    const found = Array.isArray(value) ? value.filter(isLocatedValue) : [];
    if (found.length > MAX_BATCH)
      throw new HttpError(413, `A batch may have ${MAX_BATCH} documents, this one has ${found.length}.`);
    const documents = found.map(({ value: one, line, column }) => ({ body: one, position: { line, column } }));
    const lines = decodeUtf8(bytes).split('\n');
    const text = (index: number): string => {
      const from = documents[index]?.position ?? { line: 1, column: 1 };
      const [first = '', ...rest] = lines.slice(from.line - 1, (documents[index + 1]?.position.line ?? Infinity) - 1);
      return [first.slice(from.column - 1), ...rest].join('\n');
    };
    return { documents, locate: createLocator(documents, text) };
  }
}

/** Parses one object. Throws HttpError with the position in the whole text. */
function parseObject({ bytes, position }: JsonDocument, budget: { values: number }): unknown {
  const text = decodeUtf8(bytes);
  const failed = (reason: string, at: TextPosition): HttpError =>
    new HttpError(400, `The body cannot be read: line ${at.line}, column ${at.column}: ${reason}.`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw failed('this is not JSON', toTextPosition(position, jsonErrorPosition(text, error)));
  }
  budget.values += countJsonValues(value);
  const violation = jsonShapeViolation(value);
  if (violation !== undefined) throw failed(violation, position);
  if (budget.values > MAX_BATCH_VALUES)
    throw failed(`the batch has more than ${MAX_BATCH_VALUES} keys and values`, position);
  return value;
}

/** Converts a position in a part of a text, which begins at `start`, to one in the whole text. */
function toTextPosition(start: TextPosition, { line, column }: TextPosition): TextPosition {
  return { line: start.line + line - 1, column: line === 1 ? start.column + column - 1 : column };
}

/** Maximum indentation of the first line that is kept: a block of YAML needs it, a JSON list on one line does not. */
const MAX_INDENT = 100;

/** Locates fields by parsing the text of their document again, for a limited number of documents. */
function createLocator(
  documents: readonly { readonly position: TextPosition }[],
  textOf: (index: number) => string,
): SentBatch['locate'] {
  const known = new Map<number, (field: string) => TextPosition>();
  return (index, field) => {
    const start = documents[index]?.position;
    if (!start || (!known.has(index) && known.size >= MAX_LOCATED)) return undefined;
    const find = known.get(index) ?? finderIn(textOf(index), start);
    known.set(index, find);
    return find(field);
  };
}

function finderIn(text: string, start: TextPosition): (field: string) => TextPosition {
  const indent = Math.min(start.column - 1, MAX_INDENT);
  if (text.length > MAX_INLINE_BYTES.yaml) return () => start;
  try {
    const [document] = parseYaml(' '.repeat(indent) + text);
    return (field) =>
      document ? toTextPosition({ line: start.line, column: start.column - indent }, document.locate(field)) : start;
  } catch (error) {
    if (error instanceof Unparsable) return () => start;
    throw error;
  }
}
