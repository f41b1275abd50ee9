import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { asn1, md, pki, util } from 'node-forge';
import { issueCertificate, makeCa } from './certificate';
import { parseCertificateRequest } from './certificate-request';
import { signCertificateRequest, signingAuthorityOf } from './sign-certificate-request';
import { newCertificateRequest } from './testing/new-certificate-request';

/** A second maker and reader of certificates and requests, which shares no code with ours. It signs with RSA only. */

const DAY_MS = 86_400_000;
const pair = generateKeyPairSync('rsa', {
  modulusLength: 2_048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const forgeKeys = {
  privateKey: pki.privateKeyFromPem(pair.privateKey),
  publicKey: pki.publicKeyFromPem(pair.publicKey),
};
const SUBJECT = [
  { name: 'organizationName', value: 'system:nodes' },
  { name: 'commonName', value: 'system:node:a' },
];
/** In the order in which ours writes them. */
const ALTERNATIVE_NAMES = [
  { type: 2, value: 'a.b.example' },
  { type: 1, value: 'a@b.example' },
  { type: 7, ip: '10.1.2.3' },
  { type: 7, ip: 'fd00::1' },
  { type: 6, value: 'spiffe://b/a' },
];

function forgeRequest(): pki.CertificateSigningRequest {
  const request = pki.createCertificationRequest();
  request.publicKey = forgeKeys.publicKey;
  request.setSubject(SUBJECT);
  request.setAttributes([
    { name: 'challengePassword', value: 'not for us' },
    { name: 'extensionRequest', extensions: [{ name: 'subjectAltName', altNames: ALTERNATIVE_NAMES }] },
  ]);
  request.sign(forgeKeys.privateKey, md.sha256.create());
  return request;
}

function forgeAuthority(): string {
  const certificate = pki.createCertificate();
  certificate.publicKey = forgeKeys.publicKey;
  certificate.serialNumber = '01';
  certificate.validity.notBefore = new Date(Date.now() - DAY_MS);
  certificate.validity.notAfter = new Date(Date.now() + 10 * DAY_MS);
  const name = [{ name: 'commonName', value: 'forge' }];
  certificate.setSubject(name);
  certificate.setIssuer(name);
  certificate.setExtensions([
    { name: 'basicConstraints', cA: true, critical: true },
    { name: 'keyUsage', keyCertSign: true, critical: true },
    { name: 'subjectKeyIdentifier' },
  ]);
  certificate.sign(forgeKeys.privateKey, md.sha256.create());
  return pki.certificateToPem(certificate);
}

/** Without the public key, of which forge knows RSA only. */
function derOf(pem: string): asn1.Asn1 {
  return asn1.fromDer(util.createBuffer(new X509Certificate(pem).raw.toString('binary')), true);
}

test('a request made by forge parses with the same content and a valid signature', () => {
  const request = parseCertificateRequest(pki.certificationRequestToPem(forgeRequest()));
  expect(request).toMatchObject({
    commonName: 'system:node:a',
    organizations: ['system:nodes'],
    alternativeNames: {
      email: ['a@b.example'],
      dns: ['a.b.example'],
      uri: ['spiffe://b/a'],
      ip: [Buffer.from([10, 1, 2, 3]), Buffer.from(`fd${'00'.repeat(14)}01`, 'hex')],
    },
  });
  expect(request.isSignedByItself()).toBe(true);
});

test('forge reads our request as it was meant, and finds its signature good', () => {
  const { pem } = newCertificateRequest({
    keyType: 'rsa',
    commonName: 'jane',
    organizations: ['dev', 'ops'],
    dns: ['a.b.example'],
  });
  const request = pki.certificationRequestFromPem(pem, true);
  expect(request.verify()).toBe(true);
  expect(request.subject.attributes.map(({ value }) => value)).toEqual(['dev', 'ops', 'jane']);
  expect(request.getAttribute({ name: 'extensionRequest' })).toMatchObject({
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'a.b.example' }] }],
  });
});

test('an authority of forge signs a request of forge here, and forge trusts and reads what comes of it', () => {
  const authorityPem = forgeAuthority();
  const signed = signCertificateRequest(
    signingAuthorityOf(authorityPem, pair.privateKey),
    parseCertificateRequest(pki.certificationRequestToPem(forgeRequest())),
    { usages: ['digital signature', 'key encipherment', 'client auth'], lifetimeMs: DAY_MS, clock: Date },
  );
  const certificate = pki.certificateFromPem(signed, true);
  const authority = pki.certificateFromPem(authorityPem);
  expect(authority.verify(certificate)).toBe(true);
  expect(pki.verifyCertificateChain(pki.createCaStore([authority]), [certificate])).toBe(true);
  expect(certificate.subject.attributes.map(({ value }) => value)).toEqual(['system:nodes', 'system:node:a']);
  expect(certificate.issuer.hash).toBe(authority.subject.hash);
  expect(certificate.getExtension('keyUsage')).toMatchObject({
    critical: true,
    digitalSignature: true,
    keyEncipherment: true,
    keyCertSign: false,
  });
  expect(certificate.getExtension('extKeyUsage')).toMatchObject({ clientAuth: true });
  expect(certificate.getExtension('extKeyUsage')).not.toHaveProperty('serverAuth');
  expect(certificate.getExtension('basicConstraints')).toMatchObject({ critical: true, cA: false });
  expect(certificate.getExtension('subjectAltName')).toMatchObject({ altNames: ALTERNATIVE_NAMES });
  expect(certificate.validity.notAfter.getTime() - certificate.validity.notBefore.getTime()).toBe(DAY_MS);
});

test('what we make is DER to the last byte: forge writes it as it has read it', () => {
  const ca = makeCa({ commonName: 'ca', validDays: 1 });
  const leaf = issueCertificate(ca, {
    commonName: 'x',
    organizations: ['zwölf'],
    hosts: ['a.b.example', '::1'],
    usages: ['server', 'client'],
    validDays: 1,
  });
  for (const pem of [ca.certificatePem, leaf.certificatePem]) {
    const written = Buffer.from(asn1.toDer(derOf(pem)).getBytes(), 'binary');
    expect(written.equals(new X509Certificate(pem).raw)).toBe(true);
  }
  expect(new X509Certificate(leaf.certificatePem).checkPrivateKey(createPrivateKey(leaf.privateKeyPem))).toBe(
    true,
  );
});
