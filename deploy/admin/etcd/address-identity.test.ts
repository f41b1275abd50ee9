import { X509Certificate } from 'node:crypto';
import type { PeerCertificate } from 'node:tls';
import { Etcd3 } from 'etcd3';
import { issueCertificate, makeCa } from '../../../shared/certs/certificate';
import { allowAddresses } from './address-identity';

interface Host {
  readonly channelOptions?: Readonly<Record<string, string>>;
  readonly channelCredentials: {
    readonly verifyOptions: {
      readonly checkServerIdentity?: (name: string, certificate: PeerCertificate) => Error | undefined;
    };
  };
}

test('members with an address get a name that is no address, and their certificate must be for the address', () => {
  const ca = makeCa({ commonName: 'ca', validDays: 1 });
  const { certificatePem } = ca;
  const hosts = ['https://10.0.0.1:2379', 'https://[fd00::1]:2379', 'https://etcd.example:2379'];
  const client = new Etcd3({ hosts, credentials: { rootCertificate: Buffer.from(certificatePem) } });
  try {
    allowAddresses(client);
    const internal = (client as unknown as { readonly pool: { readonly hosts: readonly Host[] } }).pool.hosts;
    expect(internal.map((host) => host.channelOptions?.['grpc.ssl_target_name_override'])).toEqual([
      'address-0.invalid',
      'address-1.invalid',
      undefined,
    ]);
    const check = internal[0]?.channelCredentials.verifyOptions.checkServerIdentity;
    const certificate = (commonName: string, ...names: readonly string[]): PeerCertificate => {
      const issued = issueCertificate(ca, { commonName, hosts: names, usages: ['server'], validDays: 1 });
      return new X509Certificate(issued.certificatePem).toLegacyObject();
    };
    expect(check?.('address-0.invalid', certificate('etcd', '10.0.0.1'))).toBeUndefined();
    expect(check?.('address-0.invalid', certificate('etcd', '10.0.0.2'))).toMatchObject({
      message: 'x509: certificate is valid for 10.0.0.2, not 10.0.0.1',
    });
    expect(check?.('address-0.invalid', certificate('etcd', 'address-0.invalid'))).toBeInstanceOf(Error);
    expect(check?.('etcd.example', certificate('etcd', 'etcd.example'))).toBeUndefined();
    expect(check?.('etcd.example', certificate('etcd.example'))).toMatchObject({
      message: 'x509: certificate relies on legacy Common Name field, use SANs instead',
    });
  } finally {
    client.close();
  }
});
