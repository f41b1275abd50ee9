import type { PeerCertificate } from 'node:tls';
import { Etcd3 } from 'etcd3';
import { makeCa } from '../../../shared/certs/certificate';
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
  const { certificatePem } = makeCa({ commonName: 'ca', validDays: 1 });
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
    const certificate = (altNames: string): PeerCertificate =>
      ({ subject: { CN: 'etcd' }, subjectaltname: altNames }) as unknown as PeerCertificate;
    expect(check?.('address-0.invalid', certificate('IP Address:10.0.0.1'))).toBeUndefined();
    expect(check?.('address-0.invalid', certificate('IP Address:10.0.0.2'))).toMatchObject({
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    });
    expect(check?.('address-0.invalid', certificate('DNS:address-0.invalid'))).toMatchObject({
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    });
    expect(check?.('etcd.example', certificate('DNS:etcd.example'))).toBeUndefined();
  } finally {
    client.close();
  }
});
