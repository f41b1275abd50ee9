import { GROUP, SIGNER } from '../../shared/names';
import { testKind } from './testing/kind-table';

const RBAC = `/apis/${GROUP.rbac}/v1`;
const NAMESPACED = `${RBAC}/namespaces/default`;

testKind('Role', {
  url: `${NAMESPACED}/roles`,
  good: { rules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }] },
  bad: [
    ['no verb', { rules: [{ apiGroups: [''], resources: ['pods'] }] }, ['Required rules[0].verbs']],
    ['no group', { rules: [{ verbs: ['get'], resources: ['pods'] }] }, ['Required rules[0].apiGroups']],
    ['no resource', { rules: [{ verbs: ['get'], apiGroups: [''] }] }, ['Required rules[0].resources']],
    ['a URL', { rules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }] }, ['Invalid rules[0].nonResourceURLs']],
  ],
});

testKind('ClusterRole', {
  url: `${RBAC}/clusterroles`,
  good: { rules: [{ verbs: ['get'], nonResourceURLs: ['/healthz'] }] },
  bad: [
    [
      'a URL and a resource',
      { rules: [{ verbs: ['get'], nonResourceURLs: ['/x'], apiGroups: [''], resources: ['pods'] }] },
      ['Invalid rules[0].nonResourceURLs'],
    ],
    ['an aggregation of nothing', { aggregationRule: {} }, ['Required aggregationRule.clusterRoleSelectors']],
    [
      'a bad selector',
      { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { 'a b': 'c' } }] } },
      ['Invalid aggregationRule.clusterRoleSelectors[0].matchLabels'],
    ],
    ['a slash in its name', { metadata: { name: 'a/b' } }, ['Invalid metadata.name']],
  ],
});

const BINDING = {
  roleRef: { apiGroup: GROUP.rbac, kind: 'ClusterRole', name: 'view' },
  subjects: [{ kind: 'User', apiGroup: GROUP.rbac, name: 'jane' }],
};

testKind('RoleBinding', {
  url: `${NAMESPACED}/rolebindings`,
  good: BINDING,
  bad: [
    ['no role', { roleRef: null }, ['NotSupported roleRef.kind', 'Required roleRef.name']],
    ['an unknown kind of role', { roleRef: { kind: 'Odd' } }, ['NotSupported roleRef.kind']],
    ['a role of another group', { roleRef: { apiGroup: 'x' } }, ['NotSupported roleRef.apiGroup']],
    ['an unknown subject', { subjects: [{ kind: 'Odd', name: 'x' }] }, ['NotSupported subjects[0].kind']],
    ['nobody', { subjects: [{ kind: 'Group', name: '' }] }, ['Required subjects[0].name']],
    [
      'an account with a group',
      { subjects: [{ kind: 'ServiceAccount', name: 'a', apiGroup: GROUP.rbac }] },
      ['NotSupported subjects[0].apiGroup'],
    ],
    ['a bad account', { subjects: [{ kind: 'ServiceAccount', name: 'B@d' }] }, ['Invalid subjects[0].name']],
  ],
  badChanges: [['another role', { roleRef: { name: 'edit' } }, ['Invalid roleRef']]],
  goodChanges: [['nobody left', { subjects: null }]],
});

testKind('ClusterRoleBinding', {
  url: `${RBAC}/clusterrolebindings`,
  good: BINDING,
  bad: [
    ['a role of a namespace', { roleRef: { kind: 'Role' } }, ['NotSupported roleRef.kind']],
    [
      'an account of no namespace',
      { subjects: [{ kind: 'ServiceAccount', name: 'a' }] },
      ['Required subjects[0].namespace'],
    ],
  ],
});

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

testKind('CertificateSigningRequest', {
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
});

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
