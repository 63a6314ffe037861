import type { PipeTransform } from '@nestjs/common';
import type { RestRequest } from '../http/rest-request';
import { readQuery, type RestQueryParameter } from '../http/query-reader';

/** Content of a backup. */
export interface BackupRequest {
  readonly secrets: boolean;
}

/** The query of a backup. */
export const BACKUP_PARAMETERS: readonly RestQueryParameter[] = [
  {
    name: 'secrets',
    description:
      'Adds Secrets, GlobalSecrets (signing keys of tokens among them) and the keys of the store. Without them a restored control plane makes keys anew, and tokens of before are refused.',
    schema: { type: 'boolean', default: false },
  },
];

/** Decodes the request for a backup. */
export class BackupPipe implements PipeTransform<RestRequest, BackupRequest> {
  transform(request: RestRequest): BackupRequest {
    const query = readQuery(request, BACKUP_PARAMETERS);
    const wanted = { secrets: query.flag('secrets') };
    query.check();
    return wanted;
  }
}
