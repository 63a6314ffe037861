import { isJsonArray, isJsonObject, type Resource } from '@causeway/resources';

/** Maximum length of a line: resolvers read lines into buffers of about 1,000 bytes. */
const MAX_LINE_LENGTH = 900;
/** Only such addresses are written to the file, even if other texts are stored. */
const ADDRESS = /^[0-9a-f.:]{2,45}$/i;
const HOSTNAME = /^[a-z0-9_]([a-z0-9_.-]{0,251}[a-z0-9_])?$/i;

/** Yields the lines of /etc/hosts for a service: its virtual IP and its Available hostnames; none if it has no virtual IP or hostname. */
export function* hostLines({ status }: Pick<Resource, 'status'>): Generator<string> {
  const vip = status?.['vip'];
  const ip = isJsonObject(vip) ? vip['ip'] : undefined;
  const addresses = status?.['addresses'];
  if (typeof ip !== 'string' || !ADDRESS.test(ip) || !isJsonArray(addresses)) return;
  const hostnames = addresses.flatMap((address) =>
    isJsonObject(address) && address['status'] === 'Available' && typeof address['hostname'] === 'string'
      ? [address['hostname']]
      : [],
  );
  let line = '';
  for (const hostname of [...new Set(hostnames)].sort()) {
    if (!HOSTNAME.test(hostname)) continue;
    if (line.length + hostname.length > MAX_LINE_LENGTH) {
      yield line;
      line = '';
    }
    line = line === '' ? `${ip}\t${hostname}` : `${line} ${hostname}`;
  }
  if (line !== '') yield line;
}
