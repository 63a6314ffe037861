import { isIP } from 'node:net';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import { WorkloadCertificateServiceClient } from '@causeway/proto-gen';
import { credentials, Metadata, type ChannelCredentials } from '@grpc/grpc-js';
import type { CertificateOrder, SignedWorkload } from '../workload-certificates';
import { toApiError } from './grpc-error';

/** Timeout for a control plane to sign, ms. */
const DEADLINE = 10_000;

/** See `signWorkloadCertificate`. */
export function sign({ address, ca, token, mesh, dataplane, csr }: CertificateOrder): Promise<SignedWorkload> {
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${token}`);
  const { channel, options } = credentialsFor(address, ca);
  const client = new WorkloadCertificateServiceClient(address, channel, options);
  const server = new URL(`${ca === undefined ? 'grpc' : 'grpcs'}://${address}`);
  return new Promise((resolve, reject) => {
    client.sign({ mesh, dataplane, csr }, metadata, { deadline: Date.now() + DEADLINE }, (error, answer) => {
      client.close();
      if (error) reject(toApiError(server, error));
      else resolve(answer);
    });
  });
}

/** TLS allows no IP address as server name; the certificate is still checked against the address. */
function credentialsFor(address: string, ca: string | undefined): { channel: ChannelCredentials; options: object } {
  if (ca === undefined) return { channel: credentials.createInsecure(), options: {} };
  const host = address.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1');
  const roots = Buffer.from(ca);
  if (isIP(host) === 0) return { channel: credentials.createSsl(roots), options: {} };
  const checked = { checkServerIdentity: (_: string, shown: PeerCertificate) => checkServerIdentity(host, shown) };
  const options = { 'grpc.ssl_target_name_override': 'control-plane.invalid' };
  return { channel: credentials.createSsl(roots, null, null, checked), options };
}
