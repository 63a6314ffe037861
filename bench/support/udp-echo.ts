import { createSocket } from 'node:dgram';

/**
 * Sends every datagram back, marked as an answer, as a process of its own: the upper bound of any UDP server of Node on one core of this host. Its
 * socket is set up as that of the DNS server.
 */
const socket = createSocket({ type: 'udp4', lookup: (address, _options, callback) => callback(null, address, 4) });
socket.on('message', (packet, { port, address }) => {
  packet[2] = (packet[2] ?? 0) | 0x80;
  socket.send(packet, port, address);
});
socket.bind(0, '127.0.0.1', () => {
  socket.setRecvBufferSize(1024 * 1024);
  process.send?.({ port: socket.address().port });
});
process.on('message', () => process.send?.(process.cpuUsage()));
process.on('disconnect', () => process.exit(0));
