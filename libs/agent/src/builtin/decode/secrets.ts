import { SPIFFECertValidatorConfig, TlsSecret } from '@causeway/proto-gen';
import { decodeTextSource, type TextSource } from './tls-settings';
import { asMessage, UnsupportedConfig } from './unsupported-config';

/** TLS secret: the workload's certificate, or the authorities of each trust domain. */
export type Secret =
  | { readonly type: 'certificate'; readonly chain: TextSource; readonly key: TextSource }
  | { readonly type: 'trust'; readonly domains: ReadonlyMap<string, TextSource> };

/** @throws UnsupportedConfig */
export function decodeSecret(bytes: Uint8Array): Secret {
  const { type } = TlsSecret.decode(bytes);
  switch (type?.$case) {
    case 'tlsCertificate': {
      const [chain, key] = [decodeTextSource(type.value.certificateChain), decodeTextSource(type.value.privateKey)];
      if (!chain || !key) throw new UnsupportedConfig('tlsCertificate', 'has no chain or no key');
      return { type: 'certificate', chain, key };
    }
    case 'validationContext': {
      const spiffe = asMessage(SPIFFECertValidatorConfig, type.value.customValidatorConfig?.typedConfig);
      if (!spiffe) throw new UnsupportedConfig('validationContext', 'has no authorities by trust domain');
      const domains = spiffe.trustDomains.flatMap(({ name, trustBundle }) => {
        const pem = decodeTextSource(trustBundle);
        return pem ? [[name, pem] as const] : [];
      });
      return { type: 'trust', domains: new Map(domains) };
    }
    case undefined:
      throw new UnsupportedConfig('type', 'is not known');
  }
}
