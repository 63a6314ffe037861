import type { PipeTransform } from '@nestjs/common';
import type { ProxyName, ProxySelection } from '@causeway/queries';
import type { PageRange } from '@causeway/runtime';
import { pathParameter, type RestRequest } from '../http/rest-request';
import { PROXIES_PARAMETERS, PROXY_PARAMETERS } from './query-parameters';
import { readQuery } from '../http/query-reader';
import { readOffsetPage } from '../http/request-decoding';

/** Which proxies are wanted, and which range of them. */
export interface ProxiesQuery {
  readonly selection: ProxySelection;
  readonly range: PageRange;
}

export type ProxyQuery = ProxyName;

/** Decodes a range of the proxies of a zone. */
export class ProxiesPipe implements PipeTransform<RestRequest, ProxiesQuery> {
  transform(request: RestRequest): ProxiesQuery {
    const query = readQuery(request, PROXIES_PARAMETERS);
    const [mesh, name] = [query.text('mesh'), query.text('name')];
    const connected = query.text('connected') === undefined ? undefined : query.flag('connected');
    const range = readOffsetPage(query);
    query.check();
    const selection = {
      ...(mesh === undefined ? {} : { mesh }),
      ...(name === undefined ? {} : { name }),
      ...(connected === undefined ? {} : { connected }),
    };
    return { selection, range };
  }
}

/** Decodes which proxy is wanted. */
export class ProxyPipe implements PipeTransform<RestRequest, ProxyQuery> {
  transform(request: RestRequest): ProxyQuery {
    const query = readQuery(request, PROXY_PARAMETERS);
    const namespace = query.text('namespace');
    query.check();
    const [mesh, name] = [pathParameter(request, 'mesh'), pathParameter(request, 'name')];
    return { mesh, name, ...(namespace === undefined ? {} : { namespace }) };
  }
}
