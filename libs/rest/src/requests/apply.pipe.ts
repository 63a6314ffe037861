import { Inject, Injectable, type PipeTransform } from '@nestjs/common';
import type { BatchRequest } from '@causeway/admission';
import { readOrigin } from '../http/request-audit';
import { RequestCallers } from '../http/request-callers';
import type { RestRequest } from '../http/rest-request';
import { DRY_RUN } from './query-parameters';
import { readQuery, type RestQueryParameter } from '../http/query-reader';

/** The query of a batch. */
export const APPLY_PARAMETERS: readonly RestQueryParameter[] = [
  {
    name: 'atomic',
    description: 'Write all documents or none; without it each document is written by itself.',
    schema: { type: 'boolean', default: false },
  },
  DRY_RUN,
  {
    name: 'mesh',
    description:
      'The mesh of documents that name none; absent: the one that selects their namespace, else the expected one.',
    schema: { type: 'string', maxLength: 253 },
  },
];

/** A batch without its documents. */
export type ApplyQuery = Required<Pick<BatchRequest, 'context' | 'atomic' | 'dryRun'>> & Pick<BatchRequest, 'mesh'>;

/** Decodes the query and the credentials of a batch. Throws 400 for a bad query. */
@Injectable()
export class ApplyPipe implements PipeTransform<RestRequest, ApplyQuery> {
  constructor(@Inject(RequestCallers) private readonly callers: RequestCallers) {}

  transform(request: RestRequest): ApplyQuery {
    const query = readQuery(request, APPLY_PARAMETERS);
    const [atomic, dryRun] = [query.flag('atomic'), query.flag('dryRun')];
    const mesh = query.text('mesh');
    query.check();
    const { caller } = this.callers.rightsOf(request);
    const context = { caller, origin: readOrigin(request) };
    return { context, atomic, dryRun, ...(mesh === undefined ? {} : { mesh }) };
  }
}
