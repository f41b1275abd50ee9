import { generateKeyPairSync } from 'node:crypto';
import { md, pki } from 'node-forge';
import { CLIENT_AUTH, testAuthority, testCertificate } from '../testing/test-certificates';
import type { Certificate } from './certificate';
import { certificatesOfPem } from './certificate';
import { verifyChain } from './chain';

/** Certificates of another maker, and another reader of ours. It knows RSA only. */

const HOUR_MS = 3_600_000;
const keys = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const pem = {
  privateKey: keys.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString(),
  publicKey: keys.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
};

function forgeCertificate(subject: pki.CertificateField[], extensions: object[]): string {
  const certificate = pki.createCertificate();
  certificate.publicKey = pki.publicKeyFromPem(pem.publicKey);
  certificate.serialNumber = '00ff';
  certificate.validity.notBefore = new Date(Date.now() - HOUR_MS);
  certificate.validity.notAfter = new Date(Date.now() + HOUR_MS);
  certificate.setSubject(subject);
  certificate.setIssuer([{ name: 'commonName', value: 'forge' }]);
  certificate.setExtensions(extensions);
  certificate.sign(pki.privateKeyFromPem(pem.privateKey), md.sha256.create());
  return pki.certificateToPem(certificate);
}

function only(text: string): Certificate {
  const [certificate, ...others] = certificatesOfPem(text);
  if (certificate === undefined || others.length > 0) throw new Error('not one certificate');
  return certificate;
}

test('what forge says in a certificate is read here, and its chain is trusted as far as it goes', async () => {
  const authority = only(
    forgeCertificate(
      [{ name: 'commonName', value: 'forge' }],
      [
        { name: 'basicConstraints', cA: true, pathLenConstraint: 0, critical: true },
        { name: 'keyUsage', keyCertSign: true, critical: true },
      ],
    ),
  );
  const subject = [
    { name: 'organizationName', value: 'devs' },
    { name: 'commonName', value: 'alice' },
  ];
  const own = only(forgeCertificate(subject, [{ name: 'extKeyUsage', clientAuth: true }]));
  const server = only(forgeCertificate(subject, [{ name: 'extKeyUsage', serverAuth: true }]));
  expect(authority).toMatchObject({ isAuthority: true, pathLengthMax: 0, extendedUsages: undefined });
  expect(own).toMatchObject({ commonName: 'alice', organizations: ['devs'], extendedUsages: [CLIENT_AUTH] });
  expect(own.notAfterMs - own.notBeforeMs).toBe(2 * HOUR_MS);
  const result = async (certificate: Certificate): Promise<boolean> =>
    (await verifyChain({ certificate, intermediates: [], anchors: [authority], now: Date.now() })).isTrusted;
  expect([await result(own), await result(server)]).toEqual([true, false]);
});

test('forge trusts a chain of ours, and reads its names', () => {
  const authority = testAuthority({ keys });
  const own = testCertificate({
    commonName: 'alice',
    organizations: ['devs'],
    extendedUsages: [CLIENT_AUTH],
    keys,
    issuer: authority,
  });
  const [root, leaf] = [authority, own].map((each) => pki.certificateFromPem(each.pem));
  if (root === undefined || leaf === undefined) throw new Error('there are two');
  expect(pki.verifyCertificateChain(pki.createCaStore([root]), [leaf])).toBe(true);
  expect(leaf.subject.getField('CN')).toMatchObject({ value: 'alice' });
  expect(leaf.subject.getField('O')).toMatchObject({ value: 'devs' });
});
