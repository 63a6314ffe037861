import {
  Cluster,
  Cluster_DiscoveryType,
  DestinationIPInput,
  Filter,
  Listener,
  StringValue,
  TcpProxy,
  type TransportSocket,
  UpstreamTlsContext,
} from '@causeway/proto-gen';
import { encodeMessage, pack, packExtension, packFilter, formatTypeUrl, unpack } from './any';

describe('Any', () => {
  it('names the type of a message, and gives it back', () => {
    const any = pack(TcpProxy, { statPrefix: 'redis', clusterSpecifier: { $case: 'cluster', value: 'redis' } });
    expect(any.typeUrl).toBe('type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy');
    expect(unpack(TcpProxy, any)).toMatchObject({ statPrefix: 'redis', clusterSpecifier: { value: 'redis' } });
    expect(unpack(Cluster, any)).toBeUndefined();
  });

  it('stands where filters, transport sockets and matchers stand', () => {
    const filter = Filter.fromPartial(packFilter('tcp', TcpProxy, { statPrefix: 'redis' }));
    expect(filter.configType?.value).toMatchObject({ typeUrl: formatTypeUrl(TcpProxy) });
    const socket: TransportSocket = packFilter('tls', UpstreamTlsContext, { sni: 'redis' });
    const cluster = encodeMessage(Cluster, {
      name: 'redis',
      clusterDiscoveryType: { $case: 'type', value: Cluster_DiscoveryType.EDS },
      transportSocket: socket,
    });
    expect(Cluster.decode(cluster).transportSocket?.name).toBe('tls');
    expect(packExtension('ip', DestinationIPInput, {}).typedConfig.value).toHaveLength(0);
    expect(unpack(StringValue, pack(StringValue, { value: 'chain' }))).toMatchObject({ value: 'chain' });
  });

  it('holds what newer protos have: filter chains of a listener as resources of their own', () => {
    const bytes = encodeMessage(Listener, { name: 'vips', fcdsConfig: { name: 'chains' } });
    expect(bytes.indexOf(Buffer.from([0xa2, 0x02]))).toBeGreaterThan(0); // field 36, a message
  });
});
