import { GROUP, SIGNER } from '../../../../shared/names';
import type { KindCases } from '../kind-cases';

/** An ECDSA key's request for `CN=test`. */
const REQUEST = Buffer.from(
  `-----BEGIN CERTIFICATE REQUEST-----
MIHIMHECAQAwDzENMAsGA1UEAwwEdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEH
A0IABJSl9S3twdp1a8WvFZsn6QXE+yFPnEEYwmSbbRv6drPWO8A1v8JnXFLlEr6t
eA7q7GtmtNnQI50m9HQiGgK0fzKgADAKBggqhkjOPQQDAgNHADBEAiBmXW4bNOPg
mv8BBXStpsQRJKNkfNFn298gflkkc40VFwIgXd/4734lBdeOrmnPMipkJQZuZlA5
QbcR2mQAG7bFzJM=
-----END CERTIFICATE REQUEST-----
`,
).toString('base64');

/** The same text with another subject, so that the signature no longer fits. */
function spoiled(encoded: string): string {
  const pem = Buffer.from(encoded, 'base64').toString();
  const body = pem.replace(/-----[^-]+-----|\s/g, '');
  const der = Buffer.from(body, 'base64');
  const at = der.indexOf('test');
  der.write('best', at);
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE REQUEST-----\n${lines.join('\n')}\n-----END CERTIFICATE REQUEST-----\n`;
}

export const certificatesCases: readonly KindCases[] = [
  {
    kind: 'CertificateSigningRequest',
    url: `/apis/${GROUP.certificates}/v1/certificatesigningrequests`,
    good: { spec: { request: REQUEST, usages: ['client auth'], signerName: 'example.com/signer' } },
    bad: [
      ['no request', { spec: { request: null } }, ['Invalid spec.request']],
      [
        'something else',
        { spec: { request: Buffer.from('garbage').toString('base64') } },
        ['Invalid spec.request'],
      ],
      [
        'a signature of something else',
        { spec: { request: Buffer.from(spoiled(REQUEST)).toString('base64') } },
        ['Invalid spec.request'],
      ],
      [
        'a text that is far longer than requests are',
        { spec: { request: Buffer.alloc(32_769, ' ').toString('base64') } },
        ['TooLong spec.request'],
      ],
      ['no usage', { spec: { usages: [] } }, ['Required spec.usages']],
      ['an unknown usage', { spec: { usages: ['odd'] } }, ['NotSupported spec.usages[0]']],
      ['a usage twice', { spec: { usages: ['any', 'any'] } }, ['Duplicate spec.usages[1]']],
      ['no signer', { spec: { signerName: '' } }, ['Required spec.signerName']],
      ['a signer without a path', { spec: { signerName: 'example.com' } }, ['Invalid spec.signerName']],
      ['a signer without a domain', { spec: { signerName: '/x' } }, ['Invalid spec.signerName']],
      ['a domain without a dot', { spec: { signerName: 'example/x' } }, ['Invalid spec.signerName']],
      ['the signer of old', { spec: { signerName: SIGNER.legacyUnknown } }, ['Invalid spec.signerName']],
      [
        'a signer whose name is too long',
        { spec: { signerName: `example.com/${'x'.repeat(600)}` } },
        ['Invalid spec.signerName', 'TooLong spec.signerName'],
      ],
    ],
  },
];
