/**
 * A small HTTP service of the quickstart: says who it is and what it was asked. Its mesh is beside it, not in it.
 * `node service.mjs NAME ZONE ADDRESS PORT`
 */
import { createServer } from 'node:http';

const [name, zone, address, port] = process.argv.slice(2);

const server = createServer(({ method, url, headers }, response) => {
  response.setHeader('content-type', 'text/plain');
  response.end(`${name} in ${zone} answers ${method} ${url} for ${headers.host}\n`);
});
server.listen(Number(port), address);
process.once('SIGTERM', () => {
  server.close();
  server.closeIdleConnections();
});
