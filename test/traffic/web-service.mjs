/**
 * A service that is restarted now and then: `node web-service.mjs NAME ADDRESS PORT` answers every request with its name. Told to end
 * (SIGTERM) it says at `/healthz` that it is down and closes each connection after its next answer, and ends after a second and a half.
 */
import { createServer } from 'node:http';

const [name, address, port] = process.argv.slice(2);
const NOTICE = 1_500;
let isEnding = false;

const server = createServer(({ url }, response) => {
  if (isEnding) response.setHeader('connection', 'close');
  if (isEnding && url === '/healthz') response.statusCode = 503;
  response.end(name);
});
server.keepAliveTimeout = 60_000;
server.listen(Number(port), address, () => console.log('listening'));
process.once('SIGTERM', () => {
  isEnding = true;
  setTimeout(() => server.close(), NOTICE);
});
